package portal

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"muster/app"
	"muster/app/policy"
	"muster/portal/site"
)

// hidden returns the fields of the form that does what is shown.
func (a seen) hidden() url.Values {
	a.t.Helper()
	v := url.Values{}
	do := a.find("do")
	if do == nil {
		a.t.Fatalf("there is no button to do it:\n%s", a.text())
	}
	for n := do.Parent; n != nil; n = n.Parent {
		if n.Data != "form" {
			continue
		}
		for d := range n.Descendants() {
			if d.Data == "input" {
				v.Add(attr(d, "name"), attr(d, "value"))
			}
		}
		break
	}
	return v
}

func TestGrowOnThePage(t *testing.T) {
	s, w := updating(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	if text := s.get("/clusters/" + id).at("change"); text != "Change cluster you'll see a preview first Available when the current operation finishes." {
		t.Errorf("while it is made, the page offers %q", text)
	}
	s.rest(id)
	a := s.get("/clusters/" + id)
	a.reads(http.StatusOK, "Change cluster", "2 to 50 nodes", "Name node started n1 Restart Stop Start Remove", "Data node started n2 and n3", "All services 3 nodes", "Add services Services HAProxy")
	a.lacks("Upgrade available", "lost or unhealthy")

	// The button for one more leads there without a script.
	a = s.get("/clusters/" + id + "/change?kind=resize&size=3&by=1")
	a.reads(http.StatusOK, "Resize lake", "Grow from 3 to 4 nodes", "n4 is created.", "Nodes 3 to → 4", "Cost per hour 0.36 to → 0.48", "Cost until expiry +2.88",
		"n4 new Data node Node manager medium · Debian 12", "3 other nodes don't change.", "6 steps", "Nodes to remove", "Apply changes", "Muster runs exactly this plan")
	if got := a.fields().Get("size"); got != "4" {
		t.Errorf("the form has %q nodes", got)
	}
	do := a.hidden()
	if do.Get("plan_hash") == "" || do.Get("size") != "4" || do.Get("kind") != "resize" {
		t.Errorf("it would send %v", do)
	}
	r := s.post("/clusters/"+id+"/change", do)
	if r.status != http.StatusSeeOther || r.header.Get("Location") != "/clusters/"+id {
		t.Fatalf("doing it answers %d at %q: %s", r.status, r.header.Get("Location"), r.text())
	}
	if len(w.updated) != 1 || w.updated[0].Size != 4 || w.updated[0].PlanHash != do.Get("plan_hash") {
		t.Errorf("it asked for %+v", w.updated)
	}
	s.get("/clusters/"+id).reads(http.StatusOK, "lake resizing", "Growing from 3 to 4 nodes: 0 of 6 steps done", "Plan to resize", "resize running")
	s.get("/clusters").reads(http.StatusOK, "lake resizing")
	s.rest(id)
	s.get("/clusters/"+id).reads(http.StatusOK, "lake active", "Running as requested.")
}

// TestPreviewOfGrowthFollowsWhatIsTyped: the page asks again by itself once typing pauses for a moment, by the form's own address, and the
// answer is the preview and what is wrong, without the field that is being typed in.
func TestPreviewOfGrowthFollowsWhatIsTyped(t *testing.T) {
	s, w := updating(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.rest(id)
	path := "/clusters/" + id + "/change"
	form := s.get(path + "?kind=resize").find("update")
	for name, want := range map[string]string{"hx-get": path, "hx-trigger": "input delay:250ms", "hx-target": "#preview", "hx-sync": "this:replace"} {
		if got := attr(form, name); got != want {
			t.Errorf("%s of the form is %q, want %q", name, got, want)
		}
	}
	if text := s.get(path + "?kind=resize").body; !strings.Contains(text, "/static/htmx.min.") {
		t.Error("the page doesn't load what its form needs")
	}
	part := s.get(path+"?kind=resize&size=5", "HX-Request", "true")
	part.reads(http.StatusOK, "Grow from 3 to 5 nodes", "Muster runs exactly this plan")
	if part.find("preview") == nil || part.find("size") != nil || part.find("main") != nil {
		t.Errorf("the part is\n%s", part.body)
	}
	part = s.get(path+"?kind=resize&size=many", "HX-Request", "true")
	part.reads(http.StatusUnprocessableEntity, "must be a whole number of at least 1")
	if attr(part.find("err-update"), "hx-swap-oob") != "true" {
		t.Errorf("what is wrong isn't put into the form:\n%s", part.body)
	}
	if s.get(path+"?kind=resize&size=4", "HX-Request", "true").reads(http.StatusOK, "Grow from 3 to 4 nodes"); len(w.updated) != 0 {
		t.Errorf("a look has changed something: %+v", w.updated)
	}
}

func TestEveryUpdateHasItsPage(t *testing.T) {
	s, w := updating(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.rest(id)
	w.newer, w.unhealthy = true, []string{"n2"}
	s.get("/clusters/"+id).reads(http.StatusOK, "Upgrade available. 1 change, 25 steps.", "Preview upgrade", "1 node is lost or unhealthy: n2. Repair replaces it.")
	for query, want := range map[string][]string{
		"kind=resize":                               {"Resize", "3 now", "The preview will appear here."},
		"kind=resize&nodes=n2":                      {"Shrink from 3 to 2 nodes", "n2 hands over its services and is deleted.", "n2 removed", "the youngest"},
		"kind=add_services":                         {"Add services", "HAProxy", "The preview will appear here."},
		"kind=add_services&services=haproxy":        {"Add haproxy", "haproxy is added to n1.", "HAProxy new"},
		"kind=remove_services&services=nodemanager": {"Remove nodemanager", "nodemanager is removed from n2 and n3.", "Node manager removed"},
		"kind=start":                                {"Start all services", "You'll see a preview before anything changes."},
		"kind=resize&size=3&nodes=n2&nodes=n2":      {"Shrink from 3 to 2 nodes"},
		"kind=stop&services=datanode":               {"Stop datanode", "datanode is stopped on n2 and n3.", "Data node stop"},
		"kind=restart&nodes=n1":                     {"Restart namenode", "namenode is restarted on n1."},
		"kind=upgrade":                              {"Upgrade to the current catalog", "services.web.install", "apt-get install web=2", "Nodes at a time"},
		"kind=repair":                               {"Repair n2", "replaced"},
		"kind=reconfigure":                          {"Change configuration", `"replication": 3`, "•••"},
	} {
		a := s.get("/clusters/" + id + "/change?" + query)
		back := "Back to cluster"
		if strings.Contains(a.body, `id="do"`) {
			back = "Cancel"
		}
		a.reads(http.StatusOK, append(want, "lake", back)...)
	}
	w.newer, w.unhealthy = false, nil
	s.get("/clusters/"+id+"/change?kind=upgrade").reads(http.StatusOK, "No changes. The cluster is already in this state.")
	for _, path := range []string{"/change", "/change?kind=create", "/change/preview"} {
		if a := s.get("/clusters/" + id + path); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters/"+id+"#change" {
			t.Errorf("%s answers %d at %q", path, a.status, a.header.Get("Location"))
		}
	}
}

func TestReconfigureSendsOnlyWhatChanges(t *testing.T) {
	s, w := updating(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.rest(id)
	at := "/clusters/" + id + "/change"
	base := `{"dfs":{"replication":3,"block_size_mb":128},"password":"•••"}`
	edited := "{\"dfs\": {\"replication\": 2},\r\n \"password\": \"•••\", \"new\": [1, null]}"
	a := s.post(at+"/preview", url.Values{"kind": {"reconfigure"}, "config": {edited}, "base": {base}, "batch": {"1"}})
	a.reads(http.StatusOK, "config.dfs", "config.new", "reload", "datanode is reconfigured and reloaded on n2 and n3.")
	do := a.hidden()
	var overlay map[string]any
	if err := json.Unmarshal([]byte(do.Get("overlay")), &overlay); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"dfs": map[string]any{"replication": 2.0, "block_size_mb": nil}, "new": []any{1.0, nil}}
	if !reflect.DeepEqual(overlay, want) {
		t.Errorf("it would send %v, not %v", overlay, want)
	}
	if r := s.post(at, do); r.status != http.StatusSeeOther {
		t.Fatalf("doing it answers %d: %s", r.status, r.text())
	}
	if len(w.updated) != 1 || !reflect.DeepEqual(w.updated[0].Config, want) || w.updated[0].Batch != 1 {
		t.Errorf("it asked for %+v", w.updated)
	}
	s.rest(id)
	for config, complaint := range map[string]string{
		"":           "Invalid JSON: unexpected end.",
		"{":          "Invalid JSON: unexpected end.",
		"[]":         "Invalid JSON",
		"null":       "Invalid JSON: must be an object, not null.",
		base + " {}": "unexpected text after the object",
		base:         "No changes.",
		`{"dfs":{"replication":3,"block_size_mb":128},"password":["•••"]}`: "A hidden value (•••) can't be moved",
	} {
		a := s.post(at+"/preview", url.Values{"kind": {"reconfigure"}, "config": {config}, "base": {base}})
		a.reads(http.StatusUnprocessableEntity, complaint, "No preview. Fix the errors in the form.")
		if !strings.Contains(a.body, "textarea") {
			t.Errorf("%s: what was typed is gone", config)
		}
	}
	s.post(at, url.Values{"kind": {"reconfigure"}, "overlay": {"{"}, "plan_hash": {"x"}}).reads(http.StatusUnprocessableEntity, "Invalid configuration change.")
}

func TestWrongUpdatesOnThePage(t *testing.T) {
	s, w := updating(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.get("/clusters/"+id+"/change?kind=restart").reads(http.StatusConflict, "Another operation is in progress.", "Wait until it finishes.")
	s.rest(id)
	at := "/clusters/" + id + "/change"
	for query, want := range map[string]string{
		"kind=resize&size=many":              "must be a whole number of at least 1",
		"kind=resize&size=1&by=-1":           "must be a whole number of at least 1",
		"kind=resize&size=51":                "Choose 2–50 nodes (you entered 51).",
		"kind=restart&batch=-1":              "The number of nodes at a time must be a whole number",
		"kind=restart&on_failure=weep":       "Unknown choice for On failure.",
		"kind=resize&size=99999999999999999": "must be a whole number of at least 1",
	} {
		s.get(at+"?"+query).reads(http.StatusUnprocessableEntity, want, "No preview. Fix the errors in the form.")
	}
	s.post(at, url.Values{"kind": {"restart"}}).reads(http.StatusUnprocessableEntity, "Review the preview first.", "Apply changes")
	s.post(at, url.Values{"kind": {"explode"}, "plan_hash": {"x"}}).reads(http.StatusUnprocessableEntity, "Unknown change.")
	s.post(at, url.Values{"kind": {"add_services"}, "plan_hash": {"x"}}).reads(http.StatusUnprocessableEntity, "The preview will appear here.")
	s.post(at, url.Values{"kind": {"restart"}, "plan_hash": {"another"}}).reads(http.StatusConflict, "The cluster has changed since your preview, and nothing was done.", "Apply changes")
	if a := s.post(at, url.Values{"kind": {"restart"}, "services": {long(site.FormLimit)}}); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form that is too large is answered %d", a.status)
	}
	if len(w.updated) > 0 {
		t.Errorf("something was done: %+v", w.updated)
	}
	s.get("/clusters/nothing/change?kind=restart").reads(http.StatusNotFound, "There is no cluster nothing.")

	// Policies: what waits leads to the request, and what is refused cannot be pressed.
	w.refuses = &policy.Decision{Outcome: policy.OutcomeRefuse, Reason: "Not on a Saturday.", Policy: "weekend"}
	a := s.get(at + "?kind=restart")
	a.reads(http.StatusOK, "Refused by policy", "Not on a Saturday.")
	if !has(a.find("do"), "disabled") {
		t.Error("what a policy refuses can be pressed")
	}
	w.refuses, w.waits = &policy.Decision{Outcome: policy.OutcomeApprove, Needs: []policy.RequiredApproval{{Approval: policy.Approval{Count: 1, Role: app.RoleApprover}}}}, true
	a = s.get(at + "?kind=restart")
	a.reads(http.StatusOK, "Approval required", "Request approval")
	if r := s.post(at, a.hidden()); r.header.Get("Location") != "/requests/7" {
		t.Errorf("what waits leads to %q", r.header.Get("Location"))
	}
}

func TestWhoMayNotUpdateIsOfferedNothing(t *testing.T) {
	s, _ := updating(t, "vera")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.rest(id)
	a := s.get("/clusters/" + id)
	a.lacks("Operations", "Restart", "Replace node")
	if !has(a.find("change"), "hidden") {
		t.Error("the page has an empty box")
	}
	s.get("/clusters/"+id+"/change?kind=reconfigure").reads(http.StatusForbidden, "Only its owner and admins may do that.")
}

func TestMatrixShowsWhatEndsBeforeItBegins(t *testing.T) {
	s, w := updating(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	s.rest(id)
	w.unhealthy = []string{"n2"}
	for query, want := range map[string]string{
		"kind=restart": "namenode datanode nodemanager stop start stop start stop start n1",
		"kind=repair":  "machine datanode nodemanager delete create install start install start n2",
	} {
		if r := s.post("/clusters/"+id+"/change", s.get("/clusters/"+id+"/change?"+query).hidden()); r.status != http.StatusSeeOther {
			t.Fatalf("%s answers %d: %s", query, r.status, r.text())
		}
		s.get("/clusters/"+id).reads(http.StatusOK, want)
		s.rest(id)
	}
}
