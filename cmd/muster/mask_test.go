package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/layout"
)

// What /config hides from someone is hidden in logs, errors, events and messages too, through every door that shows them.
func TestLogsHideWhatConfigHides(t *testing.T) {
	s := crowdedServer(t, "", nil)
	ctx := t.Context()
	const plain, secret, name = "Copperfield Street 9", "hunter2-horse", "masked"
	owner := app.Actor{Tenant: here, User: "bob", Role: app.RoleUser}
	made, err := s.Services.Cluster.Creates.CreateCluster(ctx, owner, cluster.CreateRequest{Name: name, Visibility: app.VisibleTenant, Request: layout.Request{Template: "web", Size: 3},
		Config: map[string]any{"greeting": plain, "db": map[string]any{"password": secret}}})
	if err != nil {
		t.Fatal(err)
	}
	w := app.WorkerID{Name: "w", Tenant: here}
	steps, err := s.Services.Execution.Coordinator.Claim(ctx, w, 1)
	if err != nil || len(steps) != 1 {
		t.Fatal(steps, err)
	}
	f := steps[0].Fence
	if err := s.Services.Execution.Coordinator.Log(ctx, w, []app.LogLine{{At: time.Now(), Operation: f.Operation, Index: f.Index, Attempt: f.Attempt, Step: steps[0].StepID, Node: steps[0].Node.Name, Stream: family.StreamOut,
		Text: "It says " + plain + " and " + secret + ", and nothing else"}}); err != nil {
		t.Fatal(err)
	}
	for len(steps) > 0 {
		for _, as := range steps {
			failed := execution.Report{Fence: as.Fence, Action: as.Action, Err: app.Errorf(app.EScript, "cannot say %s with %s", plain, secret)}
			if done, err := s.Services.Execution.Coordinator.Report(ctx, w, []execution.Report{failed}); err != nil || done[0].Err != nil {
				t.Fatal(done, err)
			}
		}
		if steps, err = s.Services.Execution.Coordinator.Claim(ctx, w, 10); err != nil {
			t.Fatal(err)
		}
	}
	card := chat.Card{Tenant: here, Cluster: made.ID, Operation: f.Operation}
	doors := map[string]func(a app.Actor) (any, error){
		"logs": func(a app.Actor) (any, error) {
			return s.Services.Cluster.Activity.Logs(ctx, a, name, cluster.LogFilter{})
		},
		"search": func(a app.Actor) (any, error) {
			return s.Services.Cluster.Activity.SearchLogs(ctx, a, name, cluster.LogFilter{Text: "nothing else"})
		},
		"steps":    func(a app.Actor) (any, error) { return s.Services.Cluster.Activity.Steps(ctx, a, name, 0) },
		"graph":    func(a app.Actor) (any, error) { return s.Services.Cluster.Activity.StepGraph(ctx, a, name, 0) },
		"events":   func(a app.Actor) (any, error) { return s.Services.Cluster.Activity.Events(ctx, a, name, 0, 0) },
		"cluster":  func(a app.Actor) (any, error) { return s.Services.Cluster.Views.Cluster(ctx, a, name) },
		"clusters": func(a app.Actor) (any, error) { return s.Services.Cluster.Views.Clusters(ctx, a, app.ClusterFilter{}) },
		"page": func(a app.Actor) (any, error) {
			return s.Services.Cluster.Views.ClusterPage(ctx, a, app.ClusterFilter{})
		},
		"waiting": func(a app.Actor) (any, error) {
			return s.Services.Execution.Waits.Waiting(ctx, a, name, execution.WaitingFilter{})
		},
		"home":    func(a app.Actor) (any, error) { return s.Services.Cluster.Dashboard.Home(ctx, a) },
		"notices": func(a app.Actor) (any, error) { return s.Services.Cluster.Dashboard.Notices(ctx, a, 0, 0) },
		"go on": func(a app.Actor) (any, error) {
			p, err := s.Services.Operation.Partials.PreviewAcceptPartial(ctx, a, name, 0, "")
			if err != nil {
				return err.Error(), nil
			}
			return p, nil
		},
		"chat":       func(app.Actor) (any, error) { return s.Services.Chat.Cards.ChatProgress(ctx, card) },
		"chat steps": func(app.Actor) (any, error) { return s.Services.Chat.Cards.ChatSteps(ctx, card) },
	}
	readers := map[string]struct {
		actor app.Actor
		reads bool // the configuration
	}{
		"owner":           {owner, true},
		"admin":           {app.Actor{Tenant: here, User: "ada", Role: app.RoleAdmin}, true},
		"approver":        {app.Actor{Tenant: here, User: "ann", Role: app.RoleApprover}, true},
		"another user":    {app.Actor{Tenant: here, User: "eve", Role: app.RoleUser}, false},
		"viewer":          {app.Actor{Tenant: here, User: "vic", Role: app.RoleViewer}, false},
		"someone's robot": {app.Actor{Tenant: here, User: "bot", Role: app.RoleRobot}, false},
	}
	seen := map[string]int{}
	for who, r := range readers {
		if _, err := s.Services.Cluster.Specs.ClusterConfig(ctx, r.actor, name); (err == nil) != r.reads {
			t.Fatalf("%s and /config: %v", who, err)
		}
		for door, read := range doors {
			got, err := read(r.actor)
			if err != nil {
				t.Errorf("%s, %s: %v", who, door, err)
				continue
			}
			b, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			if strings.Contains(text, secret) {
				t.Errorf("%s, %s: the password is exposed: %s", who, door, text)
			}
			if strings.Contains(text, plain) {
				seen[door]++
				if !r.reads || strings.HasPrefix(door, "chat") {
					t.Errorf("%s, %s: a value of the configuration is exposed: %s", who, door, text)
				}
			}
		}
		if p, err := s.Services.Cluster.Activity.SearchLogs(ctx, r.actor, name, cluster.LogFilter{Text: "copperfield"}); err != nil || (len(p.Lines) > 0) != r.reads {
			t.Errorf("%s finds %d lines by a value: %v", who, len(p.Lines), err)
		}
	}
	for _, door := range []string{"logs", "search", "steps", "graph", "events", "cluster", "clusters", "page", "home"} {
		if seen[door] == 0 {
			t.Errorf("no one sees the value by %s, so the test proves nothing about it", door)
		}
	}
}
