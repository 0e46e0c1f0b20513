package solver

import (
	"context"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/solvertest"
)

const hangs = 5 * time.Minute // reached only where something hangs

// big is a catalog with n services s000, s001, ... and a template that the caller completes.
func big(n int) (*template.Catalog, *template.Template) { return solvertest.New(n) }

func atLeast(n int) template.ServiceConstraint { return solvertest.MinAvailable(n) }

func between(low, high int) template.ServiceConstraint { return solvertest.Between(low, high) }

func loose() *template.Catalog { return solvertest.Loose(30) }

// unbounded is 30 services that only their being constrained keeps from going everywhere.
func unbounded() *template.Catalog {
	c, t := big(30)
	for _, s := range t.Defaults.Services {
		t.Constraints.Services[s] = atLeast(1)
	}
	return c
}

// staggered is 30 services without company, each with another maximum.
func staggered() *template.Catalog {
	c, t := big(30)
	for i, s := range t.Defaults.Services {
		t.Constraints.Services[s] = between(1, 40+31*i)
	}
	return c
}

func grouped(cant bool) func() *template.Catalog {
	return func() *template.Catalog { return solvertest.Grouped(20, 8, cant) }
}

func pairs(services, count int, seed int64, bound func(*rand.Rand) template.ServiceConstraint) func() *template.Catalog {
	return func() *template.Catalog { return solvertest.Pairs(services, count, seed, bound) }
}

func exclusive(services, least int) func() *template.Catalog {
	return func() *template.Catalog { return solvertest.Exclusive(services, least) }
}

func ring(services, least int) func() *template.Catalog {
	return func() *template.Catalog { return solvertest.Ring(services, least) }
}

func random(low, lowSpread, high, highSpread int) func(*rand.Rand) template.ServiceConstraint {
	return solvertest.Bounds(low, lowSpread, high, highSpread)
}

// problems are those that the solver must be fast at, each with the time that is meant to be enough.
var problems = []struct {
	name    string
	catalog func() *template.Catalog
	size    int
	within  time.Duration
}{
	{"30 loose services, 1000 nodes", loose, 1000, 5 * time.Millisecond},
	{"30 unbounded services, 1000 nodes", unbounded, 1000, 5 * time.Millisecond},
	{"30 services with other maxima, 1000 nodes", staggered, 1000, 5 * time.Millisecond},
	{"20 services in 8 can't groups, 1000 nodes", grouped(true), 1000, 5 * time.Millisecond},
	{"20 services in 8 must groups, 1000 nodes", grouped(false), 1000, 5 * time.Millisecond},
	{"100 services, 200 pairs, 10000 nodes, minimum 1", pairs(100, 200, 3, random(1, 1, 0, 0)), 10000, 500 * time.Millisecond},
	{"100 services, 200 pairs, 10000 nodes, minima", pairs(100, 200, 4, random(1, 5, 0, 0)), 10000, 500 * time.Millisecond},
	{"100 services, 200 pairs, 10000 nodes, maxima", pairs(100, 200, 5, random(1, 5, 100, 9000)), 10000, 500 * time.Millisecond},
	{"100 services, 200 pairs, 10000 nodes, large minima", pairs(100, 200, 6, random(1, 3000, 4000, 6000)), 10000, 500 * time.Millisecond},
	{"100 services, 200 pairs, 10000 nodes, one short", solvertest.OneShort, 10000, 500 * time.Millisecond},
	{"10 exclusive services, 100 nodes", exclusive(10, 3), 100, 5 * time.Millisecond},
	{"10 exclusive services, 30 nodes", exclusive(10, 3), 30, 5 * time.Millisecond},
	{"10 exclusive services, 29 nodes", exclusive(10, 3), 29, 5 * time.Millisecond},
	{"ring of 9, 2250 nodes", ring(9, 1000), 2250, 5 * time.Millisecond},
	{"ring of 9, 2249 nodes", ring(9, 1000), 2249, 5 * time.Millisecond},
}

// preferring are problems with a preference, or with constraints that only the mixer knows.
var preferring = []struct {
	name    string
	catalog func() *template.Catalog
	size    int
	prefer  template.Preference
	within  time.Duration
}{
	{"cheapest of 30 services, 20 hardware types, 500 nodes", func() *template.Catalog { return solvertest.Priced(30, 20, 1) }, 500, template.PreferCheapest, time.Second},
	{"spread of 30 loose services, 1000 nodes", loose, 1000, template.PreferSpread, time.Second},
	{"ratios and limits among 30 services, 1000 nodes", limited, 1000, template.PreferPacked, time.Second},
	{"30 services with needs, 1000 nodes", needing, 1000, template.PreferPacked, time.Second},
	{"30 services over 3 zones, 1000 nodes", zoned, 1000, template.PreferPacked, 50 * time.Millisecond},
}

// limited is loose with ratios and with hardware of which there is not enough.
func limited() *template.Catalog {
	c := loose()
	t := c.Templates["t"]
	for i := range 5 {
		t.Constraints.Ratios = append(t.Constraints.Ratios, template.Ratio{Service: fmt.Sprintf("s%03d", 3*i), Per: 2 + i, Of: fmt.Sprintf("s%03d", 3*i+1)})
	}
	t.Constraints.MixedHardware, t.Constraints.Hardware = true, map[string]int{"large": 200, "medium": 300}
	return c
}

// needing is loose where hardware has room for some of the services only.
func needing() *template.Catalog {
	c := loose()
	for i, h := range []string{"large", "medium", "small"} {
		c.Hardware[h].Providers["p"] = template.Flavor{Flavor: h, CPU: float64(16 - 4*i), MemoryGB: float64(24 + 8*i)}
	}
	for i, s := range c.Templates["t"].Defaults.Services {
		c.Services[s].Needs = template.Requirements{CPU: 0.5 * float64(1+i%4), MemoryGB: float64(1 + i%3)}
	}
	return c
}

// zoned is loose over three zones, with four services that must be spread.
func zoned() *template.Catalog {
	c := loose()
	c.Providers["p"].Zones = []string{"a", "b", "c"}
	c.Templates["t"].Constraints.Zones = &template.ZoneRule{MaxSkew: 1, Services: []string{"s000", "s003", "s007", "s009"}}
	return c
}

func BenchmarkPrefer(b *testing.B) {
	for _, p := range preferring {
		b.Run(p.name, func(b *testing.B) {
			c := p.catalog()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New().Solve(context.Background(), c, layout.Request{Template: "t", Size: p.size, Prefer: p.prefer}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestBigPreferences checks the answers to them, and that none takes far too long.
func TestBigPreferences(t *testing.T) {
	for _, p := range preferring {
		t.Run(p.name, func(t *testing.T) {
			c := p.catalog()
			r := layout.Request{Template: "t", Size: p.size, Prefer: p.prefer}
			ctx, cancel := context.WithTimeout(context.Background(), hangs)
			defer cancel()
			start := time.Now()
			got, err := New().Solve(ctx, c, r)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := solvertest.Check(c, r, got); len(wrong) > 0 || got.Gap != 0 {
				t.Fatalf("gap %v, %s", got.Gap, wrong)
			}
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("took %v, which is far more than %v", took, p.within)
			}
		})
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, p := range problems {
		b.Run(p.name, func(b *testing.B) {
			c := p.catalog()
			b.ReportAllocs()
			for b.Loop() {
				_, err := New().Solve(context.Background(), c, layout.Request{Template: "t", Size: p.size})
				if err != nil && app.CodeOf(err) != app.ENoLayout {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestBigProblems checks the answers and that none takes long. The best of three counts, and minutes are
// allowed, so that a busy machine or the race detector does not matter: what it should catch is a search that has come
// to go through combinations, and that is off by far more. The benchmarks say how fast it really is.
func TestBigProblems(t *testing.T) {
	for _, p := range problems {
		t.Run(p.name, func(t *testing.T) {
			c := p.catalog()
			ctx, cancel := context.WithTimeout(context.Background(), hangs)
			defer cancel()
			r := layout.Request{Template: "t", Size: p.size, Services: c.Templates["t"].Defaults.Services}
			best := time.Hour
			for range 3 {
				start := time.Now()
				got, err := New().Solve(ctx, c, r)
				best = min(best, time.Since(start))
				if err != nil && app.CodeOf(err) != app.ENoLayout {
					t.Fatal(err)
				}
				if problem := broken(c, r, got); err == nil && (problem != "" || got.Size() != p.size) {
					t.Fatalf("%d nodes, %s", got.Size(), problem)
				}
			}
			if best > 2*time.Minute {
				t.Errorf("took %v, which is far more than %v", best, p.within)
			}
		})
	}
}
