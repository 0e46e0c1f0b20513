package portal

import (
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"muster/app/template"
)

func TestParametersOfARunningClusterAreFields(t *testing.T) {
	s, w := updating(t, "ada")
	parametered(w.fake)
	tmpl := w.fake.catalog.Templates["web"]
	tmpl.Parameters = append(tmpl.Parameters, template.Parameter{Name: "machine", Type: template.ParameterText, To: []string{"hardware"}})
	id := s.cluster(ada, "shop", "web", 3)
	s.rest(id)
	w.fake.find(id).Parameters = map[string]any{"port": 8080.0, "title": "Shop", "tls": true, "mode": "safe", "keep": "7d"}
	at := "/clusters/" + id + "/change"
	a := s.get(at + "?kind=reconfigure")
	a.reads(http.StatusOK, "Port", "Where it listens. Leave empty for the template's default: 80. A whole number from 1 to 65535.", "Safe & slow")
	in := a.fields()
	for field, want := range map[string]string{"set-port": "8080", "was-port": "8080", "set-title": "Shop", "set-tls": "true", "set-mode": "safe", "set-keep": "7d", "set-cache": ""} {
		if in.Get(field) != want {
			t.Errorf("%s is %q, not %q", field, in.Get(field), want)
		}
	}
	if in.Has("set-machine") {
		t.Error("what only creates can say is asked for")
	}
	in.Set("config", "{}") // texts of many lines are not among the fields
	in.Set("base", "{}")
	// As it is, nothing is asked for.
	s.post(at+"/preview", in).reads(http.StatusUnprocessableEntity, "No changes.")

	in.Set("set-port", "70000")
	in.Set("set-cache", "much")
	in.Set("set-title", "Bakery")
	a = s.post(at+"/preview", in)
	a.reads(http.StatusUnprocessableEntity, "is more than 65535", `"much" isn't a size`, "No preview. Fix the errors in the form.")
	for _, field := range []string{"set-port", "set-cache"} {
		if n := a.find("err-" + field); n == nil || n.FirstChild == nil {
			t.Errorf("nothing is said at %s", field)
		}
	}
	if n := a.find("err-set-title"); n == nil || n.FirstChild != nil {
		t.Error("something is said of what is right")
	}
	if back := a.fields(); back.Get("set-port") != "70000" || back.Get("set-cache") != "much" || back.Get("set-title") != "Bakery" || back.Get("was-title") != "Shop" {
		t.Errorf("what was typed is lost: %v", back)
	}
	if a.find("do") != nil {
		t.Error("it can be done though it is wrong")
	}

	in.Set("set-port", "")
	in.Set("set-cache", "1G")
	in.Del("set-tls")
	a = s.post(at+"/preview", in)
	a.reads(http.StatusOK, "Apply changes")
	do := a.hidden()
	want := map[string]any{"port": "", "cache": "1G", "tls": "false", "title": "Bakery"}
	for name, v := range want {
		if !do.Has("set-"+name) || do.Get("set-"+name) != v {
			t.Errorf("it would send %v", do)
		}
	}
	// If nothing was changed, the form keeps the values.
	again := url.Values{}
	for k, v := range do {
		again[k] = v
	}
	again.Set("plan_hash", "another")
	r := s.post(at, again)
	r.reads(http.StatusConflict, "The cluster has changed since your preview")
	if back := r.fields(); back.Get("set-title") != "Bakery" || back.Get("set-cache") != "1G" || back.Get("set-tls") == "true" || back.Get("set-keep") != "7d" {
		t.Errorf("what was asked is lost: %v", back)
	}
	if r := s.post(at, do); r.status != http.StatusSeeOther {
		t.Fatalf("doing it answers %d: %s", r.status, r.text())
	}
	if len(w.updated) != 1 || !reflect.DeepEqual(w.updated[0].Parameters, want) || len(w.updated[0].Config) != 0 {
		t.Errorf("it asked for %+v", w.updated)
	}
}

// What only the use case knows to be wrong is said at the parameter's field too.
func TestParameterErrorsAreAtTheirFields(t *testing.T) {
	s, w := updating(t, "ada")
	parametered(w.fake)
	id := s.cluster(ada, "shop", "web", 3)
	s.rest(id)
	w.refusesParameter = "keep"
	a := s.post("/clusters/"+id+"/change/preview", url.Values{"kind": {"reconfigure"}, "config": {"{}"}, "base": {"{}"}, "set-keep": {""}, "was-keep": {"7d"}})
	a.reads(http.StatusUnprocessableEntity, "keep is missing")
	if n := a.find("err-set-keep"); n == nil || n.FirstChild == nil {
		t.Error("it is not said at its field")
	}
}
