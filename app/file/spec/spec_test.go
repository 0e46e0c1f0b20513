package spec

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"

	"pgregory.net/rapid"
)

func TestSpecIsReadable(t *testing.T) {
	e := cluster.SpecExport{Spec: cluster.Spec{Name: "shop", Template: "web", Size: 3, Services: []string{"db", "nginx"}, Lease: "8h",
		Config: map[string]any{"db": map[string]any{"password": "${secret:DB}"}, "nginx": map[string]any{"port": 80.0, "since": "2026-01-01"}}, Parameters: map[string]any{"flavour": "yes"}},
		Groups: []layout.NodeGroup{{Count: 2, Hardware: "small", Image: "debian", Services: []string{"nginx"}}}, Omitted: []string{"config.db.url"}}
	text, err := YAML(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `# Spec of a cluster like shop. Create one with: muster cluster create -f FILE
#   2 × small with debian: nginx
# left out, since it may contain a secret: config.db.url
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
	back, err := Parse("", text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := back.Request()
	if err != nil || *r.Lease != 8*time.Hour || r.Size != 3 || r.Config["nginx"].(map[string]any)["since"] != "2026-01-01" {
		t.Errorf("read again: %+v, %v", r, err)
	}
}

// Whatever texts stand in a spec, they are the same when it is read again.
func TestSpecsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,20}`), rapid.SampledFrom([]string{"yes", "null", "~", "1", "0x1", "1e3", ".inf", "2026-01-01", "a: b", "# x", "- x", "<<", "é ü", "a\nb\n", "\tx"}))
		s := cluster.Spec{Name: rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[A-Za-z][A-Za-z0-9_.-]{0,20}`), rapid.SampledFrom([]string{"yes", "null", "n", "e1"})).Draw(t, "name"), Template: "t" + text.Draw(t, "template"), Size: rapid.IntRange(0, 1000).Draw(t, "size"),
			Services: rapid.SliceOfN(text, 0, 4).Draw(t, "services")}
		s.Config = map[string]any{text.Draw(t, "key"): text.Draw(t, "value"), "deep": map[string]any{"list": []any{text.Draw(t, "item"), true, 12.0}}}
		if len(s.Services) == 0 {
			s.Services = nil
		}
		b, err := YAML(cluster.SpecExport{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("", b)
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		if !reflect.DeepEqual(got, s) {
			t.Fatalf("%#v became %#v by\n%s", s, got, b)
		}
	})
}

// TestAllSpecProblemsAreReportedWithTheirPosition: not only the first one.
func TestAllSpecProblemsAreReportedWithTheirPosition(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"template: web\nservces: [a]\nsize: many\nlease: soon\nconfig: [1]\nprefer: best\non_failure: panic\nname: 1x\n",
			`f.yaml:2:1: servces: Unknown field "servces". Did you mean services?
f.yaml:3:7: size: This must be a whole number.
f.yaml:4:1: lease: Invalid lease "soon". Use a duration such as 90m, 8h or 7d, or forever.
f.yaml:5:9: config: This must be keys and values, such as name: web.
f.yaml:6:1: prefer: Unknown preference "best". Use packed, cheapest or spread.
f.yaml:7:1: on_failure: Unknown choice "panic".`},
		{"template: web\ntemplate: db\n", "f.yaml:2:1: template: template is set twice, first on line 1."},
		{"template: web\nconfig: {a: 1, a: 2}\n", "f.yaml:2:16: config.a: a is set twice, first on line 2."},
		{"size: 3\nmin_available: 0%\n", "f.yaml:1:1: template is required. Add: template: NAME\nf.yaml:2:1: min_available: "},
		{"template: web\nsize: 1000000\n", "f.yaml:2:1: size: This must be from 1 to "},
		{"- template\n", "f.yaml:1:1: This must be keys and values, such as name: web."},
		{"", "f.yaml: The file is empty."},
		{"template: web\n---\ntemplate: db\n", "f.yaml:2:1: The file has more than one document."},
		{"template: &a web\nname: *a\n", "f.yaml:1:11: template: Anchors and aliases aren't supported"},
		{"template: [", "f.yaml:1:1: Invalid YAML"},
		{`{"template": "web", "sise": 3}`, "f.yaml:1:21: sise: Unknown field \"sise\". Did you mean size?"},
		{strings.Repeat("#", mostSpec+1), "must be at most 1 MiB"},
	} {
		_, err := Parse("f.yaml", []byte(c.text))
		if e := app.AsError(err); err == nil || !strings.Contains(strings.TrimSpace(e.Message+" "+e.Hint), c.says) {
			t.Errorf("%.60q is reported as\n%v\nand not as\n%s", c.text, err, c.says)
		}
	}
	s := cluster.Spec{Template: "web", Size: 4, OnFailure: app.FailureAcceptPartial, PartialOverride: template.PartialOverride{MinAvailable: "60%", NoBackfill: true}}
	b, err := YAML(cluster.SpecExport{Spec: s})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Parse("", b); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v: %+v, want %+v by\n%s", err, got, s, b)
	}
}

// FuzzParse: no text makes it fall over, what is refused has a place within the text, and what is taken can be asked for.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"template: web\nsize: 3\nlease: 8h", "{}", "template: {a: 1}", "size: 1e400", "config: {a: [1, {b: c}]}", "min_available: 60%\non_failure: accept_partial\ntemplate: a", "- 1", "\x00", "? [a]\n: b", "lease: 99999999999h"} {
		f.Add(s)
	}
	line := regexp.MustCompile(`^f\.yaml:(\d+):\d+: `)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f.yaml", []byte(text))
		if err == nil {
			if _, err := s.Request(); err != nil || s.Template == "" && !strings.Contains(text, "template") {
				t.Errorf("%q is taken as %+v, which can't be asked for: %v", text, s, err)
			}
			return
		}
		if app.CodeOf(err) == app.ETooLarge {
			return
		}
		for _, reported := range strings.Split(err.Error(), "\n") {
			if strings.Contains(reported, "Invalid YAML") || strings.HasPrefix(reported, "and ") || strings.HasSuffix(reported, "The file is empty.") || !strings.HasPrefix(reported, "f.yaml:") {
				continue
			}
			if m := line.FindStringSubmatch(reported); m == nil || humanize.PlainText(reported) != reported {
				t.Errorf("%q is reported as %q", text, reported)
			} else if n, _ := strconv.Atoi(m[1]); n < 1 || n > len(text)+1 {
				t.Errorf("%q has no line %d: %s", text, n, reported)
			}
		}
	})
}
