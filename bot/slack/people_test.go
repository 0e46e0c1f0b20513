package slack

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/app/chat"
)

func TestOnlyFullMembersAreAnswered(t *testing.T) {
	for name, c := range map[string]struct{ profile, word string }{
		"a member":                 {``, ""},
		"a guest":                  {`,"is_restricted":true`, "Guests"},
		"a guest of one channel":   {`,"is_ultra_restricted":true`, "Guests"},
		"a bot":                    {`,"is_bot":true`, "Bots"},
		"a workflow":               {`,"is_workflow_bot":true`, "Bots"},
		"who has left":             {`,"deleted":true`, "deactivated"},
		"a stranger":               {`,"is_stranger":true`, "another workspace"},
		"who is of another":        {`,"team_id":"T9"`, "another workspace"},
		"who was invited":          {`,"is_invited_user":true`, "Guests"},
		"of another, within an E":  {`,"team_id":"T9","enterprise_user":{"enterprise_id":"E1"}`, ""},
		"of another, of another E": {`,"team_id":"T9","enterprise_user":{"enterprise_id":"E2"}`, "another workspace"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			defer r.server.Close()
			r.hooks.users = map[string]string{"U1": c.profile}
			_ = r.send(r.ask("/slack/commands", r.command("U1", "help"), time.Now())) // the workspace is known from then on
			h := r.fakeApp.fakeWorkspaces()
			h.mu.Lock()
			w := h.list["T1"]
			w.Enterprise = "E1"
			h.list["T1"] = w
			h.mu.Unlock()
			r.server.dispatcher.people.forgetUser("U1")
			got := r.send(r.ask("/slack/commands", r.command("U1", "create web"), time.Now())).Body.String()
			if c.word == "" && r.fakeApp.created != 1 || c.word != "" && (!strings.Contains(got, c.word) || r.fakeApp.created != 0) {
				t.Errorf("answered %s, %d made", got, r.fakeApp.created)
			}
			// Buttons, too.
			_ = r.send(r.ask("/slack/actions", r.press("U1", `{"do":"delete","cluster":"shop-1"}`), time.Now()))
			_ = r.server.Close()
			if deleted := r.fakeApp.deleted == 1; deleted != (c.word == "") {
				t.Errorf("%d deleted", r.fakeApp.deleted)
			}
		})
	}
}

func TestUserInfoIsCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.server.Close()
		asked := func() int {
			r.hooks.mu.Lock()
			defer r.hooks.mu.Unlock()
			n := 0
			for _, c := range r.hooks.calls {
				if strings.HasPrefix(c, "users.info") {
					n++
				}
			}
			return n
		}
		say := func() string {
			return r.send(r.ask("/slack/commands", r.command("U1", "help"), time.Now())).Body.String()
		}
		for range 3 {
			say()
		}
		if n := asked(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		r.hooks.users = map[string]string{"U1": `,"deleted":true`}
		if got := say(); strings.Contains(got, "deactivated") {
			t.Error("it is not remembered at all")
		}
		event := `{"type":"event_callback","team_id":"T1","event_id":"Ev1","event":{"type":"user_change","user":{"id":"U1","team_id":"T1"}}}`
		if w := r.send(r.ask("/slack/events", event, time.Now())); w.Code != 200 {
			t.Errorf("an event answers %d", w.Code)
		}
		if got := say(); !strings.Contains(got, "deactivated") {
			t.Errorf("after the change: %s", got)
		}
		r.hooks.users = nil
		time.Sleep(peopleKept)
		if got := say(); strings.Contains(got, "deactivated") {
			t.Errorf("after a while: %s", got)
		}
	})
}

func TestLinkingByEmailIsOptional(t *testing.T) {
	r := newRig(t)
	defer r.server.Close()
	profile := func(more string) map[string]string {
		return map[string]string{"U2": `,"profile":{"email":"bob@example.com"}` + more}
	}
	try := func(users map[string]string, want string) {
		t.Helper()
		r.hooks.users = users
		r.server.dispatcher.people.forgetUser("U2")
		_ = r.send(r.ask("/slack/commands", r.command("U2", "list"), time.Now()))
		h := r.fakeApp.fakeWorkspaces()
		h.mu.Lock()
		defer h.mu.Unlock()
		if got := h.linked["T1/U2"]; got != want {
			t.Errorf("%v is linked as %q", users, got)
		}
		clear(h.linked)
	}
	try(profile(`,"is_email_confirmed":true`), "") // it is off
	h := r.fakeApp.fakeWorkspaces()
	h.mu.Lock()
	h.list["T1"] = chat.Workspace{Kind: kind, Team: "T1", Tenant: "default", State: chat.StateConnected, Fixed: true, Email: true}
	h.mu.Unlock()
	try(profile(``), "")
	try(profile(`,"is_email_confirmed":true,"is_restricted":true`), "")
	try(profile(`,"is_email_confirmed":true,"is_stranger":true`), "")
	try(profile(`,"is_email_confirmed":true`), "bob@example.com")
}

func TestDoubleClicksCountOnce(t *testing.T) {
	common := func(a, b string) bool {
		return slices.ContainsFunc(clicks(a, "U1", "v"), func(n string) bool { return slices.Contains(clicks(b, "U1", "v"), n) })
	}
	for at := 1000.0; at < 1030; at += 0.7 {
		text := func(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
		if !common(text(at), text(at+clickTime.Seconds()-0.01)) {
			t.Errorf("two clicks at %v and a moment after are two", at)
		}
		if common(text(at), text(at+3*clickTime.Seconds())) {
			t.Errorf("two clicks at %v and long after are one", at)
		}
	}
	if !common("", "") || !common("NaN", "x") {
		t.Error("without a time two clicks are two")
	}
}
