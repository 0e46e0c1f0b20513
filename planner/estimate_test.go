package planner

import (
	"reflect"
	"testing"
	"time"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

func learned(d time.Duration, runs int) plan.DurationStats {
	var p plan.DurationStats
	for range runs {
		p = p.Add(plan.DurationSample{Duration: d, Attempt: 1})
	}
	return p
}

func withDurations() plan.Request {
	act := &template.ServiceAction{Automator: "shell"}
	return plan.Request{Kind: app.OperationCreate, Tenant: "t1", Provider: "cloud", ProviderType: "fake",
		Nodes: []plan.Node{{Name: "n1", Hardware: "small", Image: "host", Services: []string{"db"}}, {Name: "n2", Hardware: "large", Image: "host", Services: []string{"web"}}},
		Services: map[string]*template.Service{
			"db":  {About: template.About{Name: "db"}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: act, app.ActionStart: act}},
			"web": {About: template.About{Name: "web"}, Runtime: template.Dependencies{Requires: []string{"db"}}, Actions: map[app.Action]*template.ServiceAction{app.ActionStart: act}},
		}}
}

func planOf(t *testing.T, r plan.Request) plan.Plan {
	t.Helper()
	p, err := New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is learned changes how long a plan is said to take and what goes first; neither its steps nor its hash.
func TestDurationsAreLearned(t *testing.T) {
	r := withDurations()
	guessed := planOf(t, r)
	if e := guessed.Expects; e.Runs != 0 || e.Estimated != e.Typical || e.Typical != guessed.Duration() || e.Low >= e.Typical || e.High <= e.Typical {
		t.Errorf("without any knowledge: %+v of %s", e, guessed.Duration())
	}
	r.DurationStats = plan.DurationStatsByKey{}
	for _, k := range guessed.DurationKeys {
		r.DurationStats[k] = learned(2*time.Second, 10)
	}
	install := r.DurationKey(r.Nodes[0], app.ActionInstall, "db", "")
	r.DurationStats[install] = learned(3*time.Minute, 4)
	p := planOf(t, r)
	// n1: create, confirm, bootstrap, install, start; n2: start.
	if want := 2*time.Second*5 + 3*time.Minute; (p.Duration()-want).Abs() > 10*time.Millisecond || p.Duration() != p.Expects.Typical {
		t.Errorf("it takes %s, or %s, want %s", p.Duration(), p.Expects.Typical, want)
	}
	if e := p.Expects; e.Runs != 4 || e.Estimated != 0 || e.Low >= e.Typical || e.High <= e.Typical {
		t.Errorf("%+v", e)
	}
	if p.Hash() != guessed.Hash() {
		t.Error("what was learned changes the hash: what was approved would not run")
	}
	for i, s := range p.Steps {
		g := guessed.Steps[i]
		if s.ID != g.ID || !reflect.DeepEqual(s.Needs, g.Needs) {
			t.Errorf("step %d is %s, without knowledge %s", i, s.ID, g.ID)
		}
		if !s.Join && p.DurationKeys[s.DurationKey-1] != r.DurationKey(*node(r, s.Node), s.Action, s.Service, "") {
			t.Errorf("%s counts as %+v", s.ID, p.DurationKeys[s.DurationKey-1])
		}
		if s.ID == "n1.db.install" && (s.Runs != 4 || (s.Expected-3*time.Minute).Abs() > time.Millisecond) {
			t.Errorf("%+v", s)
		}
	}
	if again := planOf(t, r); !reflect.DeepEqual(again, p) {
		t.Error("the same question has another answer")
	}
}

func node(r plan.Request, name string) *plan.Node {
	for i := range r.Nodes {
		if r.Nodes[i].Name == name {
			return &r.Nodes[i]
		}
	}
	return nil
}

// Where only a part is known, the plan says how much of it is a guess.
func TestGuessesAreDistinguished(t *testing.T) {
	r := withDurations()
	r.DurationStats = plan.DurationStatsByKey{{Action: app.ActionCreate, Type: "fake"}: learned(time.Second, 40)} // by others, on other machines
	p := planOf(t, r)
	if e := p.Expects; e.Runs != 40 || e.Estimated != e.Typical-time.Second {
		t.Errorf("%+v", e)
	}
	r.ProviderType = "other"
	if e := planOf(t, r).Expects; e.Runs != 0 || e.Estimated != e.Typical {
		t.Errorf("machines of another cloud are known by these: %+v", e)
	}
}

func TestHooksHaveKindsOfTheirOwn(t *testing.T) {
	r := withDurations()
	r.Hooks = []template.OperationHook{{Name: "warm", When: template.HookAfter, Script: "true"}}
	first := planOf(t, r)
	r.DurationStats = plan.DurationStatsByKey{r.DurationKey(r.Nodes[0], app.ActionHook, "", "warm"): learned(time.Hour, 3)}
	p := planOf(t, r)
	if p.Duration() < time.Hour || p.Hash() != first.Hash() {
		t.Errorf("the hook of an hour makes it %s", p.Duration())
	}
	r.Hooks[0].Script = "false"
	if p := planOf(t, r); p.Duration() > time.Hour {
		t.Error("another script counts as the same")
	}
}
