package slack_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/chat"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/policy/cel"
	"muster/app/store"
	"muster/app/template"
	"muster/bot/slack"
	"muster/bot/slack/slacktest"
	"muster/cmd/muster/wiring/faces"
	"muster/planner"
	"muster/portal/address"
	"muster/solver"
	"muster/solver/change"
)

// tenants is Muster with two tenants, whose admins install it into workspaces of their own.
type tenants struct {
	*testing.T
	app   *all.Services
	store *store.Store
	slack *slacktest.Slack
	serve []*slack.Server
	turn  atomic.Int64
}

func newTenants(t *testing.T, file string, servers int) *tenants {
	t.Helper()
	e := &tenants{T: t}
	var err error
	if e.store, err = store.Open(t.Context(), file, make([]byte, store.KeySize)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.store.Close() })
	c := template.NewCatalog()
	c.Providers["cloud"] = &template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "fake"}
	c.Hardware["small"] = &template.HardwareType{About: template.About{Name: "small"}, Providers: map[string]template.Flavor{"cloud": {Flavor: "s", CostPerHour: 0.5, CPU: 2}}}
	c.Images["linux"] = &template.ImageType{About: template.About{Name: "linux"}, Providers: map[string]template.Image{"cloud": {Image: "i", SSHUser: "ubuntu"}}}
	act := &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}}
	c.Services["web"] = &template.Service{About: template.About{Name: "web"}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: act}}
	c.Templates["web"] = &template.Template{About: template.About{Name: "web"}, Constraints: template.Constraints{Size: template.SizeRange{Min: 1, Max: 50}},
		Defaults: template.Defaults{Provider: "cloud", Services: []string{"web"}}}
	e.app = all.New(all.Config{Store: e.store, Solver: solver.New(), Changer: change.New(), Planner: planner.New(), Keys: keys{}, Policies: cel.New(),
		Catalog: func() *template.Catalog { return c }, Now: time.Now})
	e.slack = slacktest.New(t, slacktest.Config{SigningSecret: storySecret, ClientID: "1.2", ClientSecret: "the app's", Scopes: slack.Scopes, Base: "http://muster", CommandPath: "/slack/commands",
		ActionPath: "/slack/actions", OptionsPath: "/slack/options", EventsPath: "/slack/events", Client: slacktest.To(e), WaitTime: 10 * time.Minute, Look: time.Second})
	for i := range servers {
		s := slack.New(slack.Config{UseCases: faces.Slack(e.app), ClientID: "1.2", ClientSecret: "the app's", Secret: storySecret, Server: fmt.Sprint("s", i), URL: func() string { return "https://m.test" }, Pages: address.Of,
			Client: e.slack.HTTP(), Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))})
		t.Cleanup(func() { _ = s.Close() })
		e.serve = append(e.serve, s)
	}
	if _, _, err := e.app.Identity.Tenants.CreateTenant(t.Context(), app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin}, identity.NewTenant{Name: "blue"}); err != nil {
		t.Fatal(err)
	}
	return e
}

// ServeHTTP is where Slack finds the servers, which take turns.
func (e *tenants) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.serve[int(e.turn.Add(1))%len(e.serve)].ServeHTTP(w, r)
}

// run keeps cards true on the first server, until the test ends.
func (e *tenants) run() {
	ctx, stop := context.WithCancel(context.WithoutCancel(e.Context()))
	var wg sync.WaitGroup
	wg.Go(func() { e.serve[0].Maintain(ctx) })
	e.Cleanup(func() { stop(); wg.Wait() })
}

// account makes an account with a sign-in.
func (e *tenants) account(tenant, name string, role app.Role) app.Actor {
	e.Helper()
	now := time.Now()
	if err := e.store.CreateUser(e.Context(), identity.User{Tenant: tenant, Name: name, Role: role, CreatedAt: now}); err != nil {
		e.Fatal(err)
	}
	// So that cards are shown in channels.
	if err := e.store.SetDefaultVisibility(e.Context(), app.Actor{Tenant: tenant, User: name}, app.VisibleTenant, now); err != nil {
		e.Fatal(err)
	}
	id, err := e.store.BeginSession(e.Context(), identity.Session{Tenant: tenant, User: name, At: now, SeenAt: now, ProvenAt: now})
	if err != nil {
		e.Fatal(err)
	}
	return app.Actor{Tenant: tenant, User: name, Role: role, Session: strconv.FormatInt(id, 10), ProvenAt: now, SeenAt: now}
}

// install goes through Slack's page as someone of the workspace, and comes back as an admin.
func (e *tenants) install(a app.Actor, w *slacktest.Workspace) (state string, err error) {
	e.Helper()
	if state, err = e.app.Chat.Workspaces.StartChatInstall(e.Context(), a); err != nil {
		return state, err
	}
	return state, e.back(a, w, state)
}

func (e *tenants) back(a app.Actor, w *slacktest.Workspace, state string) error {
	u, err := url.Parse(e.serve[0].InstallURL(state))
	if err != nil || u.Host != "slack.com" || u.Query().Get("state") != state {
		e.Fatalf("people are sent to %s, %v", u, err)
	}
	code := w.User("owner").Consent(u.Query().Get("client_id"), u.Query().Get("scope"), u.Query().Get("redirect_uri"))
	_, err = e.app.Chat.Workspaces.InstallChat(e.Context(), a, state, func(ctx context.Context) (chat.Workspace, chat.ChatTokens, error) {
		return e.serve[0].Exchange(ctx, code)
	})
	return err
}

func (e *tenants) link(u *slacktest.User, c *slacktest.Channel, a app.Actor) {
	e.Helper()
	m := u.In(c).Says("/muster link").Answer("Open this link within 10 min")
	_, token, _ := strings.Cut(m.Link("Link account"), "token=")
	if _, err := e.store.UseLink(e.Context(), a, identity.HashToken(token), time.Now()); err != nil {
		e.Fatal(err)
	}
}

func in(t *testing.T, story func(t *testing.T, file string)) {
	file := database(t)
	synctest.Test(t, func(t *testing.T) { story(t, file) })
}

// Two workspaces of two tenants: neither sees, is told, or can touch anything of the other.
func TestTwoWorkspacesNeverMix(t *testing.T) {
	in(t, func(t *testing.T, file string) {
		e := newTenants(t, file, 1)
		ada, bea := e.account(app.DefaultTenant, "ada", app.RoleAdmin), e.account("blue", "bea", app.RoleAdmin)
		one, two := e.slack.Workspace("T1"), e.slack.Workspace("T2")
		state, err := e.install(ada, one)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.install(bea, two); err != nil {
			t.Fatal(err)
		}
		// What came back once does not count again, nor for anybody else.
		if err := e.back(ada, one, state); app.CodeOf(err) != app.EConflict {
			t.Errorf("an installation is ended twice: %v", err)
		}
		fresh, err := e.app.Chat.Workspaces.StartChatInstall(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.back(bea, e.slack.Workspace("T3"), fresh); app.CodeOf(err) != app.ENotFound {
			t.Errorf("another user can end an installation: %v", err)
		}
		other := ada
		other.Session = "99"
		if err := e.back(other, e.slack.Workspace("T3"), fresh); app.CodeOf(err) != app.ENotFound {
			t.Errorf("an installation is ended in another sign-in: %v", err)
		}
		if _, err := e.install(bea, one); app.CodeOf(err) != app.EConflict {
			t.Errorf("a workspace is taken over: %v", err)
		}
		e.run()
		ann, bob, ops, dev := one.User("ann"), two.User("bob"), one.Channel("ops"), two.Channel("dev")
		e.link(ann, ops, ada)
		e.link(bob, dev, bea)
		ann.In(ops).Says("/muster create red web 1 for 8h").Answer("red")
		bob.In(dev).Says("/muster create azure web 1 for 8h").Answer("azure")
		ops.Card("red: creating")
		dev.Card("azure: creating")
		if m := ann.In(ops).Says("/muster list").Answer("red"); m.Says("azure") {
			t.Errorf("one tenant sees the other: %s", m.Text())
		}
		bob.In(dev).Says("/muster status red").Answer("That didn't work")
		bob.In(dev).Says("/muster delete red").Answer("That didn't work")
		for _, m := range append(ops.Messages(), dev.Messages()...) {
			if m.In() == ops && m.Says("azure") || m.In() == dev && m.Says("red:") {
				t.Errorf("a card is in the wrong workspace: %s", m.Text())
			}
		}
		// Who is linked to an account of the other tenant is turned away.
		eve := one.User("eve")
		e.link(eve, ops, e.account("blue", "eve", app.RoleAdmin))
		eve.In(ops).Says("/muster list").Answer("another tenant")
		// A channel is the other tenant's as soon as both sides want that, and until one does not any more.
		lent := one.Channel("lent")
		eve.In(lent).Says("/muster channel use blue").Answer("Waiting for the other tenant", "the workspace's tenant")
		eve.In(lent).Says("/muster list").Answer("another tenant")
		ann.In(lent).Says("/muster channel use blue").Answer("now belongs to tenant blue")
		eve.In(lent).Says("/muster list").Answer("azure")
		ann.In(lent).Says("/muster list").Answer("another tenant")
		eve.In(lent).Says("/muster create lent web 1 for 8h").Answer("lent")
		lent.Card("lent: creating")
		ann.In(lent).Says("/muster channel reset").Answer("workspace's tenant again")
		eve.In(lent).Says("/muster list").Answer("another tenant")
		// Guests and people of others get no further than that.
		one.User("gus").Guest().In(ops).Says("/muster link").Answer("Guests can't use Muster")

		two.Uninstall()
		bob.In(dev).Says("/muster list").Answer("isn't installed")
		if _, err := e.store.WorkspaceTokens(t.Context(), "slack", "T2"); app.CodeOf(err) != app.ENotFound {
			t.Errorf("the tokens of a workspace that is gone are kept: %v", err)
		}
		if list, err := e.app.Chat.Cards.ChatCards(t.Context(), "slack"); err != nil || len(list) != 2 || list[0].Team != "T1" || list[1].Team != "T1" {
			t.Errorf("cards: %+v, %v", list, err)
		}
		e.slack.Expect("unreachable")
		before := len(e.slack.Calls())
		time.Sleep(5 * time.Minute)
		for _, c := range e.slack.Calls()[before:] {
			if c.Team != "T1" {
				t.Errorf("a workspace that is gone is called: %+v", c)
			}
		}
		ann.In(ops).Says("/muster list").Answer("red")
		// Its admin can install it again.
		if _, err := e.install(bea, two); err != nil {
			t.Fatal(err)
		}
		bob.In(dev).Says("/muster list").Answer("azure")
		actions, _, err := e.app.Identity.AuditLog.Audit(t.Context(), bea, app.AuditFilter{Act: "chat.", Limit: 50})
		if text := fmt.Sprint(actions); err != nil || !strings.Contains(text, "chat.install") || !strings.Contains(text, "chat.remove") || strings.Contains(text, "xox") {
			t.Errorf("the audit says %v, %v", text, err)
		}
	})
}

// Two servers find a token near its end at the same time: one refreshes it, and both continue.
func TestTokensAreRefreshedOnce(t *testing.T) {
	in(t, func(t *testing.T, file string) {
		e := newTenants(t, file, 2)
		ada := e.account(app.DefaultTenant, "ada", app.RoleAdmin)
		one := e.slack.Workspace("T1")
		if _, err := e.install(ada, one); err != nil {
			t.Fatal(err)
		}
		ann, ops := one.User("ann"), one.Channel("ops")
		e.link(ann, ops, ada)
		refreshes := func() (n int) {
			for _, c := range e.slack.Calls() {
				if c.Method == "oauth.v2.access" {
					n++
				}
			}
			return n - 1 // the installation
		}
		for round := range 3 {
			time.Sleep(11*time.Hour + 45*time.Minute)
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					k, err := e.serve[i%2].Fresh(t.Context(), "T1")
					if err != nil || k.Access == "" {
						t.Errorf("server %d has no token: %v", i%2, err)
					}
				})
			}
			wg.Wait()
			if n := refreshes(); n != round+1 {
				t.Errorf("after %d ends of tokens they were refreshed %d times", round+1, n)
			}
			ann.In(ops).Says("/muster list").Answer("Clusters")
		}
		// A token that Slack takes no more makes the workspace one that has to be installed again, and says so.
		e.slack.Fail("oauth.v2.access", slacktest.Fault{Error: "invalid_refresh_token"})
		time.Sleep(11*time.Hour + 45*time.Minute)
		ann.In(ops).Says("/muster list")
		w, err := e.app.Chat.Workspaces.ChatWorkspace(t.Context(), "slack", "T1", "")
		if err != nil || w.State != chat.StateBroken {
			t.Errorf("its state is %+v, %v", w, err)
		}
		if _, err := e.install(ada, one); err != nil {
			t.Fatal(err)
		}
		ann.In(ops).Says("/muster list").Answer("Clusters")
	})
}

// Requests are shown to their approvers, and decided on there: by two, neither of whom has asked.
func TestApprovalsInAChannel(t *testing.T) {
	in(t, func(t *testing.T, file string) {
		e := newTenants(t, file, 1)
		ada := e.account(app.DefaultTenant, "ada", app.RoleAdmin)
		one := e.slack.Workspace("T1")
		if _, err := e.install(ada, one); err != nil {
			t.Fatal(err)
		}
		ops, room := one.Channel("ops"), one.Channel("approvers").Private()
		people := map[string]*slacktest.User{}
		for name, role := range map[string]app.Role{"uma": app.RoleUser, "ben": app.RoleApprover, "cyd": app.RoleApprover} {
			people[name] = one.User(name)
			e.link(people[name], ops, e.account(app.DefaultTenant, name, role))
		}
		uma, ben, cyd := people["uma"], people["ben"], people["cyd"]
		if _, err := e.app.Policy.Policies.SavePolicy(t.Context(), ada, policy.Policy{Name: "two-eyes", Order: 1, Enabled: true, When: "nodes > 2", Effect: policy.EffectApprove, Reason: "it is large",
			Approval: &policy.Approval{Count: 2}}); err != nil {
			t.Fatal(err)
		}
		if err := e.app.Chat.Channels.SetApprovals(t.Context(), ada, chat.Approvals{Kind: "slack", Team: "T1", Channel: room.ID}); err != nil {
			t.Fatal(err)
		}
		e.run()
		uma.In(ops).Says("/muster create shop web 4 for 8h").Answer("is waiting for approval")
		card := room.Card("Request 1 is waiting", "4 × small with web", "it is large", "0 of 2", "Request expires")
		uma.Press(card, "Approve…").Answer("You can't approve or deny your own request.")

		ben.Press(card, "Approve…")
		ben.Modal("Approve request 1", "4 × small").Fill("Reason", "all right").Submit()
		card.Until("1 of 2", "ben approved: all right")
		time.Sleep(10 * time.Second) // else it would be a double click
		ben.Press(card, "Approve…").Answer("Your approval isn't needed for this request.")
		cyd.Press(card, "Approve…")
		cyd.Modal("Approve request 1").Submit()
		card.Until("Request 1 is accepted", "cyd approved")
		if len(card.Buttons()) > 1 {
			t.Errorf("what is decided can be decided on: %q", card.Buttons())
		}
		e.slack.Wait("uma is not told", func() bool {
			return uma.Direct().Find("Approved", "shop") != nil && uma.Direct().Find("Partly approved") != nil
		})

		// A no takes a reason, and ends it.
		uma.In(ops).Says("/muster create shop2 web 5 for 8h").Answer("is waiting for approval")
		card = room.Card("Request 2 is waiting")
		ben.Press(card, "Deny…")
		m := ben.Modal("Deny request 2")
		if r := m.Fill("Reason", "x").Submit(); len(r.Errors) == 0 {
			t.Errorf("a reason of one letter is taken: %+v", r)
		}
		m.Fill("Reason", "too dear").Submit()
		card.Until("Request 2 is denied", "ben denied: too dear")
		e.slack.Wait("uma is not told", func() bool { return uma.Direct().Find("Denied", "too dear") != nil })
		if uma.Direct().Find("Still waiting for 1 more approval from approvers.") == nil {
			t.Error("after one of two approvals uma is told the wrong number")
		}

		// Conditions are offered to who asked.
		uma.In(ops).Says("/muster create shop3 web 6 for 8h").Answer("is waiting for approval")
		card = room.Card("Request 3 is waiting")
		cyd.Press(card, "Approve with conditions…")
		cyd.Modal("Offer for request 3").Fill("Maximum nodes", "3").Fill("Reason", "half will do").Submit()
		card.Until("Request 3 is offered", "cyd offers 3 nodes", "Waiting for uma to accept or decline the offer.")
		cyd.Press(card, "View offer").Answer("Waiting for uma")
		uma.Press(card, "View offer").Answer("cyd offers 3 nodes")
		e.slack.Wait("uma is not told of the offer", func() bool { return uma.Direct().Find("Conditions offered", "lease 8 h") != nil })
		uma.Press(uma.Direct().Find("Conditions offered"), "Accept offer").Answer("Request 3 is waiting")
		card.Until("Request 3 is waiting", "1 of 2 approvals", "cyd")
		ben.Press(card, "Approve…")
		ben.Modal("Approve request 3").Submit()
		card.Until("Request 3 is accepted")
		// What was approved has its card where it was asked for, and only there.
		ops.Card("shop3", "3 nodes")
		if m := room.Find("shop3: creating"); m != nil {
			t.Errorf("the approvers' channel has a card too: %s", m.Text())
		}

		// High risks are approved in the portal, which asks for a fresh proof; a no is a no here, too.
		if _, err := e.app.Policy.Policies.SavePolicy(t.Context(), ada, policy.Policy{Name: "two-eyes", Order: 1, Enabled: true, When: "nodes > 2", Effect: policy.EffectApprove, Approval: &policy.Approval{Count: 1, High: true, ExpireAfter: time.Hour}}); err != nil {
			t.Fatal(err)
		}
		uma.In(ops).Says("/muster create shop4 web 7 for 8h").Answer("is waiting for approval")
		card = room.Card("Request 4 is waiting", "High risk")
		if got := fmt.Sprint(card.Buttons()); strings.Contains(got, "Approve…") || !strings.Contains(got, "Deny…") {
			t.Errorf("of a high risk one can press %s", got)
		}
		// What no one decides on ends, and says so.
		time.Sleep(61 * time.Minute)
		if _, err := e.app.Upkeep.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		card.Until("Request 4 is expired")
	})
}
