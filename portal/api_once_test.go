package portal

import (
	"net/http"
	"strings"
	"testing"

	"muster/app"
	"muster/app/identity"
	"muster/portal/site"
)

// program sends a request of a program; key is its Idempotency-Key, "" for none.
func (w *userSite) program(token, method, path, body, key string) seen {
	w.t.Helper()
	headers := []string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}
	if key != "" {
		headers = append(headers, site.OnceHeader, key)
	}
	return w.do(w.request(method, site.APIPath+path, body, headers...))
}

// TestAnswersAreKeptForThoseWhoMayAsk sends a request again with less than it took.
func TestAnswersAreKeptForThoseWhoMayAsk(t *testing.T) {
	w := newUserSite(t)
	abe := w.as("abe")
	abe.Session, abe.ProvenAt, abe.SeenAt = "1", w.clock.now(), w.clock.now()
	tokens := map[string]string{}
	for label, scopes := range map[string][]app.Scope{"all": {app.ScopeCluster, app.ScopeAdmin}, "admin": {app.ScopeAdmin}, "read": {app.ScopeRead}, "cluster": {app.ScopeCluster}} {
		_, secret, err := w.app.Identity.Tokens.CreateToken(t.Context(), abe, identity.NewAPIToken{Label: label, Scopes: scopes})
		if err != nil {
			t.Fatal(err)
		}
		tokens[label] = secret
	}
	const body = `{"name":"kim","role":"user"}`
	create := func(label string) seen { return w.program(tokens[label], "POST", "/users", body, "k1") }
	first := create("all")
	if first.status != http.StatusCreated || !strings.Contains(first.body, "password") {
		t.Fatalf("%d %s", first.status, first.body)
	}
	again := func(label string, want int) {
		t.Helper()
		a := create(label)
		if reported := a.body == first.body; a.status != want || reported != (want == first.status) {
			t.Errorf("with the scopes of %q the answer is %d: %s", label, a.status, a.body)
		}
	}
	again("all", http.StatusCreated)
	again("admin", http.StatusCreated)
	again("read", http.StatusForbidden)
	again("cluster", http.StatusForbidden)
	change := func(r app.Role) {
		t.Helper()
		if _, err := w.app.Identity.Users.ChangeUser(t.Context(), w.as("root"), "abe", identity.UserChange{Role: &r}); err != nil {
			t.Fatal(err)
		}
	}
	change(app.RoleUser)
	again("all", http.StatusForbidden)
	change(app.RoleAdmin)
	again("all", http.StatusCreated)
	off := true
	if _, err := w.app.Identity.Users.ChangeUser(t.Context(), w.as("root"), "abe", identity.UserChange{Disabled: &off}); err != nil {
		t.Fatal(err)
	}
	again("all", http.StatusUnauthorized)
}
