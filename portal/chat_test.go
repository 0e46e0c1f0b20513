package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/chat"
)

// fakeWorkspaces are workspaces in memory.
type fakeWorkspaces struct {
	settings chat.Settings
	asked    []string
}

func (f *fakeWorkspaces) note(what string, a app.Actor, err error) error {
	if !a.May("SetApprovals") {
		return app.Errorf(app.EForbidden, "Only admins can manage Slack.")
	}
	f.asked = append(f.asked, what)
	return err
}

func (f *fakeWorkspaces) ChatSettings(_ context.Context, a app.Actor, _ string) (chat.Settings, error) {
	if !a.May("ChatSettings") {
		return chat.Settings{}, app.Errorf(app.EForbidden, "Only admins can manage Slack.")
	}
	return f.settings, nil
}

func (f *fakeWorkspaces) StartChatInstall(_ context.Context, a app.Actor) (string, error) {
	return "the-state", f.note("start", a, nil)
}

func (f *fakeWorkspaces) InstallChat(ctx context.Context, a app.Actor, state string, exchange func(ctx context.Context) (chat.Workspace, chat.ChatTokens, error)) (chat.Workspace, error) {
	if state != "the-state" {
		return chat.Workspace{}, app.Errorf(app.ENotFound, "You didn't start this installation here.")
	}
	w, t, err := exchange(ctx)
	return w, f.note("installed "+w.Team+" "+t.Access, a, err)
}

func (f *fakeWorkspaces) ChangeWorkspace(_ context.Context, a app.Actor, _, team string, email bool) (chat.Workspace, error) {
	return chat.Workspace{Team: team, Email: email}, f.note("email "+team+map[bool]string{true: " on", false: " off"}[email], a, nil)
}

func (f *fakeWorkspaces) RemoveWorkspace(_ context.Context, a app.Actor, _, team string) error {
	return f.note("remove "+team, a, nil)
}

func (f *fakeWorkspaces) UseChannel(_ context.Context, a app.Actor, c chat.Channel) (chat.Channel, error) {
	if !strings.HasPrefix(c.Channel, "C") {
		return c, &app.Error{Code: app.EInvalid, Field: "channel", Message: "That is not the id of a channel."}
	}
	c.Host = "root"
	return c, f.note("use "+c.Team+" "+c.Channel+" "+c.Tenant, a, nil)
}

func (f *fakeWorkspaces) ResetChannel(_ context.Context, a app.Actor, _, team, channel string) error {
	return f.note("reset "+team+" "+channel, a, nil)
}

func (f *fakeWorkspaces) SetApprovals(_ context.Context, a app.Actor, p chat.Approvals) error {
	return f.note("approvals "+p.Team+" "+p.Channel, a, nil)
}

// fakeSlack is a fake Slack for installation.
type fakeSlack struct{}

func (fakeSlack) Installs() bool { return true }

func (fakeSlack) InstallURL(state string) string {
	return "https://slack.com/oauth/v2/authorize?state=" + state
}

func (fakeSlack) Exchange(_ context.Context, code string) (chat.Workspace, chat.ChatTokens, error) {
	if code != "good" {
		return chat.Workspace{}, chat.ChatTokens{}, app.Errorf(app.EInvalid, "Slack does not take what it sent.")
	}
	return chat.Workspace{Kind: "slack", Team: "T1", Name: "acme"}, chat.ChatTokens{Access: "xoxb-1"}, nil
}

func chatAt(t *testing.T, user string) (*testSite, *fakeWorkspaces) {
	t.Helper()
	f := &fakeWorkspaces{}
	s := visit(t, func(c *Config) {
		c.UseCases, c.Chat = useCases(fakeOf(c), f), fakeSlack{}
	})
	now := s.clock.now()
	f.settings = chat.Settings{Approvals: &chat.Approvals{Team: "T1", Channel: "C77"}, Links: []chat.Connection{{Server: "s1", State: "connected", Since: now.Add(-time.Hour)}},
		Workspaces: []chat.Workspace{
			{Kind: "slack", Team: "T1", Name: "acme <b>", Tenant: "default", State: chat.StateConnected, ExpiresAt: now.Add(9 * time.Hour), Health: chat.Health{EventAt: now.Add(-5 * time.Minute), Calls: 7, CallsAt: now},
				Channels: []chat.Channel{{Team: "T1", Channel: "C5", Name: "lent", Tenant: "blue", Host: "root"}}},
			{Kind: "slack", Team: "T2", Name: "old", Tenant: "default", State: chat.StateBroken, Problem: "The token couldn't be refreshed."}}}
	s.signIn(user)
	return s, f
}

func TestSlackPage(t *testing.T) {
	s, f := chatAt(t, "root")
	s.get("/admin").reads(http.StatusOK, "Slack Workspaces, channels")
	s.get("/admin/slack").reads(http.StatusOK, "acme <b> connected", "Last event 5 min ago", "API calls 7/min", "Token renewed within 9 h", "C5 (lent)", "waiting for an admin of blue",
		"old reinstall required", "The token couldn't be refreshed.", "server s1, for", "Install in workspace")
	a := s.get("/slack/install")
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "https://slack.com/oauth/v2/authorize?state=the-state" {
		t.Errorf("an admin is sent to %d %s", a.status, a.header.Get("Location"))
	}
	s.get("/slack/oauth?state=other&code=good").reads(http.StatusNotFound, "You didn't start")
	s.get("/slack/oauth?state=the-state&code=bad").reads(http.StatusUnprocessableEntity, "Slack does not take")
	s.get("/slack/oauth?error=access_denied&state=the-state").reads(http.StatusUnprocessableEntity, "the request was denied in Slack")
	if a := s.get("/slack/oauth?state=the-state&code=good"); a.status != http.StatusSeeOther || a.header.Get("Location") != "/admin/slack" {
		t.Errorf("back from Slack: %d %s", a.status, a.header.Get("Location"))
	}
	s.get("/admin/slack").reads(http.StatusOK, "Muster installed in acme.")
	for path, form := range map[string]url.Values{
		"/admin/slack/T1/email-on":    nil,
		"/admin/slack/T1/email-off":   nil,
		"/admin/slack/T2/remove":      nil,
		"/admin/slack/channels":       {"team": {"T1"}, "channel": {" C9 "}, "tenant": {"blue"}},
		"/admin/slack/channels/reset": {"team": {"T1"}, "channel": {"C5"}},
		"/admin/slack/approvals":      {"team": {"T1"}, "channel": {"C8"}},
	} {
		if a := s.post(path, form); a.status != http.StatusSeeOther {
			t.Errorf("%s answers %d %s", path, a.status, a.text())
		}
	}
	all := strings.Join(f.asked, ", ")
	for _, want := range []string{"start", "installed T1 xoxb-1", "email T1 on", "email T1 off", "remove T2", "use T1 C9 blue", "reset T1 C5", "approvals T1 C8"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q was not asked for: %s", want, all)
		}
	}
	// An error is shown beside the form, which keeps its input.
	a = s.post("/admin/slack/channels", url.Values{"team": {"T1"}, "channel": {"general"}, "tenant": {"blue"}})
	a.reads(http.StatusUnprocessableEntity, "That is not the id of a channel.")
	if !strings.Contains(a.body, `value="general"`) {
		t.Error("what was typed is lost")
	}
	if strings.Contains(a.body, "xoxb") {
		t.Error("a token is on the page")
	}
}

func TestSlackPageIsForAdmins(t *testing.T) {
	s, f := chatAt(t, "ada")
	for _, path := range []string{"/admin/slack", "/slack/install", "/slack/oauth?state=the-state&code=good"} {
		if a := s.get(path); a.status != http.StatusForbidden {
			t.Errorf("%s answers %d", path, a.status)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("the change was made: %v", f.asked)
	}
}
