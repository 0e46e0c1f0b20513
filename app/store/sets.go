package store

import (
	"math/bits"
	"strings"
)

// maxSet is how many rows one statement writes or looks for. Sets are cut into powers of two, so that there are few
// different statements, all of which stay prepared.
const maxSet = 256

// inSets calls f for pieces of n rows: from and how many.
func inSets(n int, f func(from, size int) error) error {
	for from := 0; from < n; {
		size := min(maxSet, 1<<(bits.Len(uint(n-from))-1))
		if err := f(from, size); err != nil {
			return err
		}
		from += size
	}
	return nil
}

// repeated gives a row of placeholders n times, with commas between.
func repeated(row string, n int) string {
	return row + strings.Repeat(", "+row, n-1)
}

// execSet executes a statement for n rows of values: row is the placeholders of one, which stand between before and after,
// and add appends the values of row i. The values of after are in last.
func (t *tx) execSet(n int, before, row, after string, add func(args []any, i int) []any, last ...any) error {
	return inSets(n, func(from, size int) error {
		args := make([]any, 0, size*strings.Count(row, "?")+len(last))
		for i := range size {
			args = add(args, from+i)
		}
		return t.exec(before+repeated(row, size)+after, append(args, last...)...)
	})
}

// eachOf calls f for every row that is found for n things looked for.
func (t *tx) eachOf(f func(scanner) error, n int, before, row, after string, add func(args []any, i int) []any, last ...any) error {
	return inSets(n, func(from, size int) error {
		args := make([]any, 0, size*strings.Count(row, "?")+len(last))
		for i := range size {
			args = add(args, from+i)
		}
		return t.each(f, before+repeated(row, size)+after, append(args, last...)...)
	})
}
