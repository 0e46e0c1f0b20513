package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"muster/app"
	"muster/app/identity"
	"muster/app/webhook"
	identitypage "muster/portal/identity"
)

// risky is a change that needs re-authentication, unless it is free.
type risky struct {
	name, page, path string
	form             url.Values // nil: a link
	free             bool
}

// next is the page after re-authentication.
func (c risky) next() string {
	if c.form == nil {
		return c.page
	}
	return "/step-up/continue"
}

// Changes to credentials, and changes that can't be undone, need re-authentication, which returns to the page or to the submitted form. All
// other changes need none.
func TestWhatOpensDoorsAsksForAProof(t *testing.T) {
	w := newUserSite(t).enter("root")
	admin := w.as("root")
	for _, name := range []string{"tess", "otto"} {
		if _, _, err := w.app.Identity.Users.CreateUser(t.Context(), admin, identity.NewUser{Name: name, Role: app.RoleUser}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.app.Identity.Users.CreateUser(t.Context(), admin, identity.NewUser{Name: "bot", Role: app.RoleRobot}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.app.Webhook.SaveHook(t.Context(), admin, webhook.EndpointRequest{Name: "chat", URL: "https://192.0.2.1/x"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.app.Identity.Tenants.CreateTenant(t.Context(), admin, identity.NewTenant{Name: "empty"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []risky{
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
		{"a hook's new secret", "/admin/webhooks/chat", "/admin/webhooks/chat/rotate", url.Values{}, false},
		{"a hook that is switched off", "/admin/webhooks/chat", "/admin/webhooks/chat/off", url.Values{}, true},
		{"a new hook", "/admin/webhooks", "/admin/webhooks", url.Values{"new": {"yes"}, "name": {"ops"}, "url": {"https://192.0.2.1/y"}, "format": {"muster"}}, false},
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
			if a := w.post("/step-up", url.Values{"next": w.get(to).fields()["next"], "password": {horse}}); a.status != http.StatusSeeOther || a.header.Get("Location") != c.next() {
				t.Fatalf("the proof: %d to %q", a.status, a.header.Get("Location"))
			}
			if c.form != nil {
				w.get("/step-up/continue").reads(http.StatusOK, "Submit your change?", "Submit change")
			}
			if status, to := do(); strings.HasPrefix(to, "/step-up") || status >= 400 && c.form != nil { // there is no cluster
				t.Errorf("with a proof: %d to %q", status, to)
			}
		})
	}
}

// A form that needed re-authentication is shown once afterwards, only in the same session and browser.
func TestWhatWasSubmittedIsKeptForTheProof(t *testing.T) {
	w := newUserSite(t).enter("root")
	typed := url.Values{"name": {"abby"}, "role": {"admin"}, "full_name": {"Abby \"<b>\" Smith"}}
	submit := func(path string, form url.Values, headers ...string) seen {
		t.Helper()
		w.clock.pass(app.FreshWithin + 1)
		a := w.post(path, form, append([]string{"Referer", w.srv.URL + "/admin/users/new"}, headers...)...)
		if to := a.header.Get("Location") + a.header.Get("HX-Redirect"); to != "/step-up?next=%2Fadmin%2Fusers%2Fnew" {
			t.Fatalf("no proof is asked for: %d to %q", a.status, to)
		}
		return a
	}
	prove := func(next string) string {
		t.Helper()
		return w.post("/step-up", url.Values{"next": {next}, "password": {horse}}).header.Get("Location")
	}
	t.Run("it is submitted by a click, once", func(t *testing.T) {
		submit("/admin/users", typed)
		w.get("/step-up?next=%2Fadmin%2Fusers%2Fnew").reads(http.StatusOK, "What you submitted is kept.")
		if to := prove("/admin/users/new"); to != "/step-up/continue" {
			t.Fatalf("the proof leads to %q", to)
		}
		p := w.get("/step-up/continue")
		p.reads(http.StatusOK, "abby", `Abby "<b>" Smith`)
		again := p.fields()
		for name := range typed {
			if again.Get(name) != typed.Get(name) {
				t.Errorf("%s is %q", name, again.Get(name))
			}
		}
		if !strings.Contains(p.body, `action="/admin/users"`) {
			t.Errorf("it is submitted to another place: %s", p.body)
		}
		if a := w.get("/step-up/continue"); a.status != http.StatusSeeOther || a.header.Get("Location") != "/" {
			t.Errorf("it is shown twice: %d to %q", a.status, a.header.Get("Location"))
		}
		w.post("/admin/users", again).reads(http.StatusOK, "abby")
		if _, err := w.app.Identity.Users.User(t.Context(), w.as("root"), "abby"); err != nil {
			t.Error(err)
		}
	})
	t.Run("another page was wanted", func(t *testing.T) {
		submit("/admin/users", typed)
		if to := prove("/clusters"); to != "/clusters" {
			t.Errorf("the proof leads to %q", to)
		}
	})
	t.Run("too late", func(t *testing.T) {
		submit("/admin/users", typed)
		w.clock.pass(identitypage.FormKept + 1)
		if to := prove("/admin/users/new"); to != "/admin/users/new" {
			t.Errorf("the proof leads to %q", to)
		}
	})
	t.Run("another sign-in in the same browser", func(t *testing.T) {
		submit("/admin/users", typed)
		w.enter("root")
		if a := w.get("/step-up/continue"); a.status != http.StatusSeeOther || strings.Contains(a.body, "abby") {
			t.Errorf("%d: %s", a.status, a.text())
		}
	})
	t.Run("without the browser's key", func(t *testing.T) {
		submit("/admin/users", typed)
		u, _ := url.Parse(w.srv.URL)
		w.http.Jar.SetCookies(u, []*http.Cookie{{Name: identitypage.FormCookie, Value: strings.Repeat("A", 43), Path: "/"}})
		if to := prove("/admin/users/new"); to != "/admin/users/new" {
			t.Errorf("the proof leads to %q", to)
		}
	})
	for name, c := range map[string]struct {
		form    url.Values
		headers []string
	}{
		"a password": {url.Values{"name": {"abby2"}, "role": {"admin"}, "password": {"correct-horse"}}, nil},
		"a secret":   {url.Values{"name": {"abby2"}, "role": {"admin"}, "hook_secret": {"x"}}, nil},
		"too much":   {url.Values{"name": {"abby2"}, "role": {"admin"}, "full_name": {strings.Repeat("x", identitypage.MostKept)}}, nil},
		"a part":     {typed, []string{"HX-Request", "true"}},
	} {
		t.Run("not kept: "+name, func(t *testing.T) {
			if a := w.post("/admin/users", typed); a.status == 0 { // what was there before is no longer
				t.Fatal("no answer")
			}
			w.clock.pass(app.FreshWithin + 1)
			a := w.post("/admin/users", c.form, append([]string{"Referer", w.srv.URL + "/admin/users/new"}, c.headers...)...)
			if strings.Contains(strings.Join(a.header.Values("Set-Cookie"), " "), identitypage.FormCookie) {
				t.Errorf("it is kept: %q", a.header.Values("Set-Cookie"))
			}
			if a.status < 400 && !strings.HasPrefix(a.header.Get("Location"), "/step-up") {
				t.Fatalf("no proof is asked for: %d", a.status)
			}
			if to := prove("/admin/users/new"); to != "/admin/users/new" {
				t.Errorf("the proof leads to %q", to)
			}
		})
	}
}
