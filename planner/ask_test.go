package planner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

func personal(ask string) *template.ServiceAction {
	return &template.ServiceAction{Person: &template.Person{Ask: ask, Timeout: 2 * time.Hour}}
}

func scripted() *template.ServiceAction {
	return &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}}
}

func askingServices() map[string]*template.Service {
	return map[string]*template.Service{
		"web": {About: template.About{Name: "web"}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: scripted(),
			app.ActionConfigure: personal("Has the record for %host.self% been made?"), app.ActionStart: scripted(), app.ActionStop: scripted()}},
		"db": {About: template.About{Name: "db"}, Actions: map[app.Action]*template.ServiceAction{app.ActionStart: scripted(), app.ActionStop: personal("Stop it.")}},
	}
}

// What a person carries out is a step like any other, but takes no time that is expected; a plan says who is asked what.
func TestPeopleAreAskedInAPlan(t *testing.T) {
	nodes := []plan.Node{{Name: "n1", Services: []string{"db", "web"}}, {Name: "n2", Services: []string{"web"}}}
	p, err := New().Plan(plan.Request{Kind: app.OperationCreate, Nodes: nodes, Services: askingServices()})
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for i, s := range p.Steps {
		if q := p.ManualStep(i); q != nil {
			asked[s.ID] = true
			for _, n := range s.Needs {
				if s.Rank > p.Steps[n].Rank {
					t.Errorf("%s has rank %s, and what it needs %s", s.ID, s.Rank, p.Steps[n].Rank)
				}
			}
		}
	}
	if len(asked) != 2 || !asked["n1.web.configure"] || !asked["n2.web.configure"] || len(p.ManualSteps) != 1 {
		t.Fatalf("asked is at %v, questions are %v", asked, p.ManualSteps)
	}
	if n, longest := p.WaitsForPeople(); n != 2 || longest != 2*time.Hour || p.PeopleInWords() != "plus waiting for answers (2 questions, up to 2 h each)" {
		t.Errorf("%d questions of %s: %s", n, longest, p.PeopleInWords())
	}
	plain := askingServices()
	plain["web"].Actions[app.ActionConfigure] = scripted()
	without, err := New().Plan(plan.Request{Kind: app.OperationCreate, Nodes: nodes, Services: plain})
	if err != nil {
		t.Fatal(err)
	}
	if want := without.Duration() - estimates[app.ActionConfigure]; p.Duration() != want {
		t.Errorf("it takes %s, want %s", p.Duration(), want)
	}
	other := askingServices()
	other["web"].Actions[app.ActionConfigure].Person.Ask = "Another question?"
	changed, err := New().Plan(plan.Request{Kind: app.OperationCreate, Nodes: nodes, Services: other})
	if err != nil || changed.Hash() == p.Hash() {
		t.Errorf("another question is the same plan: %v", err)
	}
	var text strings.Builder
	if err := Text(&text, p); err != nil || !strings.Contains(text.String(), "waits for a person; up to 2 h") || !strings.Contains(text.String(), "plus waiting for answers") {
		t.Errorf("the plan is drawn as\n%s%v", text.String(), err)
	}
}

// A question waits for the machines whose addresses it names, and one that names too many is refused.
func TestManualStepsNameMachines(t *testing.T) {
	services := askingServices()
	services["web"].Actions[app.ActionConfigure].Person.Help = "Point it at %ip.service.db[0]%."
	nodes := []plan.Node{{Name: "n1", Services: []string{"web"}}, {Name: "n2", Services: []string{"db"}}}
	p, err := New().Plan(plan.Request{Kind: app.OperationCreate, Nodes: nodes, Services: services})
	if err != nil {
		t.Fatal(err)
	}
	if !reaches(p, at(t, p, "n1.web.configure"), at(t, p, "n2.confirm")) {
		t.Error("the question does not wait for the machine that it names")
	}
	services["web"].Actions[app.ActionConfigure].Person.Help = "Point it at %ip.service.db[3]%."
	if _, err = New().Plan(plan.Request{Kind: app.OperationCreate, Nodes: nodes, Services: services}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("a question about a machine that is not there: %v", err)
	}
}

// Between batches a person looks: nothing of the next batch begins before, and all of the one before is over.
func TestPeopleCheckBetweenBatches(t *testing.T) {
	services := askingServices()
	services["web"].Actions[app.ActionConfigure] = scripted()
	var nodes []plan.Node
	for i := range 5 {
		nodes = append(nodes, plan.Node{Name: app.NodeName(i + 1), Services: []string{"web"}, Work: map[string]plan.ServiceWork{"web": plan.WorkRestart}})
	}
	r := plan.Request{Kind: app.OperationRestart, Nodes: nodes, Services: services, Batch: 2, Between: &template.Person{Ask: "Go on?"}}
	p, err := New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	var asks []string
	for i, s := range p.Steps {
		if p.ManualStep(i) == nil {
			continue
		}
		asks = append(asks, s.ID)
		if s.Node != "" || s.Service != "" || s.Join {
			t.Errorf("the question is %+v", s)
		}
	}
	if !slices.Equal(asks, []string{"batch.2.ask", "batch.3.ask"}) {
		t.Fatalf("asked is at %v", asks)
	}
	for _, c := range []struct{ step, ask string }{{"n3.web.stop", "batch.2.ask"}, {"n4.web.stop", "batch.2.ask"}, {"n5.web.stop", "batch.3.ask"}} {
		if !reaches(p, at(t, p, c.step), at(t, p, c.ask)) {
			t.Errorf("%s does not wait for %s", c.step, c.ask)
		}
	}
	if !reaches(p, at(t, p, "batch.2.ask"), at(t, p, "n2.web.start")) || !reaches(p, at(t, p, "batch.3.ask"), at(t, p, "n4.web.start")) ||
		reaches(p, at(t, p, "n1.web.stop"), at(t, p, "batch.2.ask")) {
		t.Error("people are not asked between the batches")
	}
	undo := make([]app.Step, len(p.Steps))
	for i, s := range p.Steps {
		undo[i] = app.Step{Index: i, ID: s.ID, Node: s.Node, Service: s.Service, Action: s.Action, Join: s.Join, Needs: s.Needs, State: app.StepSucceeded, Attempt: 1}
	}
	r.Kind, r.Undo = app.OperationRollBack, undo
	for i := range r.Nodes {
		r.Nodes[i].Work = nil
	}
	if _, err := New().Plan(r); err != nil {
		t.Errorf("it cannot be rolled back: %v", err)
	}
}

// A cluster falls asleep and wakes when no one is there, so no one is asked.
func TestNobodyIsAskedAtNight(t *testing.T) {
	nodes := []plan.Node{{Name: "n1", Services: []string{"db", "web"}}}
	for _, kind := range []app.OperationKind{app.OperationSleep, app.OperationWake} {
		p, err := New().Plan(plan.Request{Kind: kind, Nodes: nodes, Services: askingServices()})
		if err != nil || len(p.ManualSteps) > 0 {
			t.Errorf("%s asks %v, %v", kind, p.ManualSteps, err)
		}
	}
	p, err := New().Plan(plan.Request{Kind: app.OperationDelete, Nodes: nodes, Services: askingServices()})
	if err != nil || len(p.ManualSteps) > 0 {
		t.Errorf("a deletion asks %v, %v", p.ManualSteps, err)
	}
}

func at(t *testing.T, p plan.Plan, id string) int {
	t.Helper()
	i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("there is no step %s", id)
	}
	return i
}

// reaches reports whether a step waits for another one, through others perhaps.
func reaches(p plan.Plan, step, need int) bool {
	return step == need || slices.ContainsFunc(p.Steps[step].Needs, func(n int) bool { return reaches(p, n, need) })
}
