package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"muster/app"
)

// What makes, shows or replaces something that opens doors, and what cannot be undone, leads to a proof and back to its page; done again there,
// it is done. All else goes on without.
func TestWhatOpensDoorsAsksForAProof(t *testing.T) {
	w := newTown(t).enter("root")
	admin := w.as("root")
	for _, name := range []string{"tess", "otto"} {
		if _, _, err := w.app.CreateUser(t.Context(), admin, app.NewUser{Name: name, Role: app.RoleUser}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.app.CreateUser(t.Context(), admin, app.NewUser{Name: "bot", Role: app.RoleRobot}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.app.SaveHook(t.Context(), admin, app.HookRequest{Name: "chat", URL: "https://192.0.2.1/x"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.app.CreateTenant(t.Context(), admin, app.NewTenant{Name: "empty"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, page, path string
		form             url.Values // nil: a link
		free             bool
	}{
		{"a token of one's own", "/account/tokens/new", "/account/tokens/new", url.Values{"label": {"ci"}, "days": {"9"}}, false},
		{"a token of a robot", "/admin/tokens", "/admin/tokens", url.Values{"user": {"bot"}, "label": {"ci"}}, false},
		{"a new admin", "/admin/users/new", "/admin/users", url.Values{"name": {"abby"}, "role": {"admin"}}, false},
		{"a new superadmin", "/admin/users/new", "/admin/users", url.Values{"name": {"sue"}, "role": {"superadmin"}}, false},
		{"a new user", "/admin/users/new", "/admin/users", url.Values{"name": {"uma"}, "role": {"user"}}, true},
		{"a promotion", "/admin/users/tess", "/admin/users/tess", url.Values{"role": {"admin"}}, false},
		{"an admin's name", "/admin/users/abe", "/admin/users/abe", url.Values{"role": {"admin"}, "full_name": {"Abe"}}, true},
		{"a user's role", "/admin/users/eve", "/admin/users/eve", url.Values{"role": {"approver"}}, true},
		{"another's password", "/admin/users/otto", "/admin/users/otto/reset-password", url.Values{}, false},
		{"a cluster's key", "/clusters/c1/access", "/clusters/c1/key", nil, false},
		{"a hook's new secret", "/admin/hooks/chat", "/admin/hooks/chat/rotate", url.Values{}, false},
		{"a hook that is switched off", "/admin/hooks/chat", "/admin/hooks/chat/off", url.Values{}, true},
		{"a new hook", "/admin/hooks", "/admin/hooks", url.Values{"new": {"yes"}, "name": {"ops"}, "url": {"https://192.0.2.1/y"}, "format": {"muster"}}, false},
		{"a tenant with an admin", "/admin/tenants", "/admin/tenants", url.Values{"new": {"yes"}, "name": {"lab"}, "admin": {"lea"}}, false},
		{"what is said about a tenant", "/admin/tenants", "/admin/tenants", url.Values{"name": {"acme"}, "about": {"shop"}}, true},
		{"the end of a tenant", "/admin/tenants", "/admin/tenants/delete", url.Values{"name": {"empty"}, "sure": {"yes"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.clock.pass(app.FreshWithin + 1)
			do := func() (status int, to string) {
				a := w.get
				if c.form == nil {
					got := a(c.path)
					return got.status, got.header.Get("Location")
				}
				got := w.post(c.path, c.form, "Referer", w.srv.URL+c.page)
				return got.status, got.header.Get("Location")
			}
			status, to := do()
			want := "/step-up?next=" + url.QueryEscape(c.page)
			if asked := strings.HasPrefix(to, "/step-up"); asked == c.free || asked && to != want || status >= 400 {
				t.Fatalf("without a proof: %d to %q", status, to)
			}
			if c.free {
				return
			}
			if a := w.post("/step-up", url.Values{"next": w.get(to).fields()["next"], "password": {horse}}); a.status != http.StatusSeeOther || a.header.Get("Location") != c.page {
				t.Fatalf("the proof: %d to %q", a.status, a.header.Get("Location"))
			}
			if status, to := do(); strings.HasPrefix(to, "/step-up") || status >= 400 && c.form != nil { // there is no cluster
				t.Errorf("with a proof: %d to %q", status, to)
			}
		})
	}
}
