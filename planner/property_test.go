package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
	"muster/planner"
	"pgregory.net/rapid"
)

// drawProblem draws a small cluster. Aliases may close cycles.
func drawProblem(t *rapid.T) plan.Request {
	r := plan.Request{Kind: app.OperationCreate, Services: map[string]*template.Service{}, Config: map[string]any{}}
	count := rapid.IntRange(1, 6).Draw(t, "services")
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf("s%d", (i*5+3)%7) // neither in the order of the dependencies nor against it
	}
	some := func(from []string, label string) []string {
		var out []string
		for _, s := range from {
			if rapid.IntRange(0, 2).Draw(t, label) == 0 {
				out = append(out, s)
			}
		}
		return out
	}
	for i, name := range names {
		s := &template.Service{About: template.About{Name: name}, Actions: map[app.Action]*template.ServiceAction{}}
		known := append([]string{"ghost", "alias"}, names[:i]...)
		s.Install.Requires, s.Install.Uses = some(known, "install requires"), some(known, "install uses")
		s.Runtime.Requires, s.Runtime.Uses = some(known, "runtime requires"), some(known, "runtime uses")
		s.Provides = some([]string{"alias"}, "provides")
		for _, a := range template.ServiceActions {
			if rapid.Bool().Draw(t, "action") {
				s.Actions[a] = &template.ServiceAction{}
			}
		}
		if rapid.Bool().Draw(t, "health") {
			s.Health = &template.HealthCheck{TCP: "80"}
		}
		r.Services[name] = s
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "nodes") {
		n := plan.Node{Name: app.NodeName(i + 1), Services: some(names, "on node")}
		slices.Sort(n.Services)
		r.Nodes = append(r.Nodes, n)
	}
	for _, s := range some(append([]string{"ghost"}, names...), "named") {
		r.Config[s] = "%host.service." + s + "%"
	}
	return r
}

// paths tells, for every pair of step ids, whether the first must come before the second.
type paths map[string]map[string]bool

// pathsOf follows the needs of a plan through its joins.
func pathsOf(p plan.Plan) paths {
	before := make([]map[string]bool, len(p.Steps))
	all := paths{}
	for i, s := range p.Steps {
		before[i] = map[string]bool{}
		for _, n := range s.Needs {
			maps.Copy(before[i], before[n])
			if !p.Steps[n].Join {
				before[i][p.Steps[n].ID] = true
			}
		}
		if !s.Join {
			all[s.ID] = before[i]
		}
	}
	return all
}

// oracle works the same out by the plainest reading of the rules: every edge that Coopr draws, without minimising,
// and the wait for addresses at every service action. ok is false for services that wait for each other.
func oracle(r plan.Request) (all paths, ok bool) {
	on := map[string][]string{}
	for _, n := range r.Nodes {
		for _, s := range n.Services {
			on[s] = append(on[s], n.Name)
		}
	}
	// depends returns all that a service depends on in a phase, at any distance.
	depends := func(install bool) map[string]map[string]bool {
		d := map[string]map[string]bool{}
		for a := range on {
			d[a] = map[string]bool{}
			want := r.Services[a].Runtime
			if install {
				want = r.Services[a].Install
			}
			for b := range on {
				for _, w := range append(slices.Clone(want.Requires), want.Uses...) {
					if a != b && (w == b || slices.Contains(r.Services[b].Provides, w)) {
						d[a][b] = true
					}
				}
			}
		}
		for range on {
			for a := range on {
				for b := range maps.Clone(d[a]) {
					maps.Copy(d[a], d[b])
				}
			}
		}
		return d
	}
	has := func(s string, a app.Action) bool {
		_, ok := r.Services[s].Actions[a]
		return ok || a == app.ActionCheck && r.Services[s].Health != nil
	}
	edges := map[string][]string{}
	for _, n := range r.Nodes {
		edges[n.Name+".create"] = nil
		edges[n.Name+".confirm"] = []string{n.Name + ".create"}
		edges[n.Name+".bootstrap"] = []string{n.Name + ".confirm"}
		for _, s := range n.Services {
			previous := n.Name + ".bootstrap"
			for _, a := range []app.Action{"install", "configure", "initialize", "start", "check"} {
				if !has(s, a) {
					continue
				}
				id := n.Name + "." + s + "." + string(a)
				edges[id] = append(edges[id], previous)
				previous = id
				for named := range r.Config {
					for _, m := range on[named] {
						edges[id] = append(edges[id], m+".confirm")
					}
				}
			}
		}
	}
	for _, rule := range []struct {
		install       bool
		before, after app.Action
	}{{true, "install", "install"}, {false, "start", "initialize"}, {false, "start", "start"}, {false, "start", "check"},
		{false, "check", "initialize"}, {false, "check", "start"}, {false, "check", "check"}} {
		for a, all := range depends(rule.install) {
			if all[a] {
				return nil, false
			}
			for b := range all {
				before, after := has(b, rule.before), has(a, rule.after)
				for _, n := range on[a] {
					for _, m := range on[b] {
						if before && after {
							id := n + "." + a + "." + string(rule.after)
							edges[id] = append(edges[id], m+"."+b+"."+string(rule.before))
						}
					}
				}
			}
		}
	}
	all = paths{}
	var walk func(id string) map[string]bool
	walk = func(id string) map[string]bool {
		if all[id] == nil {
			seen := map[string]bool{}
			for _, n := range edges[id] {
				seen[n] = true
				maps.Copy(seen, walk(n))
			}
			all[id] = seen
		}
		return all[id]
	}
	for id := range edges {
		walk(id)
	}
	return all, true
}

// TestPlansOrderWhatTheRulesOrderAndNothingElse is the whole contract: a step comes before another in the plan if and
// only if the rules say so.
func TestPlansOrderWhatTheRulesOrderAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawProblem(t)
		want, ok := oracle(r)
		p, err := planner.New().Plan(r)
		if !ok {
			if err == nil || app.AsError(err).Reason != "cycle" {
				t.Fatalf("services wait for each other, but %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got := unnamed(t, r, p)
		if len(got) != len(want) {
			t.Fatalf("%d acts, want %d\n%s", len(got), len(want), listing(p))
		}
		for id := range want {
			if !maps.Equal(got[id], want[id]) {
				t.Fatalf("%s comes after\n%v, want\n%v\n%s", id, keys(got[id]), keys(want[id]), listing(p))
			}
		}
		sound(t, p)
		again, err := planner.New().Plan(permuted(r))
		if err != nil || again.Hash() != p.Hash() {
			t.Fatalf("the same question in another order got another plan:\n%s\n%s", listing(p), listing(again))
		}
	})
}

func keys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

// sound checks what every plan must hold whatever the rules.
func sound(t interface{ Fatalf(string, ...any) }, p plan.Plan) {
	seen := map[string]bool{}
	needed := map[int]bool{}
	before := make([]map[int]bool, len(p.Steps))
	for i, s := range p.Steps {
		before[i] = map[int]bool{}
		for _, n := range s.Needs {
			maps.Copy(before[i], before[n])
		}
		for _, n := range s.Needs {
			if before[i][n] {
				t.Fatalf("%s needs %s, which its other needs imply\n%s", s.ID, p.Steps[n].ID, listing(p))
			}
		}
		for _, n := range s.Needs {
			before[i][n] = true
		}
		if seen[s.ID] {
			t.Fatalf("%s is there twice", s.ID)
		}
		seen[s.ID] = true
		if !slices.IsSorted(s.Needs) || len(slices.Compact(slices.Clone(s.Needs))) != len(s.Needs) {
			t.Fatalf("needs of %s: %v", s.ID, s.Needs)
		}
		for _, n := range s.Needs {
			if n >= i || n < 0 {
				t.Fatalf("%s needs a later step", s.ID)
			}
			if p.Steps[n].Rank < s.Rank {
				t.Fatalf("%s ranks above %s, which it needs", s.ID, p.Steps[n].ID)
			}
			if planner.Why(p, i, n) == "" {
				t.Fatalf("%s needs %s for no reason", s.ID, p.Steps[n].ID)
			}
			needed[n] = true
		}
		if s.Join && len(s.Needs) < 2 {
			t.Fatalf("%s joins nothing", s.ID)
		}
	}
	for i, s := range p.Steps {
		if s.Join && !needed[i] {
			t.Fatalf("nothing waits for %s", s.ID)
		}
	}
}

// permuted is the same question, put together in another order.
func permuted(r plan.Request) plan.Request {
	services := map[string]*template.Service{}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(r.Services))) {
		s := *r.Services[name]
		for _, list := range []*[]string{&s.Provides, &s.Install.Requires, &s.Install.Uses, &s.Runtime.Requires, &s.Runtime.Uses} {
			*list = slices.Clone(*list)
			slices.Reverse(*list)
		}
		services[name] = &s
	}
	r.Services = services
	r.Nodes = slices.Clone(r.Nodes)
	for i := range r.Nodes {
		r.Nodes[i].Services = slices.Clone(r.Nodes[i].Services)
		slices.Reverse(r.Nodes[i].Services)
		r.Nodes[i].Added, r.Nodes[i].Removed = slices.Clone(r.Nodes[i].Added), slices.Clone(r.Nodes[i].Removed)
		slices.Reverse(r.Nodes[i].Added)
		slices.Reverse(r.Nodes[i].Removed)
	}
	return r
}
