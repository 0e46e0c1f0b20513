package portal

import (
	"net/http"
	"strings"
	"testing"
)

func TestTypesOfProvidersAndAutomators(t *testing.T) {
	s, _ := newCatalogSite(t, "root")
	if !strings.Contains(s.get("/admin/catalog").body, `href="/admin/catalog/types"`) {
		t.Error("the catalog doesn't link to its types")
	}
	a := s.get("/admin/catalog/types")
	a.reads(http.StatusOK, "Provider types", "cloud Machines elsewhere.", "sandbox Machines on this host.", "Automator types", "shell")
	wantClean(t, a)
	a = s.get("/admin/catalog/types/provider/typed")
	a.reads(http.StatusOK, "typed", "Provider type. One field of each type.", "Capabilities none", "project text, required none account",
		"key secret text of several lines none account", "In PEM form.",
		"disk_gb whole number 20 account", "public true or false true", "size one of small, large small", "networks list none", "No resource types.")
	wantClean(t, a)
	s.get("/admin/catalog/types/automator/shell").reads(http.StatusOK, "Automator type.", "script text of several lines, required none action")
	s.get("/admin/catalog/types/automator/shel").reads(http.StatusNotFound, "Automator type shel doesn't exist.", "shell")
	if a := s.get("/admin/catalog/types/other/shell"); a.status != http.StatusNotFound {
		t.Errorf("another family: %d", a.status)
	}
	s.signIn("ada")
	for _, path := range []string{"", "/provider/cloud"} {
		if a := s.get("/admin/catalog/types" + path); a.status != http.StatusForbidden {
			t.Errorf("%s answers %d to a user", path, a.status)
		}
	}
	for _, c := range []struct {
		path, user string
		status     int
		says       string
	}{
		{"/provider-types", "root", http.StatusOK, `"name":"cloud"`},
		{"/provider-types/sandbox", "root", http.StatusOK, `"default":"64"`},
		{"/provider-types/cloudy", "root", http.StatusNotFound, "Provider type cloudy doesn't exist."},
		{"/automator-types", "root", http.StatusOK, `"name":"shell"`},
		{"/automator-types/shell", "root", http.StatusOK, `"name":"script"`},
		{"/automator-types/shell", "ada", http.StatusForbidden, ""},
	} {
		if a := s.do(s.request("GET", "/api/v1"+c.path, "", "Authorization", "Bearer token-of-"+c.user)); a.status != c.status || !strings.Contains(a.body, c.says) {
			t.Errorf("%s as %s: %d %s", c.path, c.user, a.status, a.body)
		}
	}
}
