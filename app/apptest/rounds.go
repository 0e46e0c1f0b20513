package apptest

import "testing"

// rounds is how many seeds something random is tried with: with -short, as while one works, a third.
func rounds(all uint64) uint64 {
	if testing.Short() {
		return (all + 2) / 3
	}
	return all
}
