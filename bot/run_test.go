package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/run"
	"muster/app/template"
)

// someActions has one with parameters of several kinds, one that requires approval, and one that ada may not run.
func someActions() []run.Action {
	return []run.Action{
		{Title: "Back up", May: true, SavedAction: template.SavedAction{Name: "backup", Label: "Back up", Description: "Copies the database <!channel>.",
			On: []string{"service=db"},
			Parameters: []template.Parameter{
				{Name: "keep", Label: "Backups to keep", Type: template.ParameterInteger, Required: true, Min: "1", Max: "30"},
				{Name: "mode", Type: template.ParameterChoice, Default: "fast", Options: []template.ParameterOption{{Value: "fast"}, {Value: "safe"}}},
				{Name: "full", Type: template.ParameterBoolean}}}},
		{Title: "Rotate", May: true, SavedAction: template.SavedAction{Name: "rotate", Approval: true}},
		{Title: "Wipe", SavedAction: template.SavedAction{Name: "wipe", Who: template.ActionAdmins}},
	}
}

func (s *stub) Actions(context.Context, app.Actor, string) ([]run.Action, error) {
	return s.actions, nil
}

// previewRun returns another plan for other values or nodes, as a planner does.
func (s *stub) previewRun(m cluster.Update) (p cluster.UpdatePreview, err error) {
	var a template.SavedAction
	for _, one := range s.actions {
		if one.Name == m.Action {
			a = one.SavedAction
		}
	}
	r := &plan.Run{Action: m.Action}
	if r.Parameters, err = a.Values(m.Parameters); err != nil {
		return p, err
	}
	if len(m.Nodes) == 1 && m.Nodes[0] == "n3" {
		return p, &app.Error{Code: app.EInvalid, Field: "nodes", Message: "No node is selected.", Hint: "Choose other nodes."}
	}
	p = cluster.UpdatePreview{Kind: m.Kind, PlanHash: fmt.Sprint(s.hash, r.Values(), m.Nodes), Plan: plan.Plan{Run: r},
		Nodes: []cluster.UpdatedNode{{Name: "n1", Runs: true}, {Name: "n2", Runs: len(m.Nodes) == 0}, {Name: "n3"}}}
	if a.Approval {
		p.Decision = &policy.Decision{Outcome: policy.OutcomeApprove, Needs: []policy.RequiredApproval{{Approval: policy.Approval{Count: 1, Role: app.RoleApprover}}}}
	}
	return p, nil
}

func (s *stub) Run(_ context.Context, _ app.Actor, _ string, operation int64) (run.View, error) {
	v := run.View{Run: plan.Run{Action: "backup", Parameters: map[string]any{"keep": float64(7), "mode": "safe", "full": true}},
		Results: []plan.RunResult{{Node: "n1", State: app.StepSucceeded}, {Node: "n2", State: app.StepFailed, Exit: 3}}}
	if s.lone {
		v.Results = v.Results[1:]
	}
	return v, s.refuse
}

func (s *stub) CancelOperation(_ context.Context, _ app.Actor, _ string, operation int64, _ bool) (cluster.View, error) {
	s.stopped = append(s.stopped, operation)
	return view("shop"), s.refuse
}

func buttonNames(a Answer) string {
	var names []string
	for _, b := range a.Buttons {
		names = append(names, b.Name)
	}
	return strings.Join(names, "; ")
}

func TestActionsAreOfferedToThoseWhoMayRunThem(t *testing.T) {
	for _, c := range []struct {
		name         string
		set          func(*stub)
		status, list string
	}{
		{"who may", func(*stub) {}, "Run action…", "Run backup…; Run rotate…"},
		{"only what others may", func(s *stub) { s.actions = s.actions[2:] }, "", ""},
		{"a template without", func(s *stub) { s.actions = []run.Action{} }, "", ""},
		{"a viewer", func(s *stub) { s.actor.Role = app.RoleViewer }, "", ""},
		{"a cluster that is asleep", func(s *stub) { s.status = app.ClusterAsleep }, "", ""},
	} {
		b, s := talk(t)
		c.set(s)
		if got := buttonNames(b.Say(t.Context(), ada, "status shop")); got != c.status {
			t.Errorf("%s: the cluster offers %q, want %q", c.name, got, c.status)
		}
		if got := buttonNames(b.Say(t.Context(), ada, "actions shop")); got != c.list {
			t.Errorf("%s: the list offers %q, want %q", c.name, got, c.list)
		}
	}
}

func TestActionInOneLine(t *testing.T) {
	b, s := talk(t)
	a := b.Say(t.Context(), ada, "run shop backup keep=7 mode=safe")
	if len(s.updated) != 0 || a.Title != "shop: Run action backup on n1 and n2" || buttonNames(a) != "Run action" {
		t.Fatalf("it is answered %+v", a)
	}
	done := b.Press(t.Context(), ada, a.Buttons[0].Value)
	if len(s.updated) != 1 || len(done.Started) != 1 || done.Title != "shop: running action backup" ||
		done.Links[0].URL != "https://m.test/clusters/shop-7/runs/41" {
		t.Fatalf("after the button: %+v, %+v", s.updated, done)
	}
	m := s.updated[0]
	if m.Kind != app.OperationRun || m.Action != "backup" || m.Parameters["keep"] != "7" || m.Parameters["mode"] != "safe" || len(m.Parameters) != 2 ||
		m.PlanHash != "h1keep=7, mode=safe[]" {
		t.Errorf("what is run is not what was shown: %+v", m)
	}
	// Pressed twice: the second time, what was shown is done.
	s.later = true
	if again := b.Press(t.Context(), ada, a.Buttons[0].Value); !again.Wrong || len(s.updated) != 1 || !strings.Contains(again.text(), "so nothing was run") {
		t.Errorf("pressed again: %+v", again)
	}
	s.later = false
	long := "run shop backup keep=7 mode=" + strings.Repeat("x", 1900)
	if a = b.Say(t.Context(), ada, long); !a.Wrong || len(s.updated) != 1 {
		t.Errorf("a long value is answered %+v", a)
	}
}

func TestActionByForm(t *testing.T) {
	b, s := talk(t)
	status := b.Say(t.Context(), ada, "status shop")
	opened := b.Press(t.Context(), ada, status.Buttons[0].Value)
	if !opened.Beside || opened.Modal == nil || opened.Modal.Submit != "Continue" {
		t.Fatalf("the button is answered %+v", opened)
	}
	if got := b.Submit(t.Context(), ada, opened.Modal.asForm(nil)); got.Modal == nil || !strings.Contains(got.Modal.text(), "Choose an action first.") {
		t.Errorf("without an action: %+v", got)
	}
	m := b.Fill(t.Context(), ada, opened.Modal.asForm(map[string]string{"action": "=backup"}))
	if f := fieldOf(t, m, "p:keep"); m.Submit != "Run action" || f.Kind != FieldNumber || *f.Max != 30 || f.Optional ||
		!strings.Contains(m.text(), "Fill in the fields above") {
		t.Fatalf("the form is %+v", m)
	}
	if f := fieldOf(t, m, "action"); len(f.Choices) != 2 {
		t.Errorf("what others may run is offered: %+v", f.Choices)
	}
	wrong := b.Submit(t.Context(), ada, m.asForm(map[string]string{"p:keep": "99"}))
	if len(wrong.Errors) != 1 || !strings.Contains(wrong.Errors[fieldOf(t, m, "p:keep").Name], "is more than 30") ||
		fieldOf(t, *wrong.Late, "p:keep").Values[0] != "99" {
		t.Errorf("a wrong value: %+v", wrong)
	}
	form := map[string]string{"p:keep": "7", "nodes": "=n3"}
	if wrong = b.Submit(t.Context(), ada, m.asForm(form)); len(wrong.Errors) != 1 ||
		!strings.Contains(wrong.Errors[fieldOf(t, m, "nodes").Name], "No node is selected.") {
		t.Errorf("a node that the action isn't for: %+v", wrong)
	}
	// Someone who presses the button before they see the preview sees it first.
	form["nodes"] = "=n1"
	again := b.Submit(t.Context(), ada, m.asForm(form))
	if again.Modal == nil || len(s.updated) != 0 || !strings.Contains(again.Modal.text(), "Runs on 1 node: n1.\nWith full=false, keep=7, mode=fast.") {
		t.Fatalf("unseen: %+v", again)
	}
	done := b.Submit(t.Context(), ada, again.Modal.asForm(nil))
	if done.Answer == nil || len(done.Answer.Started) != 1 || done.Answer.Title != "shop: running action backup" {
		t.Fatalf("submitted: %+v", done)
	}
	u := s.updated[0]
	if u.Action != "backup" || u.Parameters["keep"] != "7" || u.Parameters["full"] != "false" || len(u.Nodes) != 1 || u.Nodes[0] != "n1" || u.PlanHash == "" {
		t.Errorf("what is run: %+v", u)
	}

	s.later = true
	if d := b.Submit(t.Context(), ada, again.Modal.asForm(nil)); d.Modal == nil || len(s.updated) != 1 || !strings.Contains(d.Modal.text(), "Another operation was started") {
		t.Errorf("submitted again: %+v", d)
	}
	s.later = false
	s.refuse = &app.Error{Code: app.EConflict, Message: "Another operation is running."}
	if d := b.Submit(t.Context(), ada, again.Modal.asForm(nil)); d.Modal == nil || !strings.Contains(d.Modal.text(), "⚠ Another operation is running.") {
		t.Errorf("refused: %+v", d)
	}
	s.refuse = &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan changed."}
	if d := b.Submit(t.Context(), ada, again.Modal.asForm(nil)); d.Modal == nil || !strings.Contains(d.Modal.text(), "Nothing was run: the cluster changed") {
		t.Errorf("a plan that changed meanwhile: %+v", d)
	}
	s.hash = "h2"
	if d := b.Submit(t.Context(), ada, again.Modal.asForm(nil)); d.Modal == nil || !strings.Contains(d.Modal.text(), "Review the preview below") {
		t.Errorf("a plan that changed: %+v", d)
	}
}

func TestActionsThatRequireApproval(t *testing.T) {
	b, s := talk(t)
	m := b.Say(t.Context(), ada, "run shop").Modal
	filled := b.Fill(t.Context(), ada, m.asForm(map[string]string{"action": "=rotate"}))
	if filled.Submit != "Request approval" || !strings.Contains(filled.text(), "1 approval from") {
		t.Fatalf("the form is %+v", filled)
	}
	s.request = &cluster.Request{ID: 12, Tenant: "default", Kind: app.OperationRun, Requester: "ada", Status: cluster.RequestWaiting,
		Cluster: "shop-7", Facts: policy.Input{Name: "shop"},
		Terms: cluster.Terms{Updated: &cluster.UpdateTerms{Title: "Run action rotate on n1", Update: cluster.Update{Kind: app.OperationRun, Action: "rotate"},
			Changes: []app.ValueChange{{Path: "actions.rotate", After: "the script"}, {Path: "parameters.key", After: "the value"}}}}}
	done := b.Submit(t.Context(), ada, filled.asForm(nil))
	if done.Answer == nil || len(done.Answer.Pending) != 1 || done.Answer.Title != "Request 12 is waiting for approval" ||
		done.Answer.Links[0].URL != "https://m.test/requests/12" ||
		!strings.Contains(done.Answer.text(), "ada wants to run action rotate on shop\nRun action rotate on n1") {
		t.Errorf("submitted: %+v", done.Answer)
	}
	card := b.voice.approvalCard(*s.request, "https://m.test/requests/12")
	send(card)
	if text := card.text(); strings.Contains(text, "the script") || strings.Contains(text, "the value") ||
		!strings.Contains(text, "To see its script and values, open the request") {
		t.Errorf("the approvers' channel is shown %s", text)
	}
	// Those who decide see what they decide on, as much as there is room for.
	s.actor, s.request.Approvals = app.Actor{Tenant: "default", User: "bob", Role: app.RoleApprover},
		[]policy.RequiredApproval{{Approval: policy.Approval{Count: 1, Role: app.RoleApprover}}}
	s.request.Terms.Updated.Changes[0].After = "the script\n" + strings.Repeat("echo ``` <!channel>\n", 800)
	for _, a := range []Answer{b.Press(t.Context(), ada, card.Buttons[0].Value), b.Say(t.Context(), ada, "approve 12")} {
		text, log := a.text(), a.Log
		if a.Modal != nil {
			text, log = a.Modal.text(), a.Modal.Parts[0].Log
		}
		if !strings.Contains(text, "With key=the value") || log[0] != "the script" || log[len(log)-1] != "The rest is in the portal." || len(log) > 200 {
			t.Errorf("who decides is shown %s\n%s", text, log)
		}
	}
}

func TestCardsOfActions(t *testing.T) {
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	p := chat.Progress{Cluster: app.Cluster{ID: "shop-7", Name: "shop", Owner: "bob", Status: app.ClusterActive},
		Operation: app.Operation{ID: 41, Kind: app.OperationRun, Requester: "ada", Status: app.OperationRunning, StartedAt: at},
		Run: &chat.Run{Action: "backup", Results: []plan.RunResult{{Node: "n1", State: app.StepSucceeded, Exit: 0},
			{Node: "n2", State: app.StepRunning, Exit: plan.NoExit},
			{Node: "n3", State: app.StepReady, Exit: plan.NoExit}}}}
	card := func() string {
		c := NewCard(p, "https://m.test/clusters/shop-7/runs/41", at.Add(time.Minute))
		send(c)
		text := c.Title + "\n" + c.Bar + "\n" + strings.Join(c.Lines, "\n")
		for _, b := range c.Buttons {
			text += "\n[" + b.Name + "]"
		}
		return text
	}
	for _, c := range []struct {
		name string
		set  func()
		want string
	}{
		{"running", func() {}, "shop: running action backup\n██████░░░░░░░░░░░░░░ 1 of 3 nodes\nRun by ada on n1, n2 and n3\n1 succeeded, 2 unfinished\n[Cancel action]"},
		{"cancelling", func() { p.Operation.Status = app.OperationCancelling },
			"shop: cancelling action backup\n██████░░░░░░░░░░░░░░ 1 of 3 nodes\nRun by ada on n1, n2 and n3\n1 succeeded, 2 unfinished"},
		{"failed", func() {
			p.Operation.Status, p.Operation.EndedAt = app.OperationFailed, at.Add(time.Minute)
			p.Run.Results[1] = plan.RunResult{Node: "n2", State: app.StepFailed, Exit: 3}
			p.Run.Results[2] = plan.RunResult{Node: "n3", State: app.StepFailed, Exit: plan.NoExit, Error: "no route to host"}
		}, "shop: action backup failed on 2 of 3 nodes\n████████████████████ 3 of 3 nodes\nRun by ada on n1, n2 and n3\n1 succeeded, 2 failed\n✗ n2: exit code 3\n✗ n3: no route to host\nTook 1 min.\n[Run on failed nodes…]\n[Run again…]\n[View log]"},
		{"of a command", func() { p.Run = &chat.Run{Results: p.Run.Results[:1]}; p.Operation.Status = app.OperationSucceeded },
			"shop: command succeeded\n████████████████████ 1 of 1 node\nRun by ada on n1\n1 succeeded\nTook 1 min."},
	} {
		if c.set(); card() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, card(), c.want)
		}
	}
	p.Operation.Status = app.OperationFailed
	for i := range 500 {
		p.Run.Results = append(p.Run.Results, plan.RunResult{Node: fmt.Sprint("n", i+2), State: app.StepFailed, Exit: 1})
	}
	p.Lines = []string{strings.Repeat("``` <!channel> ", 300)}
	if got := card(); strings.Count(got, "✗") != maxFailedNodes || !strings.Contains(got, "490 more failed nodes in the portal.") {
		t.Errorf("of many nodes:\n%s", got)
	}
}

func TestActionsAreRunAgain(t *testing.T) {
	b, s := talk(t)
	p := chat.Progress{Cluster: app.Cluster{ID: "shop-7", Name: "shop"}, Operation: app.Operation{ID: 41, Kind: app.OperationRun, Status: app.OperationFailed},
		Run: &chat.Run{Action: "backup", Results: []plan.RunResult{{Node: "n1", State: app.StepSucceeded}, {Node: "n2", State: app.StepFailed}}}}
	c := NewCard(p, "u", time.Now())
	for i, want := range []string{"=n2", "=n1 =n2"} {
		a := b.Press(t.Context(), ada, c.Buttons[i].Value)
		if !a.Beside || a.Modal == nil {
			t.Fatalf("%s is answered %+v", c.Buttons[i].Name, a)
		}
		m := *a.Modal
		if got := strings.Join(fieldOf(t, m, "nodes").Values, " "); got != want || fieldOf(t, m, "p:keep").Values[0] != "7" || fieldOf(t, m, "p:mode").Values[0] != "=safe" ||
			fieldOf(t, m, "p:full").Values[0] != "=true" || !strings.Contains(m.text(), "With full=true, keep=7, mode=safe.") {
			t.Errorf("%s: the nodes are %q in %+v", c.Buttons[i].Name, got, m)
		}
	}
	s.gone = true
	if a := b.Press(t.Context(), ada, c.Buttons[0].Value); a.Modal != nil || !strings.Contains(a.text(), "The nodes of that run can't be chosen here") {
		t.Errorf("of nodes that are gone: %+v", a)
	}
	// Of a run on a node that is gone, none can be chosen, which would mean all others.
	s.lone, p.Run.Results = true, p.Run.Results[1:]
	if a := b.Press(t.Context(), ada, NewCard(p, "u", time.Now()).Buttons[0].Value); a.Modal != nil || !strings.Contains(a.text(), "The nodes of that run can't be chosen here") {
		t.Errorf("on a node that is gone: %+v", a)
	}
	s.refuse = &app.Error{Code: app.EForbidden, Message: "It belongs to bob."}
	if a := b.Press(t.Context(), ada, c.Buttons[0].Value); !a.Wrong || a.Modal != nil {
		t.Errorf("to who may not see the run: %+v", a)
	}
}

func TestManyOptionsOfAnAction(t *testing.T) {
	b, s := talk(t)
	p := &s.actions[0].Parameters[1]
	for i := range 150 {
		p.Options = append(p.Options, template.ParameterOption{Value: fmt.Sprint("mode-", i)})
	}
	m := b.Say(t.Context(), ada, "run shop backup").Modal
	f := fieldOf(t, *m, "p:mode")
	if !f.Typeahead || len(f.Choices) != 1 {
		t.Fatalf("the field is %+v", f)
	}
	form := m.asForm(nil)
	form.Changed = f.Name
	if list := b.Choices(t.Context(), ada, form, "mode-149"); len(list) != 1 || list[0].Value != "=mode-149" {
		t.Errorf("it offers %+v", list)
	}
}

func TestActionIsCancelled(t *testing.T) {
	b, s := talk(t)
	c := NewCard(chat.Progress{Cluster: app.Cluster{ID: "shop-7", Name: "shop"},
		Operation: app.Operation{ID: 41, Kind: app.OperationRun, Status: app.OperationRunning}, Run: &chat.Run{Action: "backup"}}, "u", time.Now())
	if len(c.Buttons) != 1 || !c.Buttons[0].Danger || c.Buttons[0].Confirm == nil {
		t.Fatalf("the card has %+v", c.Buttons)
	}
	if a := b.Press(t.Context(), ada, c.Buttons[0].Value); !a.Beside || len(s.stopped) != 1 || s.stopped[0] != 41 ||
		!strings.Contains(a.text(), "cancelling the action") {
		t.Errorf("it is answered %+v", a)
	}
	s.refuse = &app.Error{Code: app.EForbidden, Message: "It belongs to bob."}
	if a := b.Press(t.Context(), ada, c.Buttons[0].Value); !a.Wrong || !a.Beside {
		t.Errorf("to who may not: %+v", a)
	}
}

func TestActionsThatFitNoForm(t *testing.T) {
	b, s := talk(t)
	s.actions = s.actions[:1]
	for i := range maxRunFields {
		s.actions[0].Parameters = append(s.actions[0].Parameters, template.Parameter{Name: fmt.Sprint("p", i)})
	}
	if a := b.Say(t.Context(), ada, "run shop backup"); !a.Wrong || !strings.Contains(a.text(), "Run it in the portal") {
		t.Errorf("with %d parameters: %+v", len(s.actions[0].Parameters), a)
	}
}
