package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
	"muster/planner"
	"pgregory.net/rapid"
)

// stepsOf are a plan's steps as the ledger returns them: joins left out, needs with joins replaced by what they join.
func stepsOf(p plan.Plan, attempt func(plan.Step) int) []app.Step {
	var steps []app.Step
	for i, s := range p.Steps {
		if !s.Join {
			steps = append(steps, app.Step{Index: i, ID: s.ID, Node: s.Node, Action: s.Action, Service: s.Service, State: app.StepDropped,
				Attempt: attempt(s), Needs: p.NeedsOf(i)})
		}
	}
	return steps
}

func always(plan.Step) int { return 1 }

func rollBackOf(t interface {
	Helper()
	Fatal(...any)
}, r plan.Request, steps []app.Step) plan.Plan {
	t.Helper()
	r.Kind, r.Undo = app.OperationRollBack, steps
	p, err := planner.New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const shop = `
	service db actions=install,start,stop,remove
	service app runtime.requires=db actions=install,start,stop
	node db
	node x2 app`

func TestRollBackOfACreateDeletesMachines(t *testing.T) {
	r := parseProblem(t, shop)
	create, err := planner.New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	p := rollBackOf(t, r, stepsOf(create, always))
	if got := acts(p); got != "n1.delete n2.delete n3.delete" {
		t.Errorf("the rollback is %s", got)
	}
	for _, s := range p.Steps {
		if len(s.Needs) > 0 {
			t.Errorf("%s waits for %v; machines are given back all at once", s.ID, s.Needs)
		}
	}
	// One whose create was asked for and failed may still have been made; one that no one asked for was not.
	p = rollBackOf(t, r, stepsOf(create, func(s plan.Step) int {
		if s.ID == "n2.create" {
			return 3
		}
		return 0
	}))
	if got := acts(p); got != "n2.delete" {
		t.Errorf("the rollback of one begun machine is %q", got)
	}
	if p := rollBackOf(t, r, stepsOf(create, func(plan.Step) int { return 0 })); len(p.Steps) > 0 {
		t.Errorf("nothing was begun, and %s is undone", acts(p))
	}
}

// TestServicesAreUndoneInReverse takes machines for granted, as an operation does that adds services to a standing cluster.
func TestServicesAreUndoneInReverse(t *testing.T) {
	r := parseProblem(t, shop)
	create, err := planner.New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	steps := stepsOf(create, func(s plan.Step) int {
		if s.Action == app.ActionCreate {
			return 0
		}
		return 1
	})
	for i := range r.Nodes {
		r.Nodes[i].Services = nil // before
	}
	p := rollBackOf(t, r, steps)
	// app has no way to be removed, so what was installed of it stays.
	for _, want := range []string{"n1.db.stop", "n1.db.remove", "n2.app.stop", "n3.app.stop"} {
		if !slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.ID == want }) {
			t.Errorf("%s is missing in %s", want, acts(p))
		}
	}
	if p.Acts() != 4 {
		t.Errorf("the rollback is %s", acts(p))
	}
	if !before(p, "n2.app.stop", "n1.db.stop") || !before(p, "n3.app.stop", "n1.db.stop") || !before(p, "n1.db.stop", "n1.db.remove") {
		t.Errorf("what started last must stop first: %s", listing(p))
	}
	// Where not all needs are known, more waits, never less.
	for i := range steps {
		if steps[i].Action == app.ActionStart && steps[i].Service == "app" {
			steps[i].Needs, steps[i].NeedsMore = nil, true
		}
	}
	p = rollBackOf(t, r, steps)
	if !before(p, "n2.app.stop", "n1.db.stop") || !before(p, "n3.app.stop", "n1.db.stop") {
		t.Errorf("needs that were cut off let db stop first: %s", listing(p))
	}
}

func TestWhatIsRolledBackMustFitTogether(t *testing.T) {
	r := plan.Request{Kind: app.OperationRollBack, Nodes: []plan.Node{{Name: "n1"}}}
	for _, tt := range []struct {
		reason string
		undo   []app.Step
	}{
		{"undo", []app.Step{{Index: 1, ID: "n1.create", Node: "n1", Action: app.ActionCreate}, {Index: 1, ID: "n1.confirm", Node: "n1"}}},
		{"undo", []app.Step{{Index: 0, ID: "n1.create", Node: "n1", Action: app.ActionCreate, Needs: []int{0}}}},
		{"node", []app.Step{{Index: 0, ID: "n2.create", Node: "n2", Action: app.ActionCreate}}},
	} {
		r.Undo = tt.undo
		if _, err := planner.New().Plan(r); app.AsError(err).Reason != tt.reason || app.CodeOf(err) != app.EInvalid {
			t.Errorf("%+v: %v, want %s", tt.undo, err, tt.reason)
		}
	}
}

// TestRollBackReversesTheOrder: whatever was begun, of two acts that are undone and of which the second needed the first,
// by whatever way, the second is undone first; and each is undone once.
func TestRollBackReversesTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actions := []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionStart, app.ActionStop}
		full := &template.Service{Actions: map[app.Action]*template.ServiceAction{}}
		for _, a := range template.ServiceActions {
			full.Actions[a] = &template.ServiceAction{Automator: "shell"}
		}
		r := plan.Request{Services: map[string]*template.Service{}}
		for n := range rapid.IntRange(1, 4).Draw(t, "nodes") {
			r.Nodes = append(r.Nodes, plan.Node{Name: app.NodeName(n + 1)})
		}
		var steps []app.Step
		for i := range rapid.IntRange(0, 20).Draw(t, "steps") {
			service := fmt.Sprintf("s%d", i) // every act is another's, so that ids are unique
			r.Services[service] = full
			s := app.Step{Index: i, Node: rapid.SampledFrom(r.Nodes).Draw(t, "node").Name, Service: service,
				Action: rapid.SampledFrom(actions).Draw(t, "action"), Attempt: rapid.IntRange(0, 1).Draw(t, "attempt")}
			s.ID = s.Node + "." + s.Service + "." + string(s.Action)
			for j := range i {
				if rapid.IntRange(0, 4).Draw(t, "needs") == 0 {
					s.Needs = append(s.Needs, j)
				}
			}
			steps = append(steps, s)
		}
		p := rollBackOf(t, r, steps)
		undone := map[string]string{} // by service
		for _, s := range p.Steps {
			if !s.Join {
				if undone[s.Service] != "" {
					t.Fatalf("%s is undone twice", s.Service)
				}
				undone[s.Service] = s.ID
			}
		}
		reach := make([]map[int]bool, len(steps)) // all that a step needed, by whatever way
		for i, s := range steps {
			reach[i] = map[int]bool{}
			for _, n := range s.Needs {
				reach[i][n] = true
				for m := range reach[n] {
					reach[i][m] = true
				}
			}
			id := undone[s.Service]
			if want := s.Attempt > 0 && s.Action != app.ActionConfigure; (id != "") != want {
				t.Fatalf("%s with %d attempts is undone by %q", s.ID, s.Attempt, id)
			}
			for n := range reach[i] {
				if first := undone[steps[n].Service]; id != "" && first != "" && !before(p, id, first) {
					t.Fatalf("%s is not undone before %s:\n%s", s.ID, steps[n].ID, listing(p))
				}
			}
		}
	})
}

// before reports whether a step of a plan has to be done before another one.
func before(p plan.Plan, first, then string) bool {
	over := make([]bool, len(p.Steps)) // steps that come after first
	for i, s := range p.Steps {
		over[i] = s.ID == first || slices.ContainsFunc(s.Needs, func(n int) bool { return over[n] })
		if s.ID == then {
			return over[i] && then != first
		}
	}
	return false
}

func acts(p plan.Plan) string {
	var out []string
	for _, s := range p.Steps {
		if !s.Join {
			out = append(out, s.ID)
		}
	}
	return strings.Join(out, " ")
}
