package portal

import (
	"net/http"
	"strings"
	"testing"

	"muster/app"
)

// TestVersionIsHiddenWithoutSignIn checks all answers, with headers, that are open to visitors who aren't signed in.
func TestVersionIsHiddenWithoutSignIn(t *testing.T) {
	const commit = "v1.2.3-0.20260102030405-0123456789ab"
	w := newUserSite(t, func(c *Config) { c.Version = commit })
	for _, r := range w.p.Routes() {
		if r.Method != http.MethodGet {
			continue
		}
		a := w.get(strings.NewReplacer("{", "", "}", "").Replace(r.Pattern))
		if strings.Contains(a.body, commit) {
			t.Errorf("%s shows strangers the version", r.Pattern)
		}
		for name, values := range a.header {
			if strings.Contains(strings.Join(values, " "), commit) {
				t.Errorf("%s shows strangers the version in the header %s", r.Pattern, name)
			}
		}
	}
	w.get("/signin").reads(http.StatusOK, "Muster")
	if a := w.get("/api/v1/version"); a.status != http.StatusUnauthorized {
		t.Errorf("a stranger who asks for the version is answered %d", a.status)
	}
	w.enter("ada").get("/").reads(http.StatusOK, "Muster "+commit)
	token, _ := w.app.Identity.Tokens.IssueToken(t.Context(), app.DefaultTenant, "vera", "a test")
	if a := w.program(token, "GET", "/version", "", ""); !strings.Contains(a.body, commit) {
		t.Errorf("a program with a token is answered %d %s", a.status, a.body)
	}
}
