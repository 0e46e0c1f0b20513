// Package bitset holds sets of small numbers as bits, which the searches of solver and change spend their time on. It uses
// nothing of ours.
package bitset
