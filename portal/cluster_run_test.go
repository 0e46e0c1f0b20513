package portal

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/plan"
	"muster/app/run"
	"muster/app/template"
)

// fakeRuns is a Muster on whose clusters commands were run.
type fakeRuns struct {
	view run.View
	ask  run.Ask

	schedules []run.ActionSchedule
}

func (k *fakeRuns) RunCommand(_ context.Context, _ app.Actor, _ string, ask run.Ask) (cluster.UpdateAnswer, error) {
	k.ask = ask
	return cluster.UpdateAnswer{}, app.Errorf(app.EConflict, "Not now.")
}

func (k *fakeRuns) Run(_ context.Context, _ app.Actor, _ string, operation int64) (run.View, error) {
	if operation != k.view.Operation.ID {
		return run.View{}, &app.Error{Code: app.ENotFound, Reason: plan.NoRun, Message: "No command."}
	}
	return k.view, nil
}

func (k *fakeRuns) ActionSchedules(context.Context, app.Actor, string) ([]run.ActionSchedule, error) {
	return k.schedules, nil
}

func (k *fakeRuns) CreateActionSchedule(_ context.Context, a app.Actor, _ string, n run.NewSchedule) (run.ActionSchedule, error) {
	if n.Every == "1m" {
		return run.ActionSchedule{}, &app.Error{Code: app.EInvalid, Field: "every", Message: "Too often."}
	}
	s := run.ActionSchedule{Name: n.Name, Action: n.Action, Parameters: n.Parameters, Every: n.Every, Zone: n.Zone, CreatedBy: a.User, Next: time.Unix(2e9, 0)}
	k.schedules = append(k.schedules, s)
	return s, nil
}

func (k *fakeRuns) PauseActionSchedule(_ context.Context, _ app.Actor, _, name string, pause bool) (run.ActionSchedule, error) {
	k.schedules[0].Paused = pause
	return k.schedules[0], nil
}

func (k *fakeRuns) DeleteActionSchedule(context.Context, app.Actor, string, string) error {
	k.schedules = nil
	return nil
}

func (k *fakeRuns) Actions(context.Context, app.Actor, string) ([]run.Action, error) {
	return []run.Action{
		{SavedAction: template.SavedAction{Name: "backup", Parameters: []template.Parameter{{Name: "keep",
			Type: template.ParameterInteger}}, Description: "Copies <b>all.", On: []string{"service=db"}}, Title: "Back up", May: true},
		{SavedAction: template.SavedAction{Name: "wipe", Who: template.ActionAdmins}, Title: "Wipe"}}, nil
}

// The page shows a command with its exit codes, and offers to run it again; the page of actions has those that one may run.
func TestRunsAreShown(t *testing.T) {
	at := time.Date(2030, 1, 1, 8, 0, 0, 0, time.UTC)
	k := &fakeRuns{view: run.View{Operation: app.Operation{ID: 7, Kind: app.OperationRun, Status: app.OperationFailed, Requester: "ada", CreatedAt: at},
		Run: plan.Run{Command: "echo <b>hi"}, Exit: 3, Results: []plan.RunResult{
			{Node: "n1", State: app.StepSucceeded, StartedAt: at, EndedAt: at.Add(2 * time.Second)}, {Node: "n2",
				State: app.StepFailed, Exit: 3, Error: "exit code 3", Cut: true},
			{Node: "n3", State: app.StepFailed, Exit: plan.NoExit, Error: "No answer from n3."}, {Node: "n4", State: app.StepWaiting, Exit: plan.NoExit}}}}
	s := visit(t, func(c *Config) {
		f := fakeOf(c)
		c.UseCases = useCases(f, k, newFakeQuotas(f))
	})
	s.signIn("ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.get("/clusters/"+id+"/runs/7").reads(http.StatusOK, "echo <b>hi", "1 of 4", "Exit code 3", "No answer from n3.", "Waiting", "Run on failed nodes", "Run again", "Run by ada")
	if n := strings.Count(s.get("/clusters/"+id+"/runs/7").text(), "Some lines are missing"); n != 1 {
		t.Errorf("that output was cut is said of %d nodes", n)
	}
	s.f.mu.Lock()
	for i := range 3100 {
		s.f.say(id, app.Step{Operation: 7, ID: "n2.run", Node: "n2", Attempt: 1}, family.StreamOut, fmt.Sprint("line ", i))
	}
	s.f.mu.Unlock()
	s.get("/clusters/"+id+"/runs/7").reads(http.StatusOK, "These are the last 3,000 lines of all nodes.",
		"Its lines aren't among the last ones. View log of n1")
	if at := s.get("/clusters/" + id + "/runs/7").links()["Run on failed nodes"]; at != "/clusters/"+id+"/change?again=7&failed=yes&kind=run" {
		t.Errorf("running it again on failed nodes is at %q", at)
	}
	if r := s.get("/clusters/" + id + "/runs/8"); r.status != http.StatusSeeOther {
		t.Errorf("another operation answers %d", r.status)
	}
	s.get("/clusters/"+id+"/runs/x").reads(http.StatusNotFound, "doesn't exist")
	s.get("/clusters/"+id+"/actions").reads(http.StatusOK, "Back up", "Copies <b>all.", "on nodes with service=db", "Run action", "For admins", "Run command")
	s.call("POST", "/clusters/"+id+"/runs", `{"action":"backup","parameters":{"keep":3},"on":["node=n1"],"batch":2,"timeout":"5m"}`)
	if k.ask.Action != "backup" || k.ask.Batch != 2 || k.ask.Timeout != "5m" || len(k.ask.On) != 1 || k.ask.Parameters["keep"] == nil {
		t.Errorf("asked for %+v", k.ask)
	}
}

// A command on more nodes than an address could name runs again on those that are left of them, or on those where it failed, and never on all
// because they're many.
func TestACommandIsRunAgain(t *testing.T) {
	k := &fakeRuns{view: run.View{Operation: app.Operation{ID: 7, Kind: app.OperationRun, Status: app.OperationFailed},
		Run: plan.Run{Command: "echo <b>hi", Timeout: 24 * time.Hour}}}
	for i := range 60 {
		r := plan.RunResult{Node: fmt.Sprintf("n%d", i+2), State: app.StepSucceeded}
		if i >= 3 {
			r.State = app.StepFailed
		}
		k.view.Results = append(k.view.Results, r)
	}
	s := visit(t, func(c *Config) {
		f := fakeOf(c)
		c.UseCases = useCases(f, k, newFakeQuotas(f))
	})
	s.signIn("ada")
	id := s.cluster(ada, "lake", "hadoop", 50)
	s.rest(id)
	at := "/clusters/" + id + "/change?kind=run&again="
	chosen := func(query string) []string {
		t.Helper()
		page := s.get(at + query)
		page.reads(http.StatusOK, "echo <b>hi")
		in := page.fields()
		if in.Get("timeout") != "24h" {
			t.Errorf("the form has %v", in)
		}
		return in["nodes"]
	}
	if nodes := chosen("7"); len(nodes) != 49 || slices.Contains(nodes, "n1") || slices.Contains(nodes, "n51") {
		t.Errorf("it runs again on %v", nodes)
	}
	if nodes := chosen("7&failed=yes"); len(nodes) != 46 || slices.Contains(nodes, "n4") {
		t.Errorf("it runs again on %v where it failed", nodes)
	}
	for _, number := range []string{"8", "x", "-1", "99999999999999999999"} {
		if r := s.get(at + number); r.status != http.StatusNotFound {
			t.Errorf("operation %s, which runs no command, answers %d", number, r.status)
		}
	}
	k.view.Results = k.view.Results[55:] // on nodes that are gone
	s.get(at+"7").reads(http.StatusConflict, "none of its nodes is left in the cluster")

	k.view.Run = plan.Run{Command: "x", Action: "backup", Parameters: map[string]any{"keep": "3"}}
	k.view.Results = []plan.RunResult{{Node: "n2", State: app.StepSucceeded}}
	if in := s.get(at + "7").fields(); in.Get("action") != "backup" || in.Get("set-keep") != "3" || in.Get("nodes") != "n2" || in.Has("command") {
		t.Errorf("the form of the action has %v", in)
	}
}

// Actions are scheduled, paused, resumed and deleted on their page; what can't be is said where it was typed.
func TestActionsAreScheduled(t *testing.T) {
	k := &fakeRuns{}
	s := visit(t, func(c *Config) {
		f := fakeOf(c)
		c.UseCases = useCases(f, k, newFakeQuotas(f))
	})
	s.signIn("ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	at := "/clusters/" + id + "/action-schedules"
	in := url.Values{"action": {"backup"}, "name": {"nightly"}, "every": {"1m"}, "zone": {"Europe/Berlin"}, "set-keep": {"3"}}
	r := s.post(at, in)
	r.reads(http.StatusUnprocessableEntity, "Too often.")
	if !strings.Contains(r.body, `value="nightly"`) || !strings.Contains(r.body, `value="3"`) {
		t.Error("what was typed is lost")
	}
	in.Set("every", "0 3 * * *")
	if r := s.post(at, in); r.status != http.StatusSeeOther || len(k.schedules) != 1 || k.schedules[0].Parameters["keep"] != "3" {
		t.Fatalf("creating one answers %d: %+v", r.status, k.schedules)
	}
	s.get("/clusters/"+id+"/actions").reads(http.StatusOK, "nightly", "every 0 3 * * * (Europe/Berlin)", "as ada", "Pause schedule", "Delete schedule")
	s.post(at+"/nightly/pause", url.Values{})
	s.get("/clusters/"+id+"/actions").reads(http.StatusOK, "Paused", "Resume schedule")
	s.post(at+"/nightly/delete", url.Values{})
	s.get("/clusters/" + id + "/actions").lacks("nightly")
}
