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

// drawUndoable draws an update of services that have all actions, so that all of it can be undone.
func drawUndoable(t *rapid.T) plan.Request {
	r := drawUpdate(t)
	for _, name := range slices.Sorted(maps.Keys(r.Services)) {
		s := r.Services[name]
		for _, a := range template.ServiceActions {
			if a != app.ActionReload && a != app.ActionInitialize || rapid.Bool().Draw(t, "optional action") {
				s.Actions[a] = &template.ServiceAction{}
			}
		}
		s.Provides = nil // so that no cycles are closed
	}
	if !rapid.Bool().Draw(t, "work everywhere") {
		return r
	}
	r.Batch = rapid.IntRange(0, 1).Draw(t, "batch")
	for i, n := range r.Nodes {
		n = plan.Node{Name: n.Name, Services: slices.Concat(n.Services, n.Removed), Work: map[string]plan.ServiceWork{}}
		slices.Sort(n.Services)
		for _, s := range n.Services {
			n.Work[s] = rapid.SampledFrom([]plan.ServiceWork{plan.WorkReload, plan.WorkRestart, plan.WorkUpgrade}).Draw(t, "work")
		}
		r.Nodes[i] = n
	}
	return r
}

// machines are what runs where, as simulated: by node, then service.
type machines map[string]map[string]*software

type software struct {
	version, config string
	running         bool
	read            string // version and configuration that it runs by
}

func (m machines) carry(t *rapid.T, s plan.Step, mark string) {
	on := m[s.Node]
	switch s.Action {
	case app.ActionCreate:
		if on != nil {
			t.Fatalf("%s: the machine is there", s.ID)
		}
		m[s.Node] = map[string]*software{}
		return
	case app.ActionDelete:
		delete(m, s.Node)
		return
	}
	if on == nil {
		t.Fatalf("%s: there is no machine", s.ID)
	}
	if s.Service == "" {
		return
	}
	x := on[s.Service]
	if x == nil && s.Action != app.ActionInstall {
		if s.Action == app.ActionStop || s.Action == app.ActionRemove {
			return // it may not have come so far
		}
		t.Fatalf("%s: %s is not installed", s.ID, s.Service)
	}
	switch s.Action {
	case app.ActionInstall:
		if x == nil {
			x = &software{}
			on[s.Service] = x
		}
		x.version = mark
	case app.ActionConfigure:
		x.config = mark
	case app.ActionStart:
		if !x.running {
			x.running, x.read = true, x.version+x.config
		}
	case app.ActionReload:
		x.read = x.read[:len(x.read)/2] + x.config
	case app.ActionStop:
		x.running, x.read = false, ""
	case app.ActionRemove:
		if x.running {
			t.Fatalf("%s: it runs", s.ID)
		}
		delete(on, s.Service)
	}
}

func (m machines) String() string {
	out := ""
	for _, node := range slices.Sorted(maps.Keys(m)) {
		out += node + ":"
		for _, s := range slices.Sorted(maps.Keys(m[node])) {
			out += fmt.Sprintf(" %s%+v", s, *m[node][s])
		}
		out += "\n"
	}
	return out
}

// beforeOf is what existed before an update, and the nodes as a rollback is notified of them.
func beforeOf(r plan.Request) (machines, []plan.Node) {
	m, nodes := machines{}, []plan.Node(nil)
	for _, n := range r.Nodes {
		had := plan.Node{Name: n.Name}
		if n.Change != plan.NodeNew {
			m[n.Name] = map[string]*software{}
			for _, s := range slices.Concat(n.Services, n.Removed) {
				if slices.Contains(n.Added, s) {
					continue
				}
				had.Services = append(had.Services, s)
				x := &software{version: "old", config: "old"}
				if n.Work[s] != plan.WorkStart {
					x.running, x.read = true, "oldold"
				}
				m[n.Name][s] = x
			}
		}
		nodes = append(nodes, had)
	}
	return m, nodes
}

// TestRollBackRestoresState carries updates out up to anywhere, with steps that fail before or after they had
// their effect, and then their rollbacks in any order that the plan allows: all that was there is there and runs by its old
// configuration, and nothing else.
func TestRollBackRestoresState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawUndoable(t)
		p, err := planner.New().Plan(r)
		if err != nil {
			t.Fatal(err)
		}
		old, nodes := beforeOf(r)
		now, _ := beforeOf(r)
		var undo []app.Step
		succeeded := make([]bool, len(p.Steps))
		recreated := ""
		joins := rapid.Bool().Draw(t, "joins are given")
		eager := rapid.IntRange(3, 60).Draw(t, "of how many steps one fails")
		for i, s := range p.Steps {
			ready := !slices.ContainsFunc(s.Needs, func(n int) bool { return !succeeded[n] })
			if s.Join {
				succeeded[i] = ready
				if joins {
					undo = append(undo, app.Step{Index: i, ID: s.ID, Action: s.Action, Service: s.Service, Join: true, Needs: s.Needs})
				}
				continue
			}
			step := app.Step{Index: i, ID: s.ID, Node: s.Node, Action: s.Action, Service: s.Service, State: app.StepDropped, Needs: p.NeedsOf(i)}
			if joins {
				step.Needs = s.Needs
			} else if len(step.Needs) > 2 && rapid.Bool().Draw(t, "some needs are left out") {
				step.Needs, step.NeedsMore = step.Needs[:2], true
			}
			if ready {
				luck := rapid.IntRange(0, eager).Draw(t, "luck")
				if luck > 0 {
					step.Attempt = 1
				}
				if luck > 1 {
					now.carry(t, s, "new")
				}
				if luck > 2 {
					succeeded[i], step.State = true, app.StepSucceeded
				}
			}
			if s.Action == app.ActionDelete && step.Attempt > 0 && changeOf(r, s.Node) == plan.NodeReplaced {
				recreated = s.Node
			}
			undo = append(undo, step)
		}
		back := plan.Request{Kind: app.OperationRollBack, Nodes: nodes, Services: r.Services, Undo: undo}
		q, err := planner.New().Plan(back)
		if recreated != "" {
			if app.AsError(err).Reason != "undo" {
				t.Fatalf("the machine of %s was deleted for replacement, and is undone: %v", recreated, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		tidy(t, q, len(r.Services))
		w, _ := wantedOf(r)
		done := make([]bool, len(q.Steps))
		for range q.Steps {
			var ready []int
			for i, s := range q.Steps {
				if !done[i] && !slices.ContainsFunc(s.Needs, func(n int) bool { return !done[n] }) {
					ready = append(ready, i)
				}
			}
			i := rapid.SampledFrom(ready).Draw(t, "next")
			done[i] = true
			s := q.Steps[i]
			if s.Join {
				continue
			}
			if s.Action == app.ActionStart && r.Batch == 0 {
				for node, on := range old {
					for b, x := range on {
						if w.depends[0][s.Service][b] && x.running && (now[node] == nil || now[node][b] == nil || !now[node][b].running) {
							t.Fatalf("%s before %s runs on %s, which it needs\n%s\n%s", s.ID, b, node, listing(p), listing(q))
						}
					}
				}
			}
			now.carry(t, s, "old")
		}
		if now.String() != old.String() {
			t.Fatalf("after the rollback there is\n%swant\n%sthe update\n%s\nthe rollback\n%s%v", now, old, listing(p), listing(q), begunOf(undo))
		}
	})
}

// TestAnythingCanBeRolledBack takes services that lack actions, and had others before: what cannot be undone is left, no act
// is there twice, and nothing that existed before ends with a stop.
func TestAnythingCanBeRolledBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawUpdate(t)
		p, err := planner.New().Plan(r)
		if err != nil {
			return // services wait for each other
		}
		_, nodes := beforeOf(r)
		back := plan.Request{Kind: app.OperationRollBack, Nodes: nodes, Services: map[string]*template.Service{}}
		for _, name := range slices.Sorted(maps.Keys(r.Services)) {
			s := *r.Services[name]
			s.Actions = map[app.Action]*template.ServiceAction{}
			for _, a := range template.ServiceActions {
				if rapid.IntRange(0, 3).Draw(t, "action before") > 0 {
					s.Actions[a] = &template.ServiceAction{}
				}
			}
			back.Services[name] = &s
		}
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
			if app.AsError(err).Reason != "undo" {
				t.Fatal(err)
			}
			return
		}
		tidy(t, q, len(r.Services))
		last := map[string]plan.Step{}
		for _, s := range q.Steps {
			if s.Service != "" && !s.Join {
				if back.Services[s.Service].Actions[s.Action] == nil {
					t.Fatalf("%s: %s has no such action", s.ID, s.Service)
				}
				last[s.Node+"."+s.Service] = s
			}
		}
		for _, n := range r.Nodes {
			for _, s := range slices.Concat(n.Services, n.Removed) {
				stood := n.Change != plan.NodeNew && !slices.Contains(n.Added, s) && n.Work[s] != plan.WorkStart
				// What came up again without having been stopped looks as if it was only started.
				unclear := r.Services[s].Actions[app.ActionStop] == nil
				if end := last[n.Name+"."+s]; stood && !unclear && end.Action == app.ActionStop && back.Services[s].Actions[app.ActionStart] != nil {
					t.Fatalf("%s is the last of it, though it ran\n%s\n%s", end.ID, listing(p), listing(q))
				}
			}
		}
	})
}

func changeOf(r plan.Request, node string) plan.NodeChange {
	for _, n := range r.Nodes {
		if n.Name == node {
			return n.Change
		}
	}
	return ""
}

func begunOf(steps []app.Step) (ids []string) {
	for _, s := range steps {
		if s.Attempt > 0 {
			ids = append(ids, s.ID+" "+string(s.State))
		}
	}
	return ids
}
