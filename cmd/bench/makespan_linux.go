package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	applayout "muster/app/layout"
	"muster/app/plan"
	"muster/app/template"
	"muster/providers/fake"
)

// slow is an automator whose actions take a while, known beforehand.
type slow struct{ family.Automator }

func (slow) Bootstrap(context.Context, family.Shell, family.NodeContext, family.Output) error {
	return nil
}

func (slow) Run(ctx context.Context, _ family.Shell, call family.ServiceCall, _ family.Output) error {
	select {
	case <-time.After(takes(call.Node, call.Service, call.Action)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takes is how long an action takes on a node: 50 to 500 ms, by chance but always the same.
func takes(node, service string, action app.Action) time.Duration {
	h := fnv.New32a()
	fmt.Fprint(h, node, service, action)
	return 50*time.Millisecond + time.Duration(h.Sum32()%450)*time.Millisecond
}

// tiers is a catalog of three services on nodes of their own, each of which starts after the one below it.
func tiers() *template.Catalog {
	c := eight()
	act := func() *template.ServiceAction {
		return &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true\n"}}
	}
	t := c.Templates["web"]
	t.Defaults.Services = nil
	for _, s := range []struct{ name, needs string }{{"db", ""}, {"app", "db"}, {"lb", "app"}} {
		svc := &template.Service{About: template.About{Name: s.name}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: act(),
			app.ActionConfigure: act(), app.ActionInitialize: act(), app.ActionStart: act()}}
		if s.needs != "" {
			svc.Runtime.Requires = []string{s.needs}
		}
		c.Services[s.name] = svc
		t.Defaults.Services = append(t.Defaults.Services, s.name)
	}
	t.Constraints.CantCoexist = [][]string{{"db", "app"}, {"db", "lb"}, {"app", "lb"}}
	t.Constraints.Services = map[string]template.ServiceConstraint{"db": {Min: 10, MinSet: true, Max: 10}, "lb": {Min: 2, MinSet: true, Max: 2}}
	return c
}

// span is how long a plan took, the longest path through it, and what stages with a barrier after each would have taken.
type span struct{ took, critical, staged time.Duration }

// makespan measures a plan of steps that take a while, on as many workers as it can use.
func makespan(ctx context.Context, nodes int) (s span, err error) {
	tools, err := shellTools()
	if err != nil {
		return s, err
	}
	tools["shell"] = slow{tools["shell"]}
	r, err := newRig(ctx, rigConfig{catalog: tiers(), cloud: fake.New("cloud"), shells: still{}, tools: tools,
		tenants: []string{app.DefaultTenant}, slots: 2 * nodes})
	if err != nil {
		return s, err
	}
	defer r.close()
	p, err := r.app.Cluster.Creates.Preview(ctx, app.Actor{Tenant: app.DefaultTenant, User: "ada", Role: app.RoleAdmin},
		cluster.CreateRequest{Request: applayout.Request{Template: "web", Size: nodes}})
	if err != nil {
		return s, err
	}
	s.critical, s.staged = paths(p.Plan)
	op, _, err := r.create(ctx, app.DefaultTenant, "web", "span", nodes)
	s.took = op.EndedAt.Sub(op.CreatedAt)
	return s, err
}

// paths returns the longest path through a plan, and how long it takes in stages, each of which begins when all of the one
// before has ended; a step is in the first stage that comes after those of its needs, as in Coopr.
func paths(p plan.Plan) (critical, staged time.Duration) {
	ends := make([]time.Duration, len(p.Steps))
	stage := make([]int, len(p.Steps))
	var longest []time.Duration // of each stage
	for i, s := range p.Steps {
		for _, n := range s.Needs {
			ends[i] = max(ends[i], ends[n])
			after := stage[n]
			if !p.Steps[n].Join {
				after++
			}
			stage[i] = max(stage[i], after)
		}
		if s.Join || s.Service == "" {
			continue
		}
		t := takes(s.Node, s.Service, s.Action)
		ends[i] += t
		critical = max(critical, ends[i])
		for len(longest) <= stage[i] {
			longest = append(longest, 0)
		}
		longest[stage[i]] = max(longest[stage[i]], t)
	}
	for _, t := range longest {
		staged += t
	}
	return critical, staged
}
