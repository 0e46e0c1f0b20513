package portal

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/webhook"
	"muster/portal/site"
)

// fakeWebhooks is a fake Muster with hooks and notifications in memory.
type fakeWebhooks struct {
	site.SignIns
	fake     *fake
	hooks    []webhook.Endpoint
	sent     map[string][]webhook.Delivery
	reported []app.Notice
	changes  []webhook.EndpointRequest
}

func (f *fakeWebhooks) ActorOfToken(ctx context.Context, token, from string) (app.Actor, error) {
	a, err := f.SignIns.ActorOfToken(ctx, token, from)
	if a.User == "root" {
		a.Role = app.RoleSuperadmin
	}
	return a, err
}

func (f *fakeWebhooks) admin(a app.Actor) error {
	if !a.May("Hooks") {
		return app.Errorf(app.EForbidden, "Only admins can manage hooks.")
	}
	return nil
}

func (f *fakeWebhooks) Hooks(_ context.Context, a app.Actor) ([]webhook.Endpoint, error) {
	return f.hooks, f.admin(a)
}

func (f *fakeWebhooks) Hook(_ context.Context, a app.Actor, name string) (webhook.Endpoint, error) {
	for _, h := range f.hooks {
		if h.Name == name {
			return h, f.admin(a)
		}
	}
	return webhook.Endpoint{}, app.Errorf(app.ENotFound, "Webhook %q doesn't exist.", name)
}

func (f *fakeWebhooks) SaveHook(_ context.Context, a app.Actor, r webhook.EndpointRequest) (webhook.SavedEndpoint, error) {
	f.changes = append(f.changes, r)
	if strings.HasPrefix(r.URL, "http:") {
		return webhook.SavedEndpoint{}, &app.Error{Code: app.EInvalid, Field: "url", Message: "The URL must start with https://."}
	}
	i := slices.IndexFunc(f.hooks, func(h webhook.Endpoint) bool { return h.Name == r.Name })
	s := webhook.SavedEndpoint{Created: i < 0}
	if s.Created {
		f.hooks = append(f.hooks, webhook.Endpoint{Name: r.Name, URL: "https://…", State: webhook.HookActive, CreatedBy: a.User})
		i, s.Secret = len(f.hooks)-1, "whsec_made"
	}
	if r.Rotate {
		s.Secret = "whsec_turned"
	}
	if r.Enabled != nil {
		f.hooks[i].State = map[bool]webhook.State{true: webhook.HookActive, false: webhook.HookOff}[*r.Enabled]
	}
	s.Endpoint = f.hooks[i]
	return s, f.admin(a)
}

func (f *fakeWebhooks) DeleteHook(_ context.Context, a app.Actor, name string) error {
	f.hooks = slices.DeleteFunc(f.hooks, func(h webhook.Endpoint) bool { return h.Name == name })
	return f.admin(a)
}

func (f *fakeWebhooks) TestHook(_ context.Context, a app.Actor, name string) (webhook.Delivery, error) {
	d := webhook.Delivery{ID: 900, Hook: name, Kind: app.NoticeTest, Title: "Test notification", State: webhook.DeliveryWaiting, QueuedAt: f.fake.now()}
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	f.sent[name] = append([]webhook.Delivery{d}, f.sent[name]...)
	return d, f.admin(a)
}

// arrives completes the newest delivery to a hook.
func (f *fakeWebhooks) arrives(name string) {
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	d := &f.sent[name][0]
	d.State, d.Status, d.Attempts, d.EndedAt = webhook.DeliveryMade, 200, 1, f.fake.now()
	f.fake.wake(app.TenantTopic(app.DefaultTenant))
}

func (f *fakeWebhooks) HookDeliveries(_ context.Context, a app.Actor, hook string, before int64, limit int) (list []webhook.Delivery, err error) {
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	for _, d := range f.sent[hook] {
		if (before == 0 || d.ID < before) && len(list) < limit {
			list = append(list, d)
		}
	}
	return list, f.admin(a)
}

func (f *fakeWebhooks) HookDelivery(_ context.Context, a app.Actor, hook string, id int64) (webhook.Delivery, error) {
	for _, d := range f.sent[hook] {
		if d.ID == id {
			return d, f.admin(a)
		}
	}
	return webhook.Delivery{}, app.Errorf(app.ENotFound, "This webhook has no delivery %d.", id)
}

func (f *fakeWebhooks) Redeliver(_ context.Context, a app.Actor, hook string, id int64) (webhook.Delivery, error) {
	for i := range f.sent[hook] {
		if f.sent[hook][i].ID == id {
			f.sent[hook][i].State = webhook.DeliveryWaiting
			return f.sent[hook][i], f.admin(a)
		}
	}
	return webhook.Delivery{}, app.Errorf(app.ENotFound, "This webhook has no delivery %d.", id)
}

func (f *fakeWebhooks) Notices(_ context.Context, a app.Actor, before int64, limit int) (list []app.Notice, err error) {
	for _, n := range f.reported {
		if (before == 0 || n.ID < before) && len(list) < limit && (a.May("Hooks") || slices.Contains(n.Users, a.User)) {
			list = append(list, n)
		}
	}
	return list, nil
}

// hooksAt signs a user in to a portal with two hooks: a working and a disabled one.
func hooksAt(t *testing.T, user string) (*testSite, *fakeWebhooks) {
	t.Helper()
	var f *fakeWebhooks
	s := visit(t, func(c *Config) {
		f = &fakeWebhooks{SignIns: fakeOf(c), fake: fakeOf(c), sent: map[string][]webhook.Delivery{}}
		c.UseCases = useCases(f.fake, f)
	})
	s.signIn(user)
	now := f.fake.now()
	f.hooks = []webhook.Endpoint{
		{Name: "chat", URL: "https://hooks.slack.com/services/T1/B1/…", Format: webhook.HookSlack, State: webhook.HookActive, CreatedBy: "root", SecretAt: now.Add(-time.Hour), Waiting: 2,
			Kinds: []app.NoticeKind{app.NoticeAlarm, app.NoticeLease}, Last: &webhook.LastAttempt{Delivery: 2, At: now.Add(-5 * time.Minute), Status: 200}},
		{Name: "old", URL: "https://old.example.com/…", Format: webhook.HookMuster, State: webhook.HookStopped, Problem: "The receiver answered 410 Gone.", Failures: 1,
			Last: &webhook.LastAttempt{Delivery: 3, At: now.Add(-2 * time.Hour), Status: 410, Code: app.ENotFound, Error: "It answered 410 Gone."}},
	}
	for i := range 30 {
		f.sent["chat"] = append(f.sent["chat"], webhook.Delivery{ID: int64(100 - i), Hook: "chat", Notification: int64(i + 1), Kind: app.NoticeLease, Title: "Lease of <web>", State: webhook.DeliveryMade,
			Attempts: 1, QueuedAt: now.Add(-time.Hour), Status: 200, Duration: 84 * time.Millisecond})
	}
	f.sent["chat"][0] = webhook.Delivery{ID: 100, MessageID: "msg_x_100", Hook: "chat", Notification: 9, Kind: app.NoticeAlarm, Title: "Emergency override used", State: webhook.DeliveryFailed, Attempts: 2,
		QueuedAt: now.Add(-time.Hour), EndedAt: now, Status: 500, Duration: 1200 * time.Millisecond, Code: app.ETransient, Error: "It answered 500 Internal Server Error.",
		Request: `{"text":"*Someone* <b>"}`, Log: []webhook.Attempt{{Attempt: 2, At: now, Duration: time.Second, Status: 500, Error: "It answered 500 Internal Server Error.", Response: "<h1>oops</h1>"},
			{Attempt: 1, At: now.Add(-time.Minute), Error: "hooks.slack.com did not answer within 10s."}}}
	for i := range 40 {
		n := app.Notice{ID: int64(40 - i), At: now.Add(-time.Duration(i) * time.Hour), Kind: app.NoticeBudget, Title: "Budget nearly used", Text: "90% of\nit", About: app.Subject{Kind: app.SubjectClusters}, Users: []string{"root"}}
		if i == 3 {
			n = app.Notice{ID: 37, At: n.At, Kind: app.NoticeLease, Title: "The lease of web expires", About: app.ClusterSubject("web"), Act: app.Subject{Kind: app.SubjectLeaseExtension, ID: "web"}, ActionName: "Extend", Users: []string{"ada"}}
		}
		if i == 4 {
			n.About, n.Act, n.ActionName = app.Subject{Kind: app.SubjectAddress, ID: "https://evil.example.com"}, app.ParseSubject("//evil.example.com"), "Win"
		}
		f.reported = append(f.reported, n)
	}
	return s, f
}

func TestHookPages(t *testing.T) {
	s, f := hooksAt(t, "root")
	s.get("/admin").reads(http.StatusOK, "Webhooks Notifications for chat")
	s.get("/admin/webhooks").reads(http.StatusOK, "2 webhooks, 1 enabled.", "chat healthy https://hooks.slack.com/services/T1/B1/… · alarms, leases Last sent 5 min ago Consecutive failures 0 Pending 2",
		"old stopped https://old.example.com/… · all notifications The receiver answered 410 Gone. Last sent 2 h ago")
	a := s.get("/admin/webhooks/chat")
	a.reads(http.StatusOK, "Emergency override used alarms failed It answered 500 Internal Server Error. 500 1.2 s 2 attempts 1 h ago", "Lease of <web> leases delivered 200 84 ms 1 attempt", "Older")
	if strings.Contains(a.body, "/deliveries/75\"") || !strings.Contains(a.body, "before=76") {
		t.Error("the page does not end after 25 deliveries")
	}
	s.get("/admin/webhooks/chat?before=76").reads(http.StatusOK, "Newest")
	s.get("/admin/webhooks/chat?before=x").reads(http.StatusUnprocessableEntity)
	s.get("/admin/webhooks/old").reads(http.StatusOK, "Muster disabled this webhook. The receiver answered 410 Gone.", "Enable webhook", "No deliveries yet")
	s.get("/admin/webhooks/none").reads(http.StatusNotFound, "doesn't exist")
	s.get("/admin/webhooks/chat/deliveries/100").reads(http.StatusOK, "Message ID msg_x_100", "2 500 1.0 s", "<h1>oops</h1>", "1 no response – ", "hooks.slack.com did not answer within 10s.",
		`{ "text": "*Someone* <b>" }`, "Resend delivery")
	s.get("/admin/webhooks/chat/deliveries/zz").reads(http.StatusNotFound)
	s.get("/admin/webhooks/chat/delete").reads(http.StatusOK, "Delete webhook chat?")

	if a := s.post("/admin/webhooks/chat/deliveries/100/resend", nil); a.status != http.StatusSeeOther || f.sent["chat"][0].State != webhook.DeliveryWaiting {
		t.Errorf("resend: %d", a.status)
	}
	if a := s.post("/admin/webhooks/chat/test", nil); a.status != http.StatusSeeOther || a.header.Get("Location") != "/admin/webhooks/chat#list" {
		t.Errorf("test: %d", a.status)
	}
	s.get("/admin/webhooks/chat").reads(http.StatusOK, "Test notification test waiting")
	parts, err := s.p.webhook.HookLive(t.Context(), root, &url.URL{Path: "/admin/webhooks/chat"})
	if err != nil || len(parts) != 1 || parts[0].ID != "list" {
		t.Fatalf("live parts: %+v, %v", parts, err)
	}
	if html, err := rendered(t.Context(), parts[0].HTML); err != nil || !strings.Contains(html, "Test notification") {
		t.Errorf("the part is %.200s, %v", html, err)
	}
	for _, at := range []*url.URL{{Path: "/admin/webhooks/none"}, {Path: "/admin/webhooks/chat", RawQuery: "before=x"}} {
		if _, err := s.p.webhook.HookLive(t.Context(), root, at); app.CodeOf(err) != app.ENotFound {
			t.Errorf("%s is live: %v", at, err)
		}
	}
	for path, want := range map[string]webhook.State{"off": webhook.HookOff, "on": webhook.HookActive} {
		if a := s.post("/admin/webhooks/chat/"+path, nil); a.status != http.StatusSeeOther || f.hooks[0].State != want {
			t.Errorf("%s: %d, %s", path, a.status, f.hooks[0].State)
		}
	}
	s.post("/admin/webhooks/none/rotate", nil).reads(http.StatusNotFound)
	s.post("/admin/webhooks/chat/rotate", nil).reads(http.StatusOK, "whsec_turned", "You won't be able to see it again")
	s.get("/admin/webhooks/chat").lacks("whsec_")
	if a := s.post("/admin/webhooks/old/delete", nil); a.status != http.StatusSeeOther || len(f.hooks) != 1 {
		t.Errorf("delete: %d, %d left", a.status, len(f.hooks))
	}
}

func TestHookForm(t *testing.T) {
	s, f := hooksAt(t, "root")
	in := url.Values{"new": {"true"}, "name": {"ops"}, "url": {"http://ops.example.com"}, "format": {"mail"}, "to": {" ops@example.com "}, "kinds": {"lease", "alarm"}}
	a := s.post("/admin/webhooks", in)
	a.reads(http.StatusUnprocessableEntity, "The URL must start with https://.")
	for _, want := range []string{`value="ops"`, `value="lease" checked`, `value="mail" selected`, `value="http://ops.example.com"`} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the form forgets %s", want)
		}
	}
	in.Set("url", "https://ops.example.com")
	s.post("/admin/webhooks", in).reads(http.StatusOK, "ops", "whsec_made")
	last := f.changes[len(f.changes)-1]
	if last.Name != "ops" || *last.To != "ops@example.com" || len(*last.Kinds) != 2 || last.Format != webhook.HookMail {
		t.Errorf("saved as %+v", last)
	}
	s.post("/admin/webhooks", in).reads(http.StatusConflict, "already exists.")
	change := url.Values{"name": {"ops"}, "format": {"muster"}}
	if a := s.post("/admin/webhooks", change); a.status != http.StatusSeeOther || a.header.Get("Location") != "/admin/webhooks/ops" {
		t.Errorf("a change: %d", a.status)
	}
	if last = f.changes[len(f.changes)-1]; last.URL != "" || len(*last.Kinds) != 0 {
		t.Errorf("changed by %+v", last)
	}
	change.Set("url", "http://x")
	s.post("/admin/webhooks", change).reads(http.StatusUnprocessableEntity, "The URL must start with https://.", "Edit webhook")
	change.Set("name", "none")
	s.post("/admin/webhooks", change).reads(http.StatusNotFound)
}

func TestNoticePage(t *testing.T) {
	s, _ := hooksAt(t, "ada")
	s.get("/clusters").reads(http.StatusOK, "Notifications")
	a := s.get("/notifications/history")
	a.reads(http.StatusOK, "Notifications to you and your groups", "leases 3 h ago The lease of web expires Extend")
	a.lacks("Budget", "Manage webhooks", "Older")
	for _, path := range []string{"/admin/webhooks", "/admin/webhooks/chat", "/admin/webhooks/chat/deliveries/100"} {
		s.get(path).reads(http.StatusForbidden, "Only admins")
	}
	s, _ = hooksAt(t, "root")
	a = s.get("/notifications/history")
	a.reads(http.StatusOK, "Budget nearly used 90% of it", "Older notifications", "Manage webhooks")
	if strings.Contains(a.body, "evil") || a.header.Get("Content-Security-Policy") == "" {
		t.Error("a notification links to another site")
	}
	s.get("/notifications/history?before=11").reads(http.StatusOK, "Newest")
}

func TestHookAPI(t *testing.T) {
	s, f := hooksAt(t, "ada")
	api := func(method, path, body, user string) seen {
		r := s.request(method, "/api/v1"+path, body, "Authorization", "Bearer token-of-"+user)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		return s.do(r)
	}
	var list struct{ Webhooks []map[string]any }
	if a := api("GET", "/webhooks", "", "root"); a.status != 200 || json.Unmarshal([]byte(a.body), &list) != nil || len(list.Webhooks) != 2 || list.Webhooks[0]["state"] != "active" {
		t.Errorf("the list: %d %s", a.status, a.body)
	}
	if a := api("GET", "/webhooks", "", "ada"); a.status != http.StatusForbidden {
		t.Errorf("a user's list: %d", a.status)
	}
	a := api("PUT", "/webhooks/new", `{"url":"https://x.example.com","kinds":["lease"],"enabled":true}`, "root")
	if a.status != 200 || !strings.Contains(a.body, `"secret":"whsec_made"`) || !strings.Contains(a.body, `"created":true`) {
		t.Errorf("saving: %d %s", a.status, a.body)
	}
	if last := f.changes[len(f.changes)-1]; last.Name != "new" || last.To != nil || last.Enabled == nil || len(*last.Kinds) != 1 {
		t.Errorf("saved as %+v", last)
	}
	if a := api("PUT", "/webhooks/new", `{"url":"http://x"}`, "root"); a.status != 422 || !strings.Contains(a.body, `"field":"url"`) {
		t.Errorf("a wrong URL: %d %s", a.status, a.body)
	}
	if a := api("POST", "/webhooks/chat/test", "", "root"); a.status != 202 || !strings.Contains(a.body, `"kind":"test"`) {
		t.Errorf("a test: %d %s", a.status, a.body)
	}
	if a := api("GET", "/webhooks/chat/deliveries?limit=2", "", "root"); a.status != 200 || !strings.Contains(a.body, `"next":100`) {
		t.Errorf("deliveries: %d %s", a.status, a.body)
	}
	if a := api("GET", "/webhooks/chat/deliveries/100", "", "root"); a.status != 200 || !strings.Contains(a.body, `"response":`) {
		t.Errorf("a delivery: %d %s", a.status, a.body)
	}
	if a := api("POST", "/webhooks/chat/deliveries/100/resend", "", "root"); a.status != 202 {
		t.Errorf("resend: %d %s", a.status, a.body)
	}
	if a := api("DELETE", "/webhooks/chat", "", "root"); a.status != 204 || len(f.hooks) != 2 {
		t.Errorf("delete: %d", a.status)
	}
	if a := api("GET", "/notifications?limit=1", "", "ada"); a.status != 200 || !strings.Contains(a.body, `"next":37`) {
		t.Errorf("notices: %d %s", a.status, a.body)
	}
}
