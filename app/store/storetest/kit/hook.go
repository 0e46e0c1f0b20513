package kit

import (
	"strings"
	"time"

	"muster/app"
	"muster/app/template"
	"muster/app/webhook"
)

var HookAdmin = app.Actor{Tenant: Tenant, User: "root", Role: app.RoleAdmin}

func (t *T) Hook(name string, change ...func(*webhook.EndpointChange)) webhook.Endpoint {
	t.Helper()
	c := webhook.EndpointChange{Name: name, URL: "https://hooks.example.com/a-long-secret-in-the-path", Shown: "https://hooks.example.com/…",
		New: []byte(strings.Repeat("n", 32))}
	for _, f := range change {
		f(&c)
	}
	h, _, err := t.Store.SaveHook(t.Ctx, HookAdmin, c, t.Clock.Now())
	t.Must(err)
	return h
}

// Due claims what is due as one server.
func (t *T) Due(holder string) []webhook.DueDelivery {
	t.Helper()
	due, _, err := t.Store.ClaimDeliveries(t.Ctx, webhook.DeliveryClaim{Holder: holder, Now: t.Clock.Now(), For: 30 * time.Second, Most: 100, PerTenant: 100})
	t.Must(err)
	for _, d := range due {
		t.Must(d.Err)
	}
	return due
}

// Ended says how an attempt went: taken without a code; again where it is tried again.
func (t *T) Ended(holder string, d webhook.DueDelivery, code app.Code, again time.Duration) error {
	t.Helper()
	e := webhook.DeliveryEnd{Delivery: d.ID, Hook: d.HookID, Holder: holder, Attempt: d.Attempts, At: t.Clock.Now(), Duration: 20 * time.Millisecond, Status: 200,
		Request: "{}", Response: "thanks"}
	if code != "" {
		e.Err, e.Status = &app.Error{Code: code, Message: "It said no."}, 500
	}
	if again > 0 {
		e.Again = t.Clock.Now().Add(again)
	}
	return t.Store.EndDelivery(t.Ctx, e)
}

// OperationHook makes a hook that has its turn at a time of operations.
func (t *T) OperationHook(name string, when template.HookPhase, change ...func(*webhook.EndpointChange)) {
	t.Helper()
	t.Hook(name, append([]func(*webhook.EndpointChange){func(c *webhook.EndpointChange) { c.When = when }}, change...)...)
}

// News claims what hooks are to be sent, by hook and title.
func (t *T) News(want ...string) map[string]webhook.DueDelivery {
	t.Helper()
	all := map[string]webhook.DueDelivery{}
	var got []string
	for _, d := range t.Due("x") {
		if d.News == nil {
			t.Fatalf("delivery %d to %s tells nothing of an operation", d.ID, d.Hook)
		}
		got = append(got, d.Hook+": "+d.Title)
		all[d.Hook] = d
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Fatalf("sent is %q, want %q", got, want)
	}
	return all
}

func (t *T) Vetoed(d webhook.DueDelivery, why string) {
	t.Helper()
	t.Must(t.Store.EndDelivery(t.Ctx, webhook.DeliveryEnd{Delivery: d.ID, Hook: d.HookID, Holder: "x", Attempt: d.Attempts, At: t.Clock.Now(), Status: 403,
		Err: &app.Error{Code: app.ECredentials, Message: "It answered 403 Forbidden."}, Veto: why}))
}
