package planner_test

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
	"muster/planner"
)

func bakedRequest(baked ...string) plan.Request {
	do := func(requires ...string) *template.Service {
		act := &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}}
		return &template.Service{Install: template.Dependencies{Requires: requires},
			Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: act, app.ActionStart: act}}
	}
	r := plan.Request{Kind: app.OperationCreate, Services: map[string]*template.Service{"base": do(), "web": do("base")}}
	for _, name := range []string{"n1", "n2"} {
		r.Nodes = append(r.Nodes, plan.Node{Name: name, Services: []string{"base", "web"}, Baked: baked})
	}
	return r
}

func TestPlanHasNoStepForWhatIsInTheImage(t *testing.T) {
	full, err := planner.New().Plan(bakedRequest())
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New().Plan(bakedRequest("base"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Acts() != full.Acts()-2 || p.Hash() == full.Hash() {
		t.Fatalf("%d of %d steps", p.Acts(), full.Acts())
	}
	if p.Saves != 30*time.Second {
		t.Errorf("saves %s", p.Saves)
	}
	for i, s := range p.Steps {
		if s.Service == "base" && s.Action == app.ActionInstall && !s.Join {
			t.Errorf("%s is in the plan", s.ID)
		}
		for _, n := range s.Needs {
			if n >= i {
				t.Errorf("%s needs step %d, which isn't before it", s.ID, n)
			}
		}
		// What waited for the install on both nodes waits for their bootstraps now.
		if s.ID == "n1.web.install" {
			needs := map[string]bool{}
			for _, n := range p.NeedsOf(i) {
				needs[p.Steps[n].ID] = true
			}
			if !needs["n1.bootstrap"] || !needs["n2.bootstrap"] {
				t.Errorf("%s needs %v", s.ID, needs)
			}
		}
	}
}

func TestBakeIsTheLastStepOfItsNode(t *testing.T) {
	r := bakedRequest()
	r.Nodes = r.Nodes[:1]
	r.Nodes[0].Bakes = true
	p, err := planner.New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	if last := p.Steps[len(p.Steps)-1]; last.ID != "n1.bake" {
		t.Errorf("the last step is %s", last.ID)
	}
}
