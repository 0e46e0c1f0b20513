package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
	"muster/planner"
	"pgregory.net/rapid"
)

// fataler is a test or a property's.
type fataler interface{ Fatalf(string, ...any) }

// unnamed checks the names steps of a plan, and returns how all other steps are ordered. However the plan is carried out, every node that is
// there in the end has the names of all others after the last machine came or went, and nothing waits for that.
func unnamed(t fataler, r plan.Request, p plan.Plan) paths {
	all := pathsOf(p)
	if len(all) != p.Acts() {
		t.Fatalf("%d acts with ids of their own, of %d\n%s", len(all), p.Acts(), listing(p))
	}
	there := map[string]bool{} // when all is done
	brought := map[string]bool{}
	for _, s := range slices.Concat(r.Undo, r.Went) {
		brought[s.Node] = brought[s.Node] || s.Action == app.ActionCreate
	}
	for _, s := range r.Undo {
		if s.Action == app.ActionDelete {
			brought[s.Node] = false
		}
	}
	for _, n := range r.Nodes {
		stood := r.Kind != app.OperationCreate && n.Change != plan.NodeNew && !n.Lost
		if r.Kind == app.OperationRollBack {
			stood = stood && !brought[n.Name]
		}
		there[n.Name] = stood && n.Change != plan.NodeGone
	}
	changes := map[string]bool{}
	for id := range all {
		node, _, _ := strings.Cut(id, ".")
		switch {
		case strings.HasSuffix(id, ".confirm"):
			changes[id], there[node] = true, true
		case strings.HasSuffix(id, ".delete"):
			changes[id] = true
			if all[node+".confirm"] == nil {
				there[node] = false
			}
		}
	}
	want := map[string]bool{}
	for node, is := range there {
		if is && len(r.Nodes) > 1 && (len(changes) > 0 || r.Kind == app.OperationAcceptPartial || r.Names) {
			want[node+".names"] = true
		}
	}
	for id, before := range all {
		if !strings.HasSuffix(id, ".names") {
			for b := range before {
				if strings.HasSuffix(b, ".names") {
					t.Fatalf("%s waits for %s\n%s", id, b, listing(p))
				}
			}
			continue
		}
		if !want[id] {
			t.Fatalf("%s should not be there\n%s", id, listing(p))
		}
		for change := range changes {
			if !before[change] {
				t.Fatalf("%s may be done before %s\n%s", id, change, listing(p))
			}
		}
		if boot := strings.TrimSuffix(id, "names") + "bootstrap"; all[boot] != nil && !before[boot] {
			t.Fatalf("%s may be done before %s, whose report would then hide its own\n%s", id, boot, listing(p))
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Fatalf("%v are missing\n%s", keys(want), listing(p))
	}
	maps.DeleteFunc(all, func(id string, _ map[string]bool) bool { return strings.HasSuffix(id, ".names") })
	return all
}

func namesOf(p plan.Plan) (on []string) {
	for _, s := range p.Steps {
		if s.Action == app.ActionNames && !s.Join {
			on = append(on, s.Node)
		}
	}
	return on
}

func TestNames(t *testing.T) {
	const services = "service a actions=install,configure,start,stop\n"
	for _, tt := range []struct{ name, problem, on string }{
		{"one machine", "node a", ""},
		{"two", "node x2 a", "n1 n2"},
		{"five", "node x5 a", "n1 n2 n3 n4 n5"},
		{"grow", "kind resize\nnode x2 a\nnew a", "n1 n2 n3"},
		{"grow from one", "kind resize\nnode a\nnew a", "n1 n2"},
		{"shrink", "kind resize\nnode x2 a\ngone a", "n1 n2"},
		{"shrink to one", "kind resize\nnode a\ngone a", "n1"},
		{"repair", "kind repair\nnode x2 a\nreplaced a", "n1 n2 n3"},
		{"repair of the only one", "kind repair\nreplaced a", ""},
		{"restart", "kind restart\nnode x2 a=restart", ""},
		{"another configuration", "kind reconfigure\nnode x2 a=configure", ""},
		{"sleep", "kind sleep\nnode x2 a", ""},
		{"wake", "kind wake\nnode x2 a", "n1 n2"},
		{"wake of one", "kind wake\nnode a", ""},
		{"delete", "kind delete\nnode x2 a", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := parseProblem(t, services+tt.problem)
			p, err := planner.New().Plan(r)
			if err != nil {
				t.Fatal(err)
			}
			unnamed(t, r, p)
			if got := strings.Join(namesOf(p), " "); got != tt.on {
				t.Errorf("names on %q, want %q\n%s", got, tt.on, listing(p))
			}
		})
	}

	r := parseProblem(t, services+"kind resize\nnode x2 a\nnew a")
	r.Nodes[1].Lost = true
	if p, err := planner.New().Plan(r); err != nil || !slices.Equal(namesOf(p), []string{"n1", "n3"}) {
		t.Errorf("a machine that is gone is asked: %v\n%s", err, listing(p))
	}
	r = parseProblem(t, services+"kind repair\nnode x2 a=restart")
	r.Names = true
	if p, err := planner.New().Plan(r); err != nil || !slices.Equal(namesOf(p), []string{"n1", "n2"}) {
		t.Errorf("names that an operation left out are not written: %v\n%s", err, listing(p))
	}
}

// Clusters of more than app.NamesMost nodes have none, unless they get above or below that.
func TestNamesOfLargeClusters(t *testing.T) {
	for _, tt := range []struct {
		kind              app.OperationKind
		stay, fresh, gone int
		names             int
	}{
		{app.OperationCreate, plan.NamesMost, 0, 0, plan.NamesMost},
		{app.OperationCreate, plan.NamesMost + 1, 0, 0, 0},
		{app.OperationResize, plan.NamesMost, 1, 0, plan.NamesMost + 1}, // so that what each knows of all others does not grow old
		{app.OperationResize, plan.NamesMost + 1, 1, 0, 0},
		{app.OperationResize, plan.NamesMost, 0, 1, plan.NamesMost},
		{app.OperationResize, plan.NamesMost + 1, 0, 1, 0},
	} {
		r := plan.Request{Kind: tt.kind, Services: map[string]*template.Service{}}
		for i := range tt.stay + tt.fresh + tt.gone {
			n := plan.Node{Name: app.NodeName(i + 1)}
			switch {
			case i >= tt.stay+tt.fresh:
				n.Change = plan.NodeGone
			case i >= tt.stay:
				n.Change = plan.NodeNew
			}
			r.Nodes = append(r.Nodes, n)
		}
		p, err := planner.New().Plan(r)
		edges := 0
		for _, s := range p.Steps {
			edges += len(s.Needs)
		}
		if got := len(namesOf(p)); err != nil || got != tt.names || edges > 2*len(p.Steps) {
			t.Errorf("%s of %d nodes, %d of them new, and %d that go: %d names steps, want %d; %d edges of %d steps; %v", tt.kind, len(r.Nodes), tt.fresh, tt.gone, got, tt.names,
				edges, len(p.Steps), err)
		}
	}
}

// Also what undoes an operation, as far as it came, leaves all nodes with each other's names.
func TestNamesAfterARollBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawUndoable(t)
		p, err := planner.New().Plan(r)
		if err != nil {
			t.Fatal(err)
		}
		unnamed(t, r, p)
		_, nodes := beforeOf(r)
		back := plan.Request{Kind: app.OperationRollBack, Nodes: nodes, Services: r.Services}
		reached := rapid.IntRange(0, len(p.Steps)).Draw(t, "reached")
		for i, s := range p.Steps {
			step := app.Step{Index: i, ID: s.ID, Node: s.Node, Action: s.Action, Service: s.Service, Join: s.Join, Needs: s.Needs}
			if i < reached && !s.Join {
				step.State, step.Attempt = app.StepSucceeded, 1
			}
			back.Undo = append(back.Undo, step)
		}
		q, err := planner.New().Plan(back)
		if err != nil {
			if app.AsError(err).Reason == "undo" {
				return
			}
			t.Fatal(err)
		}
		unnamed(fatalPlans{t, p}, back, q)
		tidy(t, q, len(r.Services))
	})
}

// fatalPlans says of a failure which plan was undone.
type fatalPlans struct {
	t *rapid.T
	p plan.Plan
}

func (f fatalPlans) Fatalf(format string, args ...any) {
	f.t.Fatalf("%s\nafter\n%s", fmt.Sprintf(format, args...), listing(f.p))
}
