package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
	"muster/planner"
	"pgregory.net/rapid"
)

func script(name string, when template.HookPhase, services ...string) template.OperationHook {
	return template.OperationHook{Name: name, When: when, Script: "true", Services: services}
}

// TestHooksWrapAPlan: on a machine that is made, a script runs before anything of a service; after the operation it runs last.
func TestHooksWrapAPlan(t *testing.T) {
	r := plan.Request{Kind: app.OperationCreate, Services: map[string]*template.Service{"web": {About: template.About{Name: "web"},
		Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: {}, app.ActionStart: {}}}},
		Nodes: []plan.Node{{Name: "n1", Services: []string{"web"}}, {Name: "n2", Services: []string{"web"}}, {Name: "n3"}},
		Hooks: []template.OperationHook{script("a", template.HookBefore, "web"), script("z", template.HookAfter), script("b", template.HookBefore, "web"),
			{Name: "other", When: template.HookBefore, Script: "true", Operations: []app.OperationKind{app.OperationRestart}},
			{Name: "called", When: template.HookBefore, SendTo: "x"}}}
	p, err := planner.New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Hooks) != 3 || p.Hooks[0].Name != "a" || p.Hooks[1].Name != "b" || p.Hooks[2].Name != "z" {
		t.Fatalf("the plan runs %+v", p.Hooks)
	}
	before := pathsOf(p)
	for _, c := range []struct{ first, then string }{
		{"n1.bootstrap", "n1.hook.a"}, {"n1.hook.a", "n1.hook.b"}, {"n1.hook.b", "n1.web.install"}, {"n2.hook.b", "n2.web.install"},
		{"n1.web.start", "n1.hook.z"}, {"n2.web.start", "n1.hook.z"}, {"n3.bootstrap", "n2.hook.z"}, {"n1.hook.b", "n3.hook.z"},
	} {
		if !before[c.then][c.first] {
			t.Errorf("%s does not wait for %s:\n%s", c.then, c.first, stepIDs(p))
		}
	}
	if _, there := before["n3.hook.a"]; there {
		t.Error("a script for nodes with web runs on one without")
	}
	again, err := planner.New().Plan(r)
	if err != nil || again.Hash() != p.Hash() {
		t.Errorf("the same question has two plans (%v)", err)
	}
	r.Hooks[0].Script = "false"
	if changed, err := planner.New().Plan(r); err != nil || changed.Hash() == p.Hash() {
		t.Errorf("another script is the same plan (%v)", err)
	}
	r.Hooks = p.Hooks // as they are kept with a request
	r.Hooks[0].Script = "true"
	if kept, err := planner.New().Plan(r); err != nil || kept.Hash() != p.Hash() {
		t.Errorf("what was kept of a plan is another one (%v)", err)
	}
}

func stepIDs(p plan.Plan) string {
	var all []string
	for _, s := range p.Steps {
		all = append(all, s.ID)
	}
	return strings.Join(all, "\n")
}

// TestNoHookWhereMachinesAreGivenBack: a script on a machine that does not answer would keep it forever.
func TestNoHookWhereMachinesAreGivenBack(t *testing.T) {
	r := plan.Request{Kind: app.OperationDelete, Nodes: []plan.Node{{Name: "n1"}}, Hooks: []template.OperationHook{script("a", template.HookBefore)}}
	p, err := planner.New().Plan(r)
	if err != nil || len(p.Hooks) > 0 || strings.Contains(stepIDs(p), "hook") {
		t.Fatalf("a deletion runs scripts: %v %s", err, stepIDs(p))
	}
}

// TestHooksKeepThePlan: whatever the plan, hooks leave its order as it was and put themselves in front and behind.
func TestHooksKeepThePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawProblem(t)
		plain, err := planner.New().Plan(r)
		if err != nil {
			t.Skip() // another draw, of services that do not wait for each other; rapid fails where there are too few
		}
		on := rapid.SampledFrom([]string{"s0", "s3", "s5", ""}).Draw(t, "on")
		for i, when := range []template.HookPhase{template.HookBefore, template.HookAfter, template.HookBefore, template.HookAfter} {
			h := script(string(rune('a'+i)), when)
			if on != "" && i%2 == 0 {
				h.Services = []string{on}
			}
			r.Hooks = append(r.Hooks, h)
		}
		p, err := planner.New().Plan(r)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range p.Steps {
			if !slices.IsSorted(s.Needs) || len(s.Needs) > 0 && s.Needs[len(s.Needs)-1] >= i {
				t.Fatalf("step %d %s needs %v", i, s.ID, s.Needs)
			}
		}
		before, was := pathsOf(p), pathsOf(plain)
		for id, needs := range was {
			for n := range needs {
				if !before[id][n] {
					t.Fatalf("%s does not wait for %s any more", id, n)
				}
			}
		}
		if len(plain.Steps) == 0 {
			return
		}
		for _, n := range r.Nodes {
			for id := range was {
				if last := before[template.HookStepID(n.Name, "d")]; !last[id] {
					t.Fatalf("the last hook does not wait for %s", id)
				}
			}
			own := r.Hooks[0].OnNode(n.Services)
			for _, s := range plain.Steps {
				if own && !s.Join && s.Node == n.Name && !s.Action.OnMachine() && !before[s.ID][template.HookStepID(n.Name, "c")] {
					t.Fatalf("%s does not wait for the hooks before it", s.ID)
				}
			}
		}
	})
}

// TestHooksOfStandingNodes: nothing begins until a hook has run on all of them.
func TestHooksOfStandingNodes(t *testing.T) {
	web := &template.Service{About: template.About{Name: "web"}, Actions: map[app.Action]*template.ServiceAction{app.ActionStop: {}, app.ActionStart: {}}}
	work := map[string]plan.ServiceWork{"web": plan.WorkRestart}
	p, err := planner.New().Plan(plan.Request{Kind: app.OperationRestart, Services: map[string]*template.Service{"web": web},
		Nodes: []plan.Node{{Name: "n1", Services: []string{"web"}, Work: work}, {Name: "n2", Services: []string{"web"}, Work: work}, {Name: "n3"}},
		Hooks: []template.OperationHook{script("a", template.HookBefore, "web"), script("b", template.HookBefore)}})
	if err != nil {
		t.Fatal(err)
	}
	before := pathsOf(p)
	for _, first := range []string{"n1.hook.a", "n2.hook.a", "n1.hook.b", "n2.hook.b", "n3.hook.b"} {
		for _, then := range []string{"n1.web.stop", "n2.web.stop", "n1.web.start"} {
			if !before[then][first] {
				t.Errorf("%s does not wait for %s:\n%s", then, first, stepIDs(p))
			}
		}
	}
	if !before["n3.hook.b"]["n2.hook.a"] {
		t.Error("the second script does not wait for the first one")
	}
	if d := p.Steps[0].Rank; d < p.Steps[len(p.Steps)-1].Rank+20*time.Second {
		t.Errorf("the first script counts for %s", d)
	}
}

// TestScriptsAreNotUndone: what a script has done only its author knows.
func TestScriptsAreNotUndone(t *testing.T) {
	undo := []app.Step{{Index: 0, ID: "n1.hook.a", Node: "n1", Action: app.ActionHook, State: app.StepSucceeded, Attempt: 1},
		{Index: 1, ID: "n1.create", Node: "n1", Action: app.ActionCreate, State: app.StepSucceeded, Attempt: 1, Needs: []int{0}}}
	p, err := planner.New().Plan(plan.Request{Kind: app.OperationRollBack, Nodes: []plan.Node{{Name: "n1"}}, Undo: undo})
	if err != nil || stepIDs(p) != "n1.delete" {
		t.Fatalf("the rollback of a plan with a hook is %v %s", err, stepIDs(p))
	}
}
