package change

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"sort"
	"testing"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver"
	"muster/solver/solvertest"
)

const longest = 5 * time.Minute // reached only where something hangs

// existingOf lets a layout stand.
func existingOf(l layout.Layout) []layout.ExistingNode {
	var out []layout.ExistingNode
	for _, g := range l.Groups {
		for range g.Count {
			out = append(out, layout.ExistingNode{Name: fmt.Sprint("n", len(out)+1), Hardware: g.Hardware, Image: g.Image, Zone: g.Zone,
				Services: g.Services})
		}
	}
	return out
}

// changeProblems are changes of big clusters, all of which must stay well under 100 ms.
var changeProblems = []struct {
	name    string
	request func(testing.TB) (*template.Catalog, layout.ChangeRequest)
	touched int
}{
	{"add one", bigChange(1, func(c *template.Catalog, q *layout.ChangeRequest) { q.Add = someServices(c, 1) }), 3},
	{"add five", bigChange(5, func(c *template.Catalog, q *layout.ChangeRequest) { q.Add = someServices(c, 5) }), 6},
	{"add one that needs new nodes", bigChange(1, func(c *template.Catalog, q *layout.ChangeRequest) {
		t := c.Templates["t"]
		q.Add = someServices(c, 1)
		sc := solvertest.Between(2, 5)
		t.Constraints.Services[q.Add[0]] = sc
		for _, s := range t.Defaults.Services[1:] {
			t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, []string{q.Add[0], s})
		}
	}), 2},
	{"remove two", bigChange(0, func(c *template.Catalog, q *layout.ChangeRequest) { q.Remove = c.Templates["t"].Defaults.Services[3:5] }), 1000},
	{"grow", bigChange(0, func(_ *template.Catalog, q *layout.ChangeRequest) { q.Size = 1200 }), 200},
	{"shrink", bigChange(0, func(_ *template.Catalog, q *layout.ChangeRequest) { q.Size = 700 }), 300},
	{"shrink too far", bigChange(0, func(_ *template.Catalog, q *layout.ChangeRequest) { q.Size = 1 }), 0},
	{"raise a minimum", bigChange(0, func(c *template.Catalog, _ *layout.ChangeRequest) {
		limits, s := c.Templates["t"].Constraints, c.Templates["t"].Defaults.Services[3]
		limits.Services[s] = solvertest.MinAvailable(limits.Services[s].Max + 100)
	}), 100},
	{"all at once", bigChange(2, func(c *template.Catalog, q *layout.ChangeRequest) {
		q.Add, q.Remove, q.Size = someServices(c, 2), c.Templates["t"].Defaults.Services[3:5], 1100
	}), 1100},
	{"drop a hardware type, with moves", bigChange(0, func(c *template.Catalog, q *layout.ChangeRequest) {
		c.Templates["t"].Compatibility.Hardware = []string{"small"}
		q.AllowMoves = true
	}), 2000},
	{"shrink a thousand different nodes", differentNodes(func(_ *template.Catalog, q *layout.ChangeRequest) { q.Size = 700 }), 300},
	{"add to a thousand different nodes", differentNodes(func(c *template.Catalog, q *layout.ChangeRequest) {
		c.Services["new"] = &template.Service{About: template.About{Name: "new"}}
		c.Templates["t"].Constraints.Services["new"] = solvertest.MinAvailable(3)
		q.Add = []string{"new"}
	}), 3},
}

// someServices returns the services that do not stand.
func someServices(c *template.Catalog, n int) []string { return c.Templates["t"].Defaults.Services[:n] }

// bigChange is a layout of 20 services on 1,000 nodes, without the first of them, that is to be changed.
func bigChange(absent int, change func(*template.Catalog, *layout.ChangeRequest)) func(testing.TB) (*template.Catalog, layout.ChangeRequest) {
	return func(tb testing.TB) (*template.Catalog, layout.ChangeRequest) {
		c, t := solvertest.New(20)
		r := rand.New(rand.NewSource(1))
		for i, s := range t.Defaults.Services {
			sc := solvertest.Between(1+r.Intn(3), template.Unlimited)
			if i%3 == 0 {
				sc.Max = 5 + r.Intn(900)
			}
			if i%7 == 0 {
				sc.Hardware = []string{"medium", "small"}
			}
			t.Constraints.Services[s] = sc
		}
		for range 6 {
			t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, solvertest.Some(r, t.Defaults.Services, 2))
		}
		l, err := solver.New().Solve(context.Background(), c, layout.Request{Template: "t", Size: 1000,
			Services: t.Defaults.Services[absent:]})
		if err != nil {
			tb.Fatal(err)
		}
		q := layout.ChangeRequest{Template: "t", Nodes: existingOf(l)}
		change(c, &q)
		return c, q
	}
}

// differentNodes is 1,000 nodes of which hardly two have the same services.
func differentNodes(change func(*template.Catalog, *layout.ChangeRequest)) func(testing.TB) (*template.Catalog, layout.ChangeRequest) {
	return func(testing.TB) (*template.Catalog, layout.ChangeRequest) {
		c, t := solvertest.New(20)
		r := rand.New(rand.NewSource(2))
		for _, s := range t.Defaults.Services {
			t.Constraints.Services[s] = solvertest.MinAvailable(200 + r.Intn(200))
		}
		q := layout.ChangeRequest{Template: "t"}
		for i := range 1000 {
			services := solvertest.Some(r, t.Defaults.Services, 6+r.Intn(8))
			sort.Strings(services)
			q.Nodes = append(q.Nodes, layout.ExistingNode{Name: fmt.Sprint("n", i+1), Hardware: "small", Image: "debian", Services: services})
		}
		change(c, &q)
		return c, q
	}
}

func BenchmarkChange(b *testing.B) {
	for _, p := range changeProblems {
		b.Run(p.name, func(b *testing.B) {
			c, q := p.request(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New().Change(context.Background(), c, q); err != nil && app.CodeOf(err) != app.ENoLayout {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestBigChanges checks the answers, and that none goes through combinations, which would take years.
func TestBigChanges(t *testing.T) {
	for _, p := range changeProblems {
		t.Run(p.name, func(t *testing.T) {
			c, q := p.request(t)
			ctx, cancel := context.WithTimeout(context.Background(), longest)
			defer cancel()
			start := time.Now()
			got, err := New().Change(ctx, c, q)
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("took %v", took)
			}
			if err != nil {
				if app.CodeOf(err) != app.ENoLayout || p.name != "shrink too far" {
					t.Fatal(err)
				}
				return
			}
			checkChange(t, c, q, servicesAfter(q), got)
			if got.Touched != p.touched {
				t.Errorf("%d touched, want %d", got.Touched, p.touched)
			}
		})
	}
}

func servicesAfter(q layout.ChangeRequest) []string {
	all := map[string]bool{}
	for _, s := range q.Add {
		all[s] = true
	}
	for _, n := range q.Nodes {
		for _, s := range n.Services {
			all[s] = !slices.Contains(q.Remove, s)
		}
	}
	var out []string
	for _, s := range sortedKeys(all) {
		if all[s] {
			out = append(out, s)
		}
	}
	return out
}

// TestChangesOfMiddlingClusters has more kinds of node than are all looked at. What is found must hold, and a change
// that leaves all as it is must be found to.
func TestChangesOfMiddlingClusters(t *testing.T) {
	done := 0
	for seed := range 60 {
		r := rand.New(rand.NewSource(int64(seed)))
		c := solvertest.Pairs(14, 4+r.Intn(8), int64(seed), solvertest.Bounds(1, 3, 6, 20))
		c.Templates["t"].Constraints.MixedHardware = r.Intn(2) == 0
		services, absent := c.Templates["t"].Defaults.Services, r.Intn(3)
		l, err := solver.New().Solve(context.Background(), c, layout.Request{Template: "t", Size: 30, Services: services[absent:]})
		if err != nil {
			continue
		}
		q := layout.ChangeRequest{Template: "t", Nodes: existingOf(l), Add: services[:absent], AllowMoves: r.Intn(3) == 0,
			Prefer: []template.Preference{template.PreferPacked, template.PreferCheapest, template.PreferSpread}[r.Intn(3)]}
		if r.Intn(2) == 0 {
			q.Remove = services[10 : 10+r.Intn(3)]
		}
		if r.Intn(2) == 0 {
			q.Size = 20 + r.Intn(20)
		}
		ctx, cancel := context.WithTimeout(context.Background(), longest)
		start := time.Now()
		got, err := New().Change(ctx, c, q)
		cancel()
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("seed %d took %v", seed, took)
		}
		if err != nil {
			if app.CodeOf(err) != app.ENoLayout {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		done++
		checkChange(t, c, q, servicesAfter(q), got)
		if len(q.Add)+len(q.Remove)+q.Size == 0 && got.Touched > 0 {
			t.Errorf("seed %d: %d touched for nothing", seed, got.Touched)
		}
	}
	if done < 30 {
		t.Errorf("only %d could be done", done)
	}
}
