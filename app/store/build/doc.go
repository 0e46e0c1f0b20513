// Package build keeps hooks of build systems, their builds and what they are told. It uses cluster to see who may read one; package operation
// claims and wakes builds in the transactions that move them.
package build
