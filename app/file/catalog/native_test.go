package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/app/template"
)

func env(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
}

func TestNativeFormatIsReadCompletely(t *testing.T) {
	c, err := Load(Options{
		Env:  env(map[string]string{"CLOUD_TOKEN": "sesame"}),
		Warn: func(p form.Problem) { t.Errorf("unexpected: %s", p) },
	}, "testdata/good")
	if err != nil {
		t.Fatal(err)
	}
	about := func(name string, line int) template.About {
		return template.About{Name: name, Origin: template.Origin{File: "testdata/good/all.yaml", Line: line}}
	}
	cloud := about("cloud", 1)
	cloud.Label = "A cloud"
	web := about("web", 28)
	site := about("site", 51)
	site.Lines = c.Templates["site"].Lines // of which hosts_test.go tells
	web.Description, web.Icon = "Serves pages.", "https://example.test/web.png"
	shell := func(script string) *template.ServiceAction {
		return &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": script}}
	}
	for name, pair := range map[string][2]any{
		"provider": {c.Providers["cloud"], &template.ProviderSpec{
			About: cloud, Type: "sandbox", Settings: map[string]any{"token": "sesame", "region": "here", "count": 3},
		}},
		"hardware": {c.Hardware["small"], &template.HardwareType{About: about("small", 10), Providers: map[string]template.Flavor{
			"cloud": {Flavor: "s-1", CostPerHour: 0.01, CPU: 1, MemoryGB: 2, DiskGB: 25, Extra: map[string]string{"class": "shared"}},
		}}},
		"image": {c.Images["linux"], &template.ImageType{About: about("linux", 17), Providers: map[string]template.Image{
			"cloud": {Image: "linux-1", SSHUser: "admin"},
		}}},
		"service": {c.Services["web"], &template.Service{
			About: web, Conflicts: []string{"other"},
			Install: template.Dependencies{Requires: []string{"foundation"}}, Runtime: template.Dependencies{Uses: []string{"base"}},
			Actions: map[app.Action]*template.ServiceAction{
				app.ActionStart: {Automator: "shell", Timeout: 90 * time.Second,
					Fields: map[string]string{"script": "echo start\n", "args": "one two"}},
				app.ActionStop: shell("echo stop\n"),
			},
			Links: []app.Link{{Label: "Page", URL: "http://%ip.service.web[0]%/"}},
		}},
		"template": {c.Templates["site"], &template.Template{
			About: site,
			Defaults: template.Defaults{
				Services: []string{"base", "web"}, Provider: "cloud", Hardware: "small", Image: "linux", DNSSuffix: "example.test",
				Config: map[string]any{
					"web":  map[string]any{"port": 80, "name": "site", "colour": "red"},
					"list": []any{1, 2.5, true, nil, "text", "2024-01-02"},
				},
			},
			Compatibility: template.Compatibility{Services: []string{"base", "web", "other"}, Hardware: []string{"small"}, Images: []string{"linux"}},
			Constraints: template.Constraints{
				MustCoexist: [][]string{{"base", "web"}}, CantCoexist: [][]string{{"web", "other"}},
				Services: map[string]template.ServiceConstraint{
					"base":  {Min: 0, MinSet: true, Max: 5},
					"web":   {Max: 1, Hardware: []string{"small"}, Images: []string{"linux"}},
					"other": {Max: template.Unlimited},
				},
				Size: template.SizeRange{Min: 2, Max: 10},
			},
			Lease: template.Lease{Initial: 8 * time.Hour, Max: 72 * time.Hour, Step: 36 * time.Hour},
			Links: []app.Link{{Label: "Site", URL: "http://%ip.service.web%/"}},
		}},
		"zones": {c.Providers["zoned"].Zones, []string{"a", "b", "c"}},
		"rate":  {c.Providers["zoned"].Rate, template.Rate{PerSecond: 10, Burst: 10}},
		"needs": {c.Services["db"].Needs, template.Requirements{CPU: 0.5, MemoryGB: 64, DiskGB: 10}},
		"constraints": {c.Templates["wide"].Constraints, template.Constraints{
			CantCoexistPairs: [][]string{{"base", "web", "db"}},
			Ratios:           []template.Ratio{{Service: "base", Per: 10, Of: "web"}, {Service: "db", Per: 3, Of: "web"}},
			Zones:            &template.ZoneRule{MaxSkew: 2, Services: []string{"web"}},
			Hardware:         map[string]int{"large": 3}, MixedHardware: true,
			Services: map[string]template.ServiceConstraint{}, Size: template.SizeRange{Min: 1, Max: template.Unlimited},
		}},
		"zones of all nodes together": {c.Templates["even"].Constraints.Zones, &template.ZoneRule{MaxSkew: 1}},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			got, _ := json.MarshalIndent(pair[0], "", " ")
			want, _ := json.MarshalIndent(pair[1], "", " ")
			t.Errorf("%s:\n got %+v\n%s\nwant %+v\n%s", name, pair[0], got, pair[1], want)
		}
	}
	if s := c.Templates["bare"].Constraints.Size; !reflect.DeepEqual(s, template.SizeRange{Min: 1, Max: template.Unlimited}) {
		t.Errorf("size of a template that says nothing = %+v", s)
	}
}

func TestListedSizes(t *testing.T) {
	for written, want := range map[string]string{
		"{one_of: [7, 3, 5, 3]}":    "3, 5 or 7 nodes",
		"{one_of: [4]}":             "exactly 4 nodes",
		"{one_of: [3, 5], min: 1}":  "sizes (3 or 5 nodes) contradict min or max",
		"{one_of: [0, 5]}":          "sizes must be from 1 to",
		"{one_of: [3, 2000000000]}": "sizes must be from 1 to",
		"{one_of: [" + strings.TrimSuffix(strings.Repeat("1, ", 90), ", ") + "]}": "exactly 1 node",
	} {
		dir := t.TempDir()
		text := "kind: template\nname: odd\ndefaults: {services: [web]}\nconstraints: {size: " + written + "}\n---\nkind: service\nname: web\nactions: {start: echo}\n"
		if err := os.WriteFile(filepath.Join(dir, "odd.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(Options{}, dir)
		got := fmt.Sprint(err)
		if err == nil {
			got = c.Templates["odd"].Constraints.Size.Text()
		}
		if !strings.Contains(got, want) {
			t.Errorf("size: %s is %q, not %q", written, got, want)
		}
	}
}

// A new action in app needs a key here.
func TestEveryServiceActionHasAKey(t *testing.T) {
	by := form.ActionsDoc{}.ByName()
	if len(by) != len(template.ServiceActions) {
		t.Errorf("%d keys for %d actions", len(by), len(template.ServiceActions))
	}
	var keys []string
	for _, f := range form.FieldsOf(reflect.TypeFor[form.ActionsDoc]()) {
		keys = append(keys, f.Key)
	}
	for _, a := range template.ServiceActions {
		if _, ok := by[a]; !ok || !slices.Contains(keys, string(a)) {
			t.Errorf("the action %s cannot be written", a)
		}
	}
}

func TestDurations(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0": 0, "30s": 30 * time.Second, "10m": 10 * time.Minute, "8h": 8 * time.Hour, "30d": 720 * time.Hour,
		"1d12h": 36 * time.Hour, "1h30m5s": 5405 * time.Second, "0s": 0,
	} {
		if got, err := form.ParseDuration(s); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "8", "h", "8 h", "-1h", "1.5h", "5m1h", "8H", "99999999999999999999d", "40000d", "36500d1s"} {
		if got, err := form.ParseDuration(s); err == nil {
			t.Errorf("%q = %v, should be refused", s, got)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"services", "defaults", "dns_suffix", "hardware", "store", "lb"}
	for written, want := range map[string]string{
		"servces": "services", "dnsSuffix": "dns_suffix", "hardwrae": "hardware", "stoer": "store", "bl": "lb",
		"Store": "store", "x": "", "something": "", "": "",
	} {
		if got := humanize.Nearest(written, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", written, got, want)
		}
	}
}
