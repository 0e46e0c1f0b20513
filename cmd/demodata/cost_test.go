package demodata

import (
	"net/http"
	"testing"

	"muster/app/store/db"
)

// Weights of what a browser fetches for a first page, and rows that a page may read: lists end somewhere.
const (
	maxRows   = 4000
	maxPacked = 60 << 10
)

// What a page asks the database does not grow with what there is, and what it reads and shows has an end. No table that grows is read whole.
func TestPagesCostTheSameInALargeTenant(t *testing.T) {
	h := populated(t)
	type asked struct {
		queries, rows int64
		packed        int
	}
	look := func(h *Instance) map[Page]asked {
		var read *db.Reading
		site, err := h.Serve(t.Context(), func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r.WithContext(read.In(r.Context()))) })
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = site.Close() }()
		read = &db.Reading{}
		v, err := site.SignIn(t.Context(), Operator)
		if err != nil {
			t.Fatal(err)
		}
		pages, err := h.Pages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all, statements := map[Page]asked{}, map[string]string{}
		for _, p := range pages {
			read = &db.Reading{}
			f, err := v.Get(t.Context(), p.Address)
			if err != nil {
				t.Fatal(err)
			}
			if f.Status >= http.StatusInternalServerError && !p.OnMachine() {
				t.Errorf("%s answers %d", p.Address, f.Status)
			}
			for _, query := range read.Statements() {
				statements[query] = p.Pattern
			}
			all[Page{Pattern: p.Pattern}] = asked{read.Queries(), read.Rows(), f.Sent}
		}
		h.noScans(t, statements)
		return all
	}
	few := look(h)
	if err := h.Multiply(t.Context(), 40); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	large, err := Open(t.Context(), h.where, NewClock(today), h.log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = large.Close() }()
	for p, many := range look(large) {
		// A list that has an end may find out that there is more, and needs the next part of what is looked through.
		if was := few[p]; many.queries > was.queries+10 {
			t.Errorf("%s asks %d times with 1,000 clusters, and %d times with 25", p.Pattern, many.queries, was.queries)
		}
		if many.rows > maxRows {
			t.Errorf("%s reads %d rows", p.Pattern, many.rows)
		}
		if many.packed > maxPacked {
			t.Errorf("%s is %d bytes on its way", p.Pattern, many.packed)
		}
	}
}
