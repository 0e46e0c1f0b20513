package db

import (
	"slices"
	"testing"
)

// All things are looked for, each once, in few statements, and what fills them up looks for nothing.
func TestKeyedChunks(t *testing.T) {
	for n := range 3*maxChunk + 2 {
		var seen []int64
		statements, rows := 0, 0
		err := inKeyed(n, 2, 1, func(args []any, i int) []any { return append(args, int64(i), "x") }, func(size int, args []any) error {
			if len(args) != 2*size || size > maxChunk || size&(size-1) != 0 {
				t.Fatalf("%d of %d: %d values", size, n, len(args))
			}
			statements++
			rows += size
			for i := 0; i < len(args); i += 2 {
				if k := args[i].(int64); k >= 0 {
					seen = append(seen, k)
				}
			}
			return nil
		})
		if err != nil || len(seen) != n || !slices.IsSorted(seen) {
			t.Fatalf("%d: %d are looked for (%v)", n, len(seen), err)
		}
		if rows > 2*n || statements > 3+4 || rows+6*statements > n+6*9 {
			t.Errorf("%d: %d statements, %d rows", n, statements, rows)
		}
	}
	if noMatch("a") != "\x01" || noMatch(int64(3)) != int64(-1) {
		t.Error("what finds nothing")
	}
}
