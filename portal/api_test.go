package portal

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/sshaccess"
	clusterpage "muster/portal/cluster"
	portalsite "muster/portal/site"
	"muster/portal/template"
)

// call is a request with ada's token.
func (s *testSite) call(method, path, body string, headers ...string) seen {
	s.t.Helper()
	return s.do(s.request(method, "/api/v1"+path, body, append([]string{"Authorization", "Bearer token-of-ada", "Content-Type", "application/json"}, headers...)...))
}

// as reads the answer into a value.
func as[T any](a seen, status int) T {
	a.t.Helper()
	var v T
	if a.status != status {
		a.t.Errorf("the status is %d, not %d: %s", a.status, status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		a.t.Errorf("%v: %s", err, a.body)
	}
	return v
}

func TestAPI(t *testing.T) {
	s := visit(t)
	if v := as[template.VersionBody](s.call("GET", "/version", ""), 200); v.Version != "1.2.3" {
		t.Errorf("the version is %q", v.Version)
	}
	if l := as[template.TemplateList](s.call("GET", "/templates", ""), 200); len(l.Templates) != 3 || l.Templates[0].Name != "hadoop" || l.Templates[0].Constraints.Size.Max != 50 {
		t.Errorf("the templates are %+v", l)
	}
	pre := as[cluster.Preview](s.call("POST", "/preview", `{"template":"hadoop","size":3}`), 200)
	if pre.Layout.Size() != 3 || pre.PlanHash != pre.Plan.Hash() || pre.Duration == 0 {
		t.Errorf("the preview is %+v", pre)
	}
	if l := s.call("GET", "/clusters", ""); strings.TrimSpace(l.body) != `{"clusters":[]}` {
		t.Errorf("no clusters are %s", l.body)
	}
	v := as[cluster.View](s.call("POST", "/clusters", `{"template":"hadoop","size":3,"name":"lake","lease":3600000000000,"plan_hash":"`+pre.PlanHash+`"}`), 201)
	if v.ID != "c01" || v.Owner != "ada" || len(v.Nodes) != 3 || *s.f.asked[0].Lease != time.Hour {
		t.Errorf("the cluster is %+v", v)
	}
	s.f.advance("c01", 4)
	if l := as[cluster.Page](s.call("GET", "/clusters?name=lake", ""), 200); len(l.Clusters) != 1 || l.Clusters[0].Operation.Done != 4 {
		t.Errorf("the list is %+v", l)
	}
	if l := as[clusterpage.StepList](s.call("GET", "/clusters/c01/steps", ""), 200); len(l.Steps) != 26 || l.Steps[0].State != app.StepSucceeded {
		t.Errorf("the steps are %+v", l)
	}
	if l := as[clusterpage.LogList](s.call("GET", "/clusters/c01/logs?node=n1&tail=true&limit=2", ""), 200); len(l.Lines) != 2 || l.Lines[1].Step != "n1.namenode.install" {
		t.Errorf("the log is %+v", l)
	}
	if k := as[clusterpage.Key](s.call("GET", "/clusters/c01/key", ""), 200); k.User != "root" || !strings.HasPrefix(k.Key, "-----BEGIN") {
		t.Errorf("the key is %+v", k)
	}
	if k := as[sshaccess.ClusterCertificate](s.call("POST", "/clusters/c01/certificate", `{"public_key":"ssh-ed25519 AAAA","ttl":"2h"}`), 200); k.User != "root" ||
		k.Certificate != "certificate of ssh-ed25519 AAAA" || k.Serial != "9223372036854775807" || !k.ValidUntil.Equal(s.f.now().Add(2*time.Hour)) {
		t.Errorf("the certificate is %+v", k)
	}
	for _, bad := range []string{`{"public_key":"x","ttl":"soon"}`, `{"public_key":"x","ttl":"-1h"}`, `{"ttl":"1h"}`, `{"public_key":"` + strings.Repeat("x", 16385) + `"}`} {
		if a := s.call("POST", "/clusters/c01/certificate", bad); a.status != 422 {
			t.Errorf("%.40s is answered %d", bad, a.status)
		}
	}
	s.f.failStep("c01", "n1.namenode.configure", "no")
	if v := as[cluster.View](s.call("POST", "/clusters/c01/resume", ""), 202); v.Status != app.ClusterPending {
		t.Errorf("resumed, it is %s", v.Status)
	}
	if v := as[cluster.View](s.call("DELETE", "/clusters/c01", ""), 202); v.Operations[0].Kind != app.OperationDelete {
		t.Errorf("deleted, it is %+v", v.Operations)
	}
}

func TestAPIRefusals(t *testing.T) {
	s := visit(t)
	s.cluster(ada, "lake", "hadoop", 3)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code                     app.Code
		field, says              string
	}{
		{"an unknown field", "POST", "/preview", `{"template":"web","size":2,"sise":3}`, 422, app.EInvalid, "sise", "sise: unknown field"},
		{"a deep unknown field", "POST", "/clusters", `{"template":"web","size":"two"}`, 422, app.EInvalid, "size", "size: must be a whole number"},
		{"no template", "POST", "/preview", `{"size":2}`, 422, app.EInvalid, "", "template"},
		{"no JSON", "POST", "/preview", `{"template":`, 400, app.EInvalid, "", ""},
		{"nothing", "POST", "/preview", ``, 400, app.EInvalid, "", ""},
		{"two values", "POST", "/preview", `{"template":"web","size":2} {}`, 400, app.EInvalid, "", ""},
		{"an unknown parameter", "GET", "/clusters?nam=x", "", 422, app.EInvalid, "nam", "query.nam"},
		{"a number out of range", "GET", "/clusters/c01/logs?limit=5001", "", 422, app.EInvalid, "limit", "query.limit"},
		{"no such size", "POST", "/preview", `{"template":"hadoop","size":60}`, 422, app.EInvalid, "", "Choose 2–50 nodes (you entered 60)."},
		{"no such cluster", "GET", "/clusters/none", "", 404, app.ENotFound, "", "There is no cluster none."},
		{"no events of no cluster", "GET", "/clusters/none/events", "", 404, app.ENotFound, "", "There is no cluster none."},
		{"nothing to resume", "POST", "/clusters/c01/resume", "", 409, app.EConflict, "", "Creation is running."},
		{"another plan", "POST", "/clusters", `{"template":"web","size":2,"name":"x","plan_hash":"00"}`, 409, app.EConflict, "", "The plan has changed."},
		{"no such address", "GET", "/clouds", "", 404, app.ENotFound, "", "This address doesn't exist"},
		{"no such verb", "PUT", "/clusters", "", 405, app.EInvalid, "", "doesn't support this method"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.call(c.method, c.path, c.body)
			p := as[portalsite.Problem](a, c.status)
			if p.Code != c.code || p.Status != c.status || p.Field != c.field || !strings.Contains(p.Detail, c.says) || p.Title == "" {
				t.Errorf("the problem is %s", a.body)
			}
			if ct := a.header.Get("Content-Type"); ct != "application/problem+json" {
				t.Errorf("it comes as %s", ct)
			}
		})
	}
	t.Run("values are not echoed", func(t *testing.T) {
		if a := s.call("POST", "/preview", `{"template":"web","size":2,"config":{"password":"hunter2"},"sise":3}`); strings.Contains(a.body, "hunter2") {
			t.Errorf("the problem is %s", a.body)
		}
	})
}

func TestAPITokens(t *testing.T) {
	s := visit(t)
	for name, header := range map[string]string{"none": "", "another scheme": "Basic token-of-ada", "empty": "Bearer ", "unknown": "Bearer unknown"} {
		t.Run(name, func(t *testing.T) {
			a := s.get("/api/v1/clusters", "Authorization", header)
			if p := as[portalsite.Problem](a, 401); p.Code != app.EUnauthorized || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("the answer is %s, %v", a.body, a.header)
			}
		})
	}
	s.signIn("ada")
	if a := s.get("/api/v1/clusters"); a.status != 401 {
		t.Errorf("a cookie opens the API: %d", a.status)
	}
}

func TestStatuses(t *testing.T) {
	for code, want := range map[app.Code]int{
		app.EInvalid: 422, app.ENotFound: 404, app.EConflict: 409, app.ENoLayout: 422, app.EUnauthorized: 401, app.EForbidden: 403, app.ETooLarge: 413,
		app.ERateLimit: 429, app.ECredentials: 502, app.ETransient: 503, app.ECapacity: 503, app.EQuota: 503, app.ETimeout: 504, app.EInternal: 500,
		app.EStale: 409, app.EHostKey: 502, app.EScript: 502, app.ECancelled: 409, "unheard of": 500,
	} {
		e, a := portalsite.Known(&app.Error{Code: code, Message: "secret?"})
		if a.Status != want {
			t.Errorf("%s answers %d, not %d", code, a.Status, want)
		}
		if hidden := want == 500; hidden != (e.Message == "internal error") {
			t.Errorf("%s says %q", code, e.Message)
		}
	}
	if e, a := portalsite.Known(errors.New("boom")); a.Status != 500 || e.Message != "internal error" {
		t.Errorf("an error without a code answers %d %q", a.Status, e.Message)
	}
	s := visit(t)
	s.f.broken = &app.Error{Code: app.ERateLimit, Message: "Slow down.", RetryAfter: 7 * time.Second}
	if a := s.call("GET", "/templates", ""); a.status != 429 || a.header.Get("Retry-After") != "7" {
		t.Errorf("too often: %d, %v", a.status, a.header)
	}
}

func TestOpenAPI(t *testing.T) {
	a := visit(t).get("/api/v1/openapi.json")
	doc := as[struct {
		OpenAPI string                                `json:"openapi"`
		Paths   map[string]map[string]json.RawMessage `json:"paths"`
		Servers []struct{ URL string }                `json:"servers"`
	}](a, http.StatusOK)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || doc.Servers[0].URL != "/api/v1" {
		t.Errorf("it is version %s at %v", doc.OpenAPI, doc.Servers)
	}
	for path, methods := range map[string]string{
		"/version": "get", "/templates": "get", "/preview": "post", "/clusters": "get post", "/clusters/{id}": "get delete", "/clusters/{id}/resume": "post",
		"/clusters/{id}/steps": "get", "/clusters/{id}/key": "get", "/clusters/{id}/certificate": "post", "/clusters/{id}/events": "get", "/clusters/{id}/logs": "get",
		"/clusters/{id}/operations/{operation}/cancel": "post", "/clusters/{id}/operations/{operation}/pause": "post",
		"/clusters/{id}/operations/{operation}/resume": "post", "/clusters/{id}/operations/{operation}/roll-back": "get post",
		"/clusters/{id}/nodes/{node}/retry": "post", "/clusters/{id}/waiting": "get", "/queue": "get",
	} {
		for m := range strings.FieldsSeq(methods) {
			if doc.Paths[path][m] == nil {
				t.Errorf("%s %s is not described", m, path)
			}
		}
	}
	for _, want := range []string{`"hint"`, `"kind"`, "application/problem+json", `"Event"`, "bearer"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("%s is not described", want)
		}
	}
	var refs func(v any)
	var all map[string]any
	_ = json.Unmarshal([]byte(a.body), &all)
	schemas := all["components"].(map[string]any)["schemas"].(map[string]any)
	refs = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if r, ok := v["$ref"].(string); ok && schemas[strings.TrimPrefix(r, "#/components/schemas/")] == nil {
				t.Errorf("%s is not there", r)
			}
			for _, x := range v {
				refs(x)
			}
		case []any:
			for _, x := range v {
				refs(x)
			}
		}
	}
	refs(all)
}

func TestAPIRate(t *testing.T) {
	s := visit(t, func(c *Config) { c.APIRate = 5 })
	for i := range 5 {
		if a := s.call("GET", "/clusters", ""); a.status != 200 || a.header.Get("RateLimit-Limit") != "5" || a.header.Get("RateLimit-Remaining") != strconv.Itoa(4-i) {
			t.Errorf("request %d is answered %d, %v", i, a.status, a.header)
		}
	}
	a := s.call("GET", "/clusters", "")
	if p := as[portalsite.Problem](a, 429); p.Code != app.ERateLimit || a.header.Get("Retry-After") != "5" {
		t.Errorf("one too many is answered %s, %v", a.body, a.header)
	}
	// Others are not kept waiting by that.
	if b := s.do(s.request("GET", "/api/v1/clusters", "", "Authorization", "Bearer token-of-root")); b.status != 200 {
		t.Errorf("another user is answered %d %s", b.status, b.body)
	}
}
