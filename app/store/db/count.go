package db

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Reading is what was read with a context: tests hold pages to it, which must not cost more the more there is.
type Reading struct {
	queries, rows atomic.Int64

	mu    sync.Mutex
	asked map[string]bool
}

// Queries is how many statements were asked, and Rows how many rows they gave where there can be several.
func (r *Reading) Queries() int64 { return r.queries.Load() }

// Rows is how many rows came from statements that can give several.
func (r *Reading) Rows() int64 { return r.rows.Load() }

// Statements are all that were asked, each once, in order of their text.
func (r *Reading) Statements() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.asked))
}

func (r *Reading) note(query string) {
	r.queries.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = map[string]bool{}
	}
	r.asked[query] = true
}

type readingKey struct{}

// In returns a context with which what is read from a database is counted.
func (r *Reading) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingKey{}, r)
}

// noteRead notes a statement.
func noteRead(ctx context.Context, query string) {
	if r, ok := ctx.Value(readingKey{}).(*Reading); ok {
		r.note(query)
	}
}

// counted notes the rows that f is called for.
func counted(ctx context.Context, f func(Scanner) error) func(Scanner) error {
	r, ok := ctx.Value(readingKey{}).(*Reading)
	if !ok {
		return f
	}
	return func(row Scanner) error {
		r.rows.Add(1)
		return f(row)
	}
}
