package apptest

import "testing"

// Rounds is how many seeds something random is tried with: with -short, as while one works, a third.
func Rounds(all uint64) uint64 {
	if testing.Short() {
		return (all + 2) / 3
	}
	return all
}
