//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/policy"
	"muster/bot/slack/slacktest"
	"muster/cmd/muster/server"

	"go.yaml.in/yaml/v3"
)

const slackSecret = "the secret by which slack signs"

// manifest returns the app as Slack knows it from the file by which people make it there.
func manifest(t *testing.T) slacktest.Config {
	t.Helper()
	b, err := os.ReadFile("../../deploy/slack/manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Features struct {
			Slash []struct{ Command, URL string } `yaml:"slash_commands"`
		}
		OAuth struct {
			Scopes struct{ Bot []string }
		} `yaml:"oauth_config"`
		Settings struct {
			Interactivity struct {
				RequestURL string `yaml:"request_url"`
				OptionsURL string `yaml:"message_menu_options_url"`
			}
			Events struct {
				RequestURL string   `yaml:"request_url"`
				Bot        []string `yaml:"bot_events"`
			} `yaml:"event_subscriptions"`
		}
	}
	if err := yaml.Unmarshal(b, &m); err != nil || len(m.Features.Slash) != 1 {
		t.Fatalf("the manifest: %v %+v", err, m)
	}
	path := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return u.Path
	}
	c := slacktest.Config{SigningSecret: slackSecret, Command: m.Features.Slash[0].Command, Scopes: m.OAuth.Scopes.Bot, Events: append([]string{}, m.Settings.Events.Bot...),
		CommandPath: path(m.Features.Slash[0].URL), ActionPath: path(m.Settings.Interactivity.RequestURL),
		OptionsPath: path(m.Settings.Interactivity.OptionsURL), EventsPath: path(m.Settings.Events.RequestURL)}
	return c
}

// chatServer is a whole server with a Slack, and with people who have accounts.
type chatServer struct {
	*fleetServer
	slack *slacktest.Slack
	team  *slacktest.Workspace
	ops   *slacktest.Channel

	socket bool
}

func newChatServer(t *testing.T, socket bool) *chatServer {
	t.Helper()
	known := manifest(t)
	known.Socket, known.AppToken = socket, "xapp-story"
	w := &chatServer{slack: slacktest.New(t, known), socket: socket}
	w.team = w.slack.Workspace("T1").Install("xoxb-story")
	w.ops = w.team.Channel("ops")
	w.fleetServer = newFleetServer(t, acting, func(c *server.Config) {
		c.Workers, c.TLS, c.Password = 4, server.TLSConfig{}, "a password for stories"
		c.Slack = server.SlackConfig{Secret: slackSecret, Token: "xoxb-story", Tenant: app.DefaultTenant, Client: &http.Client{Transport: w.slack}}
		if socket {
			c.Slack.Secret, c.Slack.AppToken = "", "xapp-story"
		}
	})
	w.slack.Point(w.server.URL)
	if socket {
		w.slack.Connected(1)
	}
	return w
}

// account makes an account.
func (w *chatServer) account(name string, role app.Role) app.Actor {
	w.Helper()
	if err := w.server.Store.CreateUser(w.Context(), identity.User{Tenant: app.DefaultTenant, Name: name, Role: role, CreatedAt: time.Now()}); err != nil {
		w.Fatal(err)
	}
	// So that cards are shown in channels.
	if err := w.server.Store.SetDefaultVisibility(w.Context(), app.Actor{Tenant: app.DefaultTenant, User: name}, app.VisibleTenant, time.Now()); err != nil {
		w.Fatal(err)
	}
	return app.Actor{Tenant: app.DefaultTenant, User: name, Role: role}
}

// link links someone to an account, as they would by opening the link that they are given.
func (w *chatServer) link(u *slacktest.User, a app.Actor) {
	w.Helper()
	m := u.In(w.ops).Says("/muster link").Answer("Open this link within 10 min")
	_, token, _ := strings.Cut(m.Link("Link account"), "token=")
	if _, err := w.server.Store.UseLink(w.Context(), a, identity.HashToken(token), time.Now()); err != nil {
		w.Fatal(err)
	}
}

// TestSlackStory is what two people do with a cluster in Slack, from the first word to the last: over HTTP, and through a websocket.
func TestSlackStory(t *testing.T) {
	t.Parallel()
	t.Run("HTTP", func(t *testing.T) { slackStory(newChatServer(t, false)) })
	t.Run("socket", func(t *testing.T) {
		if testing.Short() {
			t.Skip("bot/slack tells its stories through websockets too, in less time")
		}
		slackStory(newChatServer(t, true))
	})
}

func slackStory(w *chatServer) {
	t := w.T
	ada, bob, ops := w.team.User("ada"), w.team.User("bob"), w.ops
	ada.In(ops).Says("/muster create web slow 1 for 2h").Answer("/muster link")

	// The person who opens the link and signs in is the requester from then on.
	m := ada.In(ops).Says("/muster link").Answer("Open this link within 10 min")
	_, token, _ := strings.Cut(m.Link("Link account"), "token=")
	session, err := w.server.Services.Identity.SignIns.SignIn(t.Context(), app.DefaultTenant, "admin", "a password for stories", identity.Visit{})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := w.server.Services.Identity.Sessions.ActorOfSession(t.Context(), session.ID, identity.Visit{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.server.Services.Identity.Links.ConfirmLink(t.Context(), admin, token); err != nil {
		t.Fatal(err)
	}
	if _, err := w.server.Services.Identity.Links.ConfirmLink(t.Context(), admin, token); err == nil {
		t.Error("a link works twice")
	}
	w.link(bob, w.account("bob", app.RoleAdmin))
	if _, err := w.server.Services.Policy.Policies.SavePolicy(t.Context(), w.admin(""), policy.Policy{Name: "four-eyes", Order: 1, Enabled: true, When: "nodes > 2", Effect: policy.EffectApprove,
		Reason: "${nodes} nodes are many.", Approval: &policy.Approval{Count: 1, Role: app.RoleAdmin}}); err != nil {
		t.Fatal(err)
	}

	create := ada.In(ops).Says("/muster create web slow 1 for 2h")
	create.Answer("web")
	first := ops.Card("web is active")
	ada.In(ops).Says("/muster status web").Answer("web is active", "1 node")
	ada.In(ops).Says("/muster list").Answer("web", "1 node")
	ada.In(ops).Says("/muster create web slow 1").Answer("That didn't work", "web")
	ada.In(ops).Says("/muster extend web 4h").Answer("Lease of web extended")

	// A bigger one takes four eyes. Who asks cannot say yes.
	resize := ada.In(ops).Says("/muster resize web 3").Answer("Requires 1 approval from admins")
	ada.Press(resize, "Request approval").Answer("is waiting for approval")
	ada.In(ops).Says("/muster approve 2").Answer("Request 2", "You can't approve your own request.")
	look := bob.In(ops).Says("/muster approve 2 fine by me").Answer("Your reason: fine by me")
	bob.Press(look, "Approve request")
	second := ops.Card("web is active", "3 nodes")
	if second == first {
		t.Error("a card tells of two operations")
	}

	// A double click is one click, and so is the same click delivered again.
	ask := ada.In(ops).Says("/muster delete web").Answer("Delete web?")
	press := ada.Press(ask, "Delete cluster")
	again := press.Delivery()
	for i := range 3 {
		if w.socket {
			break
		}
		r := again.Request(time.Now())
		r.Header.Set("X-Slack-Retry-Num", fmt.Sprint(i+1))
		if status, _ := w.slack.Send(r); status != http.StatusOK {
			t.Errorf("a repeated click returns %d", status)
		}
	}
	ops.Card("web was deleted")
	cards := 0
	for _, m := range ops.Messages() {
		if m.Beneath() != "" {
			continue // how the steps have ended
		}
		cards++
		if !m.Says("web is active") && !m.Says("web was deleted") {
			t.Errorf("a card says last\n%s", m.Text())
		}
	}
	if cards != 3 {
		t.Errorf("%d cards for 3 operations\n%s", cards, w.slack.Tell())
	}
	w.until("all cards are done with", func() bool {
		left, err := w.server.Services.Chat.Cards.ChatCards(t.Context(), "slack")
		return err == nil && len(left) == 0
	})
	// All of it is in the audit log, with the interface it came from.
	entries, _, err := w.server.Services.Identity.AuditLog.Audit(t.Context(), admin, app.AuditFilter{Limit: 50})
	if err != nil || !strings.Contains(fmt.Sprint(entries), "slack") {
		t.Errorf("the audit says %+v, %v", entries, err)
	}
}

// TestSlackReplays replays what Slack has said.
func TestSlackReplays(t *testing.T) {
	w := newChatServer(t, false)
	ada, ops := w.team.User("ada"), w.ops
	w.link(ada, w.account("ada", app.RoleAdmin))
	r := ada.In(ops).Says("/muster create web slow 1 for 2h")
	r.Answer("web")
	d := r.Delivery()
	for _, c := range []struct {
		name   string
		at     time.Time
		change func(*http.Request)
		status int
	}{
		{"again", time.Now(), nil, 200},
		{"at the same second", d.At, nil, 200},
		{"after five minutes", time.Now().Add(-5*time.Minute - time.Second), nil, 401},
		{"from the future", time.Now().Add(5*time.Minute + 2*time.Second), nil, 401},
		{"with a changed byte", time.Now(), func(r *http.Request) { r.Body = http.NoBody; r.ContentLength = 0 }, 401},
		{"without a signature", time.Now(), func(r *http.Request) { r.Header.Del("X-Slack-Signature") }, 401},
		{"with another time", time.Now(), func(r *http.Request) { r.Header.Set("X-Slack-Request-Timestamp", "1") }, 401},
		{"with two signatures", time.Now(), func(r *http.Request) {
			r.Header["X-Slack-Signature"] = append([]string{"v0=00"}, r.Header["X-Slack-Signature"]...)
		}, 401},
	} {
		q := d.Request(c.at)
		if c.change != nil {
			c.change(q)
		}
		if status, body := w.slack.Send(q); status != c.status || status == 200 && body != "" {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
	}
	list, err := w.server.Services.Cluster.Views.Clusters(t.Context(), w.admin(""), app.ClusterFilter{})
	if err != nil || len(list) != 1 {
		t.Errorf("%d clusters, %v", len(list), err)
	}
	ops.Card("web")
}

// TestSizesOneByOneInEveryFace: a template takes 3, 5 or 7 nodes, and API, command line and Slack say so of 4.
func TestSizesOneByOneInEveryFace(t *testing.T) {
	t.Parallel()
	w := newChatServer(t, false)
	if _, err := w.server.Services.Catalog.ApplyCatalog(t.Context(), w.admin(""), yamlOf("kind: template\nname: odd\nextends: slow\nconstraints: {size: {one_of: [3, 5, 7]}}\n")); err != nil {
		t.Fatal(err)
	}
	const want = "Choose 3, 5 or 7 nodes (you entered 4)."
	if said, err := w.muster("cluster", "create", "four", "-t", "odd", "-n", "4"); err == nil || !strings.Contains(said+err.Error(), want) {
		t.Errorf("the command line says %s, %v", said, err)
	}
	said, err := w.muster("template", "list")
	if err != nil || !strings.Contains(said, "3,5,7") {
		t.Errorf("templates are listed as %s, %v", said, err)
	}
	token, err := w.server.Services.Identity.Tokens.IssueToken(t.Context(), app.DefaultTenant, "admin", "sizes")
	if err != nil {
		t.Fatal(err)
	}
	for size, status := range map[int]int{4: http.StatusUnprocessableEntity, 5: http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+"/api/v1/preview", strings.NewReader(fmt.Sprintf(`{"template":"odd","size":%d}`, size)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != status || strings.Contains(string(body), want) != (size == 4) {
			t.Errorf("%d nodes are answered %d by the API: %.300s, %v", size, resp.StatusCode, body, err)
		}
	}
	ada := w.team.User("ada")
	w.link(ada, w.account("ada", app.RoleAdmin))
	ada.In(w.ops).Says("/muster create four odd 4").Answer(want)
	ada.In(w.ops).Says("/muster create")
	m := ada.Modal("Template").Fill("Template", "odd")
	m.Until("This template allows 3, 5 or 7 nodes.").Fill("Nodes", "5 nodes").Until("5 × small")
}
