package main

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	applayout "muster/app/layout"
	"muster/app/plan"
	"muster/app/template"
	"muster/planner"
	"muster/solver"
	"muster/solver/change"
	"muster/solver/explain"
	"muster/solver/solvertest"
)

// problem is something to solve. Prepare makes it, which is not measured, and returns the act, which fails where the answer is not what
// it must be.
type problem struct {
	name    string
	limit   time.Duration // 0: none
	prepare func() func(context.Context) error
}

// actionTimeout is how long one act may take before it counts as failed.
const actionTimeout = 15 * time.Second

// memoryLimit is what no problem may hold at once, in MB.
const memoryLimit = 100

func (p problem) scenario() scenario {
	return scenario{name: p.name, measure: func(ctx context.Context, b *bench) error {
		act := p.prepare()
		m, err := measure(b.budget, func() error {
			ctx, cancel := context.WithTimeout(ctx, actionTimeout)
			defer cancel()
			return act(ctx)
		})
		if err != nil {
			return err
		}
		limit := 0.0
		if p.limit > 0 {
			limit = memoryLimit
		}
		b.add(figure{Name: p.name, Unit: "ms", Runs: m.times, Limit: milliseconds(p.limit)})
		b.add(figure{Name: "  memory", Unit: "MB", Runs: []float64{float64(m.memory) / (1 << 20)}, Limit: limit})
		return nil
	}}
}

// solverScenarios begin with plain Go work, so that machines can be compared.
func solverScenarios() []scenario {
	all := []scenario{problem{"plain Go work, to compare machines", 0, func() func(context.Context) error {
		return func(context.Context) error { plainWork(); return nil }
	}}.scenario()}
	for _, p := range problems() {
		all = append(all, p.scenario())
	}
	return all
}

func problems() []problem {
	const ms = time.Millisecond
	bounds := solvertest.Bounds
	return []problem{
		{"30 loosely constrained services, 1,000 nodes", 5 * ms, layoutOf(solvertest.Loose(30), 1000, "")},
		{"20 services in 8 groups that can't coexist, 1,000 nodes", 5 * ms, layoutOf(solvertest.Grouped(20, 8, true), 1000, "")},
		{"20 services in 8 groups that must coexist, 1,000 nodes", 5 * ms, layoutOf(solvertest.Grouped(20, 8, false), 1000, "")},
		{"100 services, 200 pairs, 10,000 nodes", 500 * ms, layoutOf(solvertest.Pairs(100, 200, 4, bounds(1, 5, 0, 0)), 10000, "")},
		{"the same, half of them with maxima", 500 * ms, layoutOf(solvertest.Pairs(100, 200, 5, bounds(1, 5, 100, 9000)), 10000, "")},
		{"the same, large minima and maxima", 500 * ms, layoutOf(solvertest.Pairs(100, 200, 6, bounds(1, 3000, 4000, 6000)), 10000, "")},
		{"10 exclusive services, each at least 3, 100 nodes", 5 * ms, layoutOf(solvertest.Exclusive(10, 3), 100, "")},
		{"the same on 29 nodes, one short: explained", 50 * ms, explanationOf(solvertest.Exclusive(10, 3), 29)},
		{"cheapest, 30 services, 20 hardware types, 500 nodes", 1000 * ms, layoutOf(solvertest.Priced(30, 20, 1), 500, template.PreferCheapest)},
		{"the same, and services need cores and memory", 1000 * ms, layoutOf(solvertest.Needing(30, 20, 1), 500, template.PreferCheapest)},
		{"20 loosely constrained services, 50 nodes", 5 * ms, layoutOf(solvertest.Loose(20), 50, "")},
		{"5 exclusive services, unsolvable, 200 nodes: refused", 5 * ms, refusalOf(solvertest.Exclusive(5, 41), 200)},
		{"10 exclusive services, one short: refused", 5 * ms, refusalOf(solvertest.Exclusive(10, 3), 29)},
		{"spread, 30 loosely constrained services, 1,000 nodes", 0, layoutOf(solvertest.Loose(30), 1000, template.PreferSpread)},
		{"one node more for a cluster of 1,000", 0, growthOf(solvertest.Loose(30), 1000)},
		{"plan of 10,000 nodes with 8 steps each", 0, planOf(10000)},
	}
}

func layoutOf(c *template.Catalog, size int, prefer template.Preference) func() func(context.Context) error {
	return func() func(context.Context) error {
		return func(ctx context.Context) error {
			l, err := solver.New().Solve(ctx, c, applayout.Request{Template: solvertest.Template, Size: size, Prefer: prefer})
			switch {
			case err != nil:
				return err
			case l.Size() != size:
				return fmt.Errorf("%d nodes instead of %d", l.Size(), size)
			case l.Gap != 0:
				return fmt.Errorf("not proven optimal: the gap is %v", l.Gap)
			}
			return nil
		}
	}
}

func refusalOf(c *template.Catalog, size int) func() func(context.Context) error {
	return func() func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := solver.New().Solve(ctx, c, applayout.Request{Template: solvertest.Template, Size: size})
			if app.CodeOf(err) != app.ENoLayout {
				return fmt.Errorf("expected no layout: %w", err)
			}
			return nil
		}
	}
}

// explanationOf measures all that one who is refused waits for: the refusal, the conflict proven minimal, and a fix.
func explanationOf(c *template.Catalog, size int) func() func(context.Context) error {
	return func() func(context.Context) error {
		return func(ctx context.Context) error {
			r := applayout.Request{Template: solvertest.Template, Size: size}
			if _, err := solver.New().Solve(ctx, c, r); app.CodeOf(err) != app.ENoLayout {
				return fmt.Errorf("expected no layout: %w", err)
			}
			x, err := explain.New(solver.New()).Explain(ctx, c, r)
			switch {
			case err != nil:
				return err
			case len(x.Conflict) == 0 || !x.Minimal || len(x.Fixes) == 0:
				return fmt.Errorf("poorly explained: %+v", x)
			}
			return nil
		}
	}
}

func growthOf(c *template.Catalog, size int) func() func(context.Context) error {
	return func() func(context.Context) error {
		r := applayout.ChangeRequest{Template: solvertest.Template, Size: size + 1}
		l, err := solver.New().Solve(context.Background(), c, applayout.Request{Template: r.Template, Size: size})
		for _, n := range plan.Nodes(l) {
			g := groupOf(l, len(r.Nodes))
			r.Nodes = append(r.Nodes, applayout.ExistingNode{Name: n.Name, Hardware: g.Hardware, Image: g.Image, Zone: g.Zone, Services: g.Services})
		}
		return func(ctx context.Context) error {
			if err != nil {
				return err
			}
			change, err := change.New().Change(ctx, c, r)
			if err == nil && change.Touched != 1 {
				err = fmt.Errorf("%d machines affected", change.Touched)
			}
			return err
		}
	}
}

// groupOf returns the group of the i-th node, from 0.
func groupOf(l applayout.Layout, i int) applayout.NodeGroup {
	for _, g := range l.Groups {
		if i < g.Count {
			return g
		}
		i -= g.Count
	}
	return applayout.NodeGroup{}
}

// planOf is a create of equal nodes: create, confirm, bootstrap, and five actions of three services that wait for each
// other.
func planOf(nodes int) func() func(context.Context) error {
	return func() func(context.Context) error {
		act := &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}}
		actions := map[app.Action]*template.ServiceAction{app.ActionInstall: act, app.ActionStart: act}
		r := plan.Request{Kind: app.OperationCreate, Services: map[string]*template.Service{
			"base":  {About: template.About{Name: "base"}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: act}},
			"store": {About: template.About{Name: "store"}, Install: template.Dependencies{Requires: []string{"base"}}, Actions: actions},
			"app": {About: template.About{Name: "app"}, Install: template.Dependencies{Requires: []string{"base"}},
				Runtime: template.Dependencies{Requires: []string{"store"}}, Actions: actions},
		}, Config: map[string]any{"stores": "%ip.service.store%"}}
		r.Nodes = plan.Nodes(applayout.Layout{Groups: []applayout.NodeGroup{{Count: nodes, Services: []string{"app", "base", "store"}}}})
		return func(context.Context) error {
			p, err := planner.New().Plan(r)
			if err == nil && p.Acts() != 8*nodes {
				err = fmt.Errorf("%d steps", p.Acts())
			}
			return err
		}
	}
}
