package db

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// maxChunk is how many rows one statement writes or looks for. Sets are cut into powers of two, so that few
// different statements, all of which stay prepared.
const maxChunk = 256

// InChunks calls f for pieces of n rows: from and how many.
func InChunks(n int, f func(from, size int) error) error {
	for from := 0; from < n; {
		size := min(maxChunk, 1<<(bits.Len(uint(n-from))-1))
		if err := f(from, size); err != nil {
			return err
		}
		from += size
	}
	return nil
}

// Repeated returns a row of placeholders n times, with commas between.
func Repeated(row string, n int) string {
	return row + strings.Repeat(", "+row, n-1)
}

// ExecChunks executes a statement for n rows of values: row is the placeholders of one, which stand between before and after,
// and add appends the values of row i. The values of after are in last.
func (t *Tx) ExecChunks(n int, before, row, after string, add func(args []any, i int) []any, last ...any) error {
	return InChunks(n, func(from, size int) error {
		args := make([]any, 0, size*strings.Count(row, "?")+len(last))
		for i := range size {
			args = add(args, from+i)
		}
		return t.Exec(before+Repeated(row, size)+after, append(args, last...)...)
	})
}

// keyed is how many rows a statement is given that finds n others by their first value, and how many of those are filled. Where a few rows
// that find nothing spare other statements, they are given too: every statement costs what half a dozen rows do.
func keyed(n int) (size, filled int) {
	down := min(maxChunk, 1<<(bits.Len(uint(n))-1))
	if up := 2 * down; up <= maxChunk && up-n <= 6*(bits.OnesCount(uint(n))-1) {
		return up, n
	}
	return down, down
}

// inKeyed calls f for pieces of n things looked for, with the values of a row of width for each.
func inKeyed(n, width, more int, add func(args []any, i int) []any, f func(size int, args []any) error) error {
	for from := 0; from < n; {
		size, filled := keyed(n - from)
		args := make([]any, 0, size*width+more)
		for i := range filled {
			args = add(args, from+i)
		}
		for range size - filled {
			last := len(args) - width
			args = append(args, args[last:]...)
			args[last+width] = noMatch(args[last+width])
		}
		if err := f(size, args); err != nil {
			return err
		}
		from += filled
	}
	return nil
}

// noMatch returns a value of the same type by which nothing is found.
func noMatch(key any) any {
	switch key.(type) {
	case int64:
		return int64(-1)
	case string:
		return "\x01"
	}
	panic(fmt.Sprintf("store: nothing is to be found by a %T", key))
}

// ExecKeyed is ExecChunks for a statement that changes what it finds by the first value of each row, a number that is not negative or a name.
func (t *Tx) ExecKeyed(n int, before, row, after string, add func(args []any, i int) []any, last ...any) error {
	return inKeyed(n, strings.Count(row, "?"), len(last), add, func(size int, args []any) error {
		return t.Exec(before+Repeated(row, size)+after, append(args, last...)...)
	})
}

// ExecListed is ExecKeyed for a statement that makes the same change to all rows it finds by a number of a list, which is not negative. The
// values of before are in first.
func (t *Tx) ExecListed(n int, before, after string, key func(i int) int64, first ...any) error {
	return inKeyed(n, 1, len(first), func(args []any, i int) []any { return append(args, key(i)) }, func(size int, args []any) error {
		return t.Exec(before+Repeated(`?`, size)+after, slices.Insert(args, 0, first...)...)
	})
}

// EachKeyed is EachOf for a statement that looks by the first value of each row, a number that is not negative or a name.
func (t *Tx) EachKeyed(f func(Scanner) error, n int, before, row, after string, add func(args []any, i int) []any, last ...any) error {
	return inKeyed(n, strings.Count(row, "?"), len(last), add, func(size int, args []any) error {
		return t.Each(f, before+Repeated(row, size)+after, append(args, last...)...)
	})
}

// EachOf calls f for every row that is found for n things looked for.
func (t *Tx) EachOf(f func(Scanner) error, n int, before, row, after string, add func(args []any, i int) []any, last ...any) error {
	return InChunks(n, func(from, size int) error {
		args := make([]any, 0, size*strings.Count(row, "?")+len(last))
		for i := range size {
			args = add(args, from+i)
		}
		return t.Each(f, before+Repeated(row, size)+after, append(args, last...)...)
	})
}

// Placeholders returns the placeholders of n values.
func Placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// DeleteBatch is how many rows of events or logs are looked at, and deleted, at once: no one else waits for long meanwhile.
const DeleteBatch = 1000
