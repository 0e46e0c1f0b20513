package explain

import (
	"context"
	"testing"
	"time"

	"muster/app/layout"
	"muster/app/template"
	"muster/solver"
	"muster/solver/solvertest"
)

// hardToExplain are problems without a layout, each with the time that is meant to be enough to explain it.
var hardToExplain = []struct {
	name    string
	catalog func() *template.Catalog
	size    int
	clauses int // of the conflict
	within  time.Duration
}{
	{"10 exclusive services, 29 nodes", func() *template.Catalog { return solvertest.Exclusive(10, 3) }, 29, 1 + 10 + 45, 50 * time.Millisecond},
	{"100 services, 200 pairs, one short", solvertest.OneShort, 10000, 1 + 3 + 3, 100 * time.Millisecond},
	{"30 exclusive services, 89 nodes", func() *template.Catalog { return solvertest.Exclusive(30, 3) }, 89, 1 + 30 + 435, time.Second},
	{"ring of 9, 2249 nodes", func() *template.Catalog { return solvertest.Ring(9, 1000) }, 2249, 1 + 9 + 9, 50 * time.Millisecond},
}

func BenchmarkExplain(b *testing.B) {
	for _, p := range hardToExplain {
		b.Run(p.name, func(b *testing.B) {
			c := p.catalog()
			x := New(solver.New())
			b.ReportAllocs()
			for b.Loop() {
				e, err := x.explain(context.Background(), c, layout.Request{Template: "t", Size: p.size})
				if err != nil || len(e.Conflict) != p.clauses {
					b.Fatal(len(e.Conflict), err)
				}
			}
		})
	}
}

// TestHardToExplain allows minutes, as TestBigProblems does.
func TestHardToExplain(t *testing.T) {
	for _, p := range hardToExplain {
		t.Run(p.name, func(t *testing.T) {
			c := p.catalog()
			start := time.Now()
			e, err := New(solver.New()).explain(context.Background(), c, layout.Request{Template: "t", Size: p.size})
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("took %v, which is far more than %v", took, p.within)
			}
			if err != nil || len(e.Conflict) != p.clauses || !e.Minimal || len(e.Fixes) != mostFixes {
				t.Errorf("got %d clauses, minimal %v, %v, %v", len(e.Conflict), e.Minimal, e.Fixes, err)
			}
		})
	}
}
