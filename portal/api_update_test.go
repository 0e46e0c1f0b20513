package portal

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
)

func TestUpdateOverTheAPI(t *testing.T) {
	s, w := updating(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.call("POST", "/clusters/"+id+"/operations/preview", `{"kind":"resize","size":5}`).reads(http.StatusConflict, "Another operation is in progress.")
	s.rest(id)

	p := as[cluster.UpdatePreview](s.call("POST", "/clusters/"+id+"/operations/preview", `{"kind":"resize","size":5}`), 200)
	if p.Before.Nodes != 3 || p.After.Nodes != 5 || p.PlanHash != p.Plan.Hash() || p.Nodes[4].Change != plan.NodeNew {
		t.Errorf("the preview is %+v", p)
	}
	s.call("POST", "/clusters/"+id+"/operations", `{"kind":"resize","size":4,"plan_hash":"`+p.PlanHash+`"}`).reads(http.StatusConflict, `"kind":"plan_changed"`)
	a := s.call("POST", "/clusters/"+id+"/operations", `{"kind":"resize","size":5,"plan_hash":"`+p.PlanHash+`"}`)
	if v := as[cluster.UpdateAnswer](a, 201); v.Cluster.Size != 5 || v.Operation != v.Cluster.Operations[0].ID || a.header.Get("Location") != "/api/v1/clusters/"+id {
		t.Errorf("the answer is %+v at %q", v, a.header.Get("Location"))
	}
	s.rest(id)
	if v := as[cluster.UpdateAnswer](s.call("POST", "/clusters/"+id+"/operations", `{"kind":"upgrade"}`), 200); v.Operation != 0 || v.Cluster == nil {
		t.Errorf("an upgrade without changes returns %+v", v)
	}
	w.waits = true
	a = s.call("POST", "/clusters/"+id+"/operations", `{"kind":"restart"}`)
	if v := as[cluster.UpdateAnswer](a, 202); v.Request == nil || v.Request.ID != 7 || a.header.Get("Location") != "/api/v1/requests/7" {
		t.Errorf("a request that waits returns %+v at %q", v, a.header.Get("Location"))
	}
	s.call("POST", "/clusters/nothing/operations", `{"kind":"restart"}`).reads(http.StatusNotFound, "There is no cluster nothing.")
}

func TestWrongUpdatesAreRefusedByTheAPI(t *testing.T) {
	s, w := updating(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.rest(id)
	for body, want := range map[string]string{
		``:                                       "The request needs a body.",
		`{`:                                      "ends too early",
		`{}`:                                     "kind is required",
		`{"kind":"explode"}`:                     "must be one of: ",
		`{"kind":"create"}`:                      "must be one of: ",
		`{"kind":"resize","size":-1}`:            "must be at least 0",
		`{"kind":"resize","size":1000000}`:       "must be at most 100000",
		`{"kind":"resize","size":"five"}`:        "must be a whole number",
		`{"kind":"resize","sice":5}`:             "unknown field",
		`{"kind":"restart","on_failure":"weep"}`: "must be one of: ",
		`{"kind":"restart","plan_hash":"` + long(65) + `"}`:                         "must have at most 64 characters",
		`{"kind":"restart","services":["` + long(129) + `"]}`:                       "must have at most 128 characters",
		`{"kind":"restart","nodes":[` + strings.Repeat(`"n1",`, 100_000) + `"n1"]}`: "must have at most 100000 items",
		`{"kind":"reconfigure","config":"port: 80"}`:                                "must be an object",
	} {
		for _, path := range []string{"/operations", "/operations/preview"} {
			a := s.call("POST", "/clusters/"+id+path, body)
			if a.status != http.StatusUnprocessableEntity && a.status != http.StatusBadRequest {
				t.Errorf("%.40s is answered %d: %.200s", body, a.status, a.body)
			}
			if !strings.Contains(unescaped(a.body), want) {
				t.Errorf("%.40s is refused without %q: %.300s", body, want, a.body)
			}
		}
	}
	big := `{"kind":"reconfigure","config":{"a":"` + long(1<<20) + `"}}`
	if a := s.call("POST", "/clusters/"+id+"/operations", big); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of a megabyte is answered %d", a.status)
	}
	if len(w.updated) != 0 {
		t.Errorf("something was done: %+v", w.updated)
	}
}

func TestUpdatesAreDocumented(t *testing.T) {
	s, _ := updating(t, "ada")
	var doc struct {
		Paths      map[string]map[string]struct{ Responses map[string]any }
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal([]byte(s.get("/api/v1/openapi.json").body), &doc); err != nil {
		t.Fatal(err)
	}
	for _, status := range []string{"200", "201", "202", "409", "422"} {
		if doc.Paths["/clusters/{id}/operations"]["post"].Responses[status] == nil && status != "422" {
			t.Errorf("the answer %s of an update is not documented", status)
		}
	}
	if kinds := doc.Components.Schemas["ClusterUpdate"].Properties["kind"].Enum; len(kinds) != len(app.Updates) {
		t.Errorf("the documented kinds are %v", kinds)
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func unescaped(s string) string {
	return strings.NewReplacer(`\u003e`, ">", `\u003c`, "<").Replace(s)
}
