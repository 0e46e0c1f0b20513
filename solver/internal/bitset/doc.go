// Package bitset has sets of small numbers as bits, in which the searches of packages solver and change spend their
// time. It uses nothing of this module.
package bitset
