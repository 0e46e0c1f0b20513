package planner_test

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/planner"
	"pgregory.net/rapid"
)

// TestDrainIsTheRepairWithABeginning holds plans that drain nodes against those that don't: there is nothing else in them but the steps that drain. Nothing
// stops before all who reload do without it, and no drained machine goes before its services have stopped.
func TestDrainIsTheRepairWithABeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawUpdate(t)
		plain, err := planner.New().Plan(r)
		if err != nil {
			t.Skip(err)
		}
		drained := map[string]bool{}
		for i := range r.Nodes {
			n := &r.Nodes[i]
			if n.Change == plan.NodeReplaced && rapid.Bool().Draw(t, "drained") {
				n.Drained, drained[n.Name] = true, true
			}
		}
		p, err := planner.New().Plan(r)
		if err != nil {
			t.Fatal(err)
		}
		is := func(s plan.Step) bool { return plan.Drains(s.ID, s.Node, s.Service, s.Action) }
		var rest, want []string
		before := make([]map[int]bool, len(p.Steps)) // all that comes before a step
		var reloads []int
		for i, s := range p.Steps {
			before[i] = map[int]bool{}
			for _, n := range s.Needs {
				before[i][n] = true
				for m := range before[n] {
					before[i][m] = true
				}
			}
			switch {
			case s.Join:
			case !is(s):
				rest = append(rest, s.ID)
			case s.Action == app.ActionReload:
				reloads = append(reloads, i)
			}
		}
		for _, s := range plain.Steps {
			if !s.Join {
				want = append(want, s.ID)
			}
		}
		slices.Sort(rest)
		slices.Sort(want)
		if !slices.Equal(rest, want) {
			t.Errorf("beside draining the plan has %v, want %v", rest, want)
		}
		for i, s := range p.Steps {
			switch {
			case s.Join:
			case is(s) && s.Action == app.ActionStop:
				for _, reload := range reloads {
					if !before[i][reload] {
						t.Errorf("%s doesn't wait for %s", s.ID, p.Steps[reload].ID)
					}
				}
			case s.Action == app.ActionDelete && drained[s.Node]:
				n := r.Nodes[slices.IndexFunc(r.Nodes, func(n plan.Node) bool { return n.Name == s.Node })]
				for _, service := range n.Services {
					if stop := plan.DrainID(n.Name, service, app.ActionStop); r.Services[service].Actions[app.ActionStop] != nil && !before[i][index(t, p, stop)] {
						t.Errorf("%s doesn't wait for %s", s.ID, stop)
					}
				}
			case is(s) && drained[s.Node]:
				t.Errorf("%s is done on a node that goes", s.ID)
			}
		}
		if len(drained) == 0 && strings.Contains(listing(p), ".drain.") {
			t.Errorf("nothing is to be drained:\n%s", listing(p))
		}
	})
}
