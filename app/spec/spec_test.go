package spec

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/app"
)

func TestSpecIsWrittenForPeople(t *testing.T) {
	e := app.SpecExport{Spec: app.ClusterSpec{Name: "shop", Template: "web", Size: 3, Services: []string{"db", "nginx"}, Lease: "8h",
		Config: map[string]any{"db": map[string]any{"password": "${secret:DB}"}, "nginx": map[string]any{"port": 80.0, "since": "2026-01-01"}}, Parameters: map[string]any{"flavour": "yes"}},
		Groups: []app.NodeGroup{{Count: 2, Hardware: "small", Image: "debian", Services: []string{"nginx"}}}, LeftOut: []string{"config.db.url"}}
	text, err := YAML(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `# What to ask for to get a cluster like shop: muster cluster create -f FILE
#   2 × small with debian: nginx
# left out, since it may be secret: config.db.url
name: shop
template: web
size: 3
services:
  - db
  - nginx
lease: 8h
config:
  db:
    password: ${secret:DB}
  nginx:
    port: 80
    since: "2026-01-01"
parameters:
  flavour: "yes"
`
	if string(text) != want {
		t.Errorf("it is\n%s\nwant\n%s", text, want)
	}
	back, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := back.Request()
	if err != nil || *r.Lease != 8*time.Hour || r.Size != 3 || r.Config["nginx"].(map[string]any)["since"] != "2026-01-01" {
		t.Errorf("read again: %+v, %v", r, err)
	}
}

// Whatever texts stand in a spec, they are the same when it is read again.
func TestSpecsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,20}`), rapid.SampledFrom([]string{"yes", "null", "~", "1", "0x1", "1e3", ".inf", "2026-01-01", "a: b", "# x", "- x", "<<", "é ü", "a\nb\n", "\tx"}))
		s := app.ClusterSpec{Name: text.Draw(t, "name"), Template: "t" + text.Draw(t, "template"), Size: rapid.IntRange(0, 1000).Draw(t, "size"),
			Services: rapid.SliceOfN(text, 0, 4).Draw(t, "services")}
		s.Config = map[string]any{text.Draw(t, "key"): text.Draw(t, "value"), "deep": map[string]any{"list": []any{text.Draw(t, "item"), true, 12}}}
		if len(s.Services) == 0 {
			s.Services = nil
		}
		b, err := YAML(app.SpecExport{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(b)
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		if !reflect.DeepEqual(got, s) {
			t.Fatalf("%#v became %#v by\n%s", s, got, b)
		}
	})
}

func TestSpecsThatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"template: web\nservces: [a]\n", `Line 2: There is no key "servces" in a spec. Did you mean "services"?`},
		{"template: web\nsize: many\n", "Line 2: size has a wrong value. It is a whole number"},
		{"template: web\ntemplate: db\n", `Line 2: The key "template" stands there twice.`},
		{"template: web\nconfig: {a: 1, a: 2}\n", `Line 2: The key "a" stands there twice.`},
		{"template: web\nconfig: {1: a}\n", "Line 2: The key 1 is not a text."},
		{"size: 3\n", "Line 1: It does not say which template."},
		{"- template\n", "Line 1: It is not a list of keys and values."},
		{"", "There is nothing in it."},
		{"template: web\n---\ntemplate: db\n", "more than one document"},
		{"template: &a web\nname: *a\n", "Line 2: Aliases are not read."},
		{"template: [", "line 1"},
		{`{"template": "web", "sise": 3}`, `Did you mean "size"?`},
		{strings.Repeat("#", mostSpec+1), "longer than 1 MiB"},
	} {
		_, err := Parse([]byte(c.text))
		if e := app.AsError(err); err == nil || !strings.Contains(e.Advised(), c.says) {
			t.Errorf("%.60q: %v, want it to say %q", c.text, err, c.says)
		}
	}
	for _, lease := range []string{"soon", "-1h", "0h"} {
		if _, err := (app.ClusterSpec{Template: "web", Lease: lease}).Request(); app.CodeOf(err) != app.EInvalid {
			t.Errorf("a lease of %s: %v", lease, err)
		}
	}
}
