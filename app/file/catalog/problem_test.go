package catalog

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"muster/app"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

var update = flag.Bool("update", false, "write what is got to the golden files")

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what is got (-update writes it):\n%s", file, got)
	}
}

// families are checks such as cmd hands in.
func families() Options {
	return Options{
		Env:           env(map[string]string{"SET": "sesame"}),
		ProviderTypes: []string{"fake", "sandbox"},
		CheckProvider: func(p template.ProviderSpec) error {
			settings := p.Settings
			if _, ok := settings["mode"]; ok {
				e := app.Errorf(app.EInvalid, "there is no such mode")
				e.Field, e.Hint = "settings.mode", "leave it out"
				return e
			}
			return nil
		},
		Automators: []string{"shell"},
		CheckAction: func(_ string, fields map[string]string) error {
			if fields["script"] == "" {
				e := app.Errorf(app.EInvalid, "a script is required")
				e.Field = "script"
				return e
			}
			if fields["script"] == "odd" {
				return errors.New("this script is odd")
			}
			return nil
		},
	}
}

func TestAllProblemsAreReportedWithTheirPosition(t *testing.T) {
	c, err := Load(families(), "testdata/bad")
	var ps form.Problems
	if c != nil || !errors.As(err, &ps) {
		t.Fatalf("got %v, %v", c, err)
	}
	golden(t, "testdata/bad.golden", ps.Error()+"\n")
	if strings.Contains(ps.Error(), "sesame") {
		t.Error("a setting is quoted; it may be a secret")
	}
}

func lint(o Options, files ...string) string {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return LintFS(o, Source{Name: "c", FS: m}).Problems.Error()
}

func TestProblems(t *testing.T) {
	for name, tc := range map[string]struct {
		files []string
		want  string // "" means none
	}{
		"check of settings, at the setting": {
			[]string{"a.yaml", "kind: provider\nname: p\ntype: fake\nsettings:\n  a: b\n  mode: 1\n"},
			`c/a.yaml:6:9: error: provider "p": settings.mode: there is no such mode; leave it out`,
		},
		"check of settings waits for secrets": {
			[]string{"a.yaml", "kind: provider\nname: p\ntype: fake\nsettings: {mode: '${env:GONE}'}\n"},
			`c/a.yaml:4:18: error: provider "p": settings.mode: environment variable GONE isn't set; set it in the environment of Muster`,
		},
		"check of an action, at its fields": {
			[]string{"a.yaml", "kind: service\nname: s\nactions:\n  start: {automator: shell, fields: {args: x}}\n"},
			`c/a.yaml:4:29: error: service "s": actions.start.fields.script: a script is required`,
		},
		"check of an action, at a script by itself": {
			[]string{"a.yaml", "kind: service\nname: s\nactions:\n  start: odd\n"},
			`c/a.yaml:4:10: error: service "s": actions.start.fields: this script is odd`,
		},
		"an unknown automator is a warning": {
			[]string{"a.yaml", "kind: service\nname: s\nactions:\n  start: {automator: shel}\n"},
			`c/a.yaml:4:22: warning: service "s": actions.start.automator: unknown automator "shel", so the action will fail; available: shell; did you mean "shell"?`,
		},
		"more than any hardware offers": {
			[]string{"a.yaml", "kind: service\nname: s\nneeds: {cpu: 8, disk_gb: 1}\n---\nkind: hardware\nname: h\nproviders: {p: {flavor: a, cpu: 4}, q: {flavor: b, cpu: 2}}\n",
				"p.yaml", "kind: provider\nname: p\ntype: fake\n---\nkind: provider\nname: q\ntype: fake\n"},
			`c/a.yaml:3:14: warning: service "s": needs.cpu is 8, but no hardware offers more than 4 (h on p), so no node can run this service`,
		},
		"an alias means its value": {
			[]string{"a.yaml", "kind: template\nname: t\ndefaults: {services: &s [x]}\ncompatibility: {services: *s}\n---\nkind: service\nname: x\n"},
			"",
		},
		"merge keys are refused": {
			[]string{"a.yaml", "kind: service\nname: x\ninstall: &i {uses: []}\nruntime:\n  <<: *i\n"},
			`c/a.yaml:5:3: error: service "x": unknown key runtime.<<; merge keys aren't supported: write the keys out, or use an alias for the whole value`,
		},
		"an alias of itself": {
			[]string{"a.yaml", "kind: template\nname: t\ndefaults: {services: [x], config: &c {c: *c}}\n---\nkind: service\nname: x\n"},
			`c/a.yaml:3:35: error: template "t": ` + form.Clip("defaults.config"+strings.Repeat(".c", 100)) + `: nested more than 64 levels deep`,
		},
		"too deep": {
			[]string{"a.yaml", "kind: template\nname: t\ndefaults: {services: [x], config: {a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}}\n---\nkind: service\nname: x\n"},
			`c/a.yaml:3:100: error: template "t": ` + form.Clip("defaults.config.a"+strings.Repeat("[0]", 100)) + `: nested more than 64 levels deep`,
		},
		"same name in one directory": {
			[]string{"a.yaml", "kind: service\nname: x\n", "b.yml", "kind: service\nname: x\n---\nkind: image\nname: x\nproviders: {p: {image: i}}\n", "providers/p.json", `{"name": "p", "providertype": "fake"}`},
			`c/b.yml:2:7: error: service "x" is defined twice, first at c/a.yaml:2`,
		},
		"JSON that is none": {
			[]string{"services/a.json", "{\n  \"name\": \"a\",\n  oops\n}"},
			`c/services/a.json:3:3: error: invalid character 'o'`,
		},
		"JSON that ends early": {
			[]string{"services/a.json", "{\n  \"name\": \"a\","},
			`c/services/a.json:2:15: error: the file ends in the middle of the JSON value`,
		},
		"more than one JSON value": {
			[]string{"services/a.json", "{\"name\": \"a\"}\n{}"},
			`c/services/a.json:2:1: error: unexpected data after the end of the JSON value`,
		},
		"wrong type in Coopr's form": {
			[]string{"hardwaretypes/a.json", "{\"name\": \"a\", \"providermap\": {\n \"p\": {\"flavor\": \"x\", \"cost\": \"dear\"}}}", "providers/p.json", `{"name": "p", "providertype": "fake"}`},
			`c/hardwaretypes/a.json:2:31: error: hardware "a": providermap.p.cost must be a number (found "dear")`,
		},
		"missing in Coopr's form": {
			[]string{"providers/a.json", `{"name": "a", "providertype": null}`},
			`c/providers/a.json:1:1: error: provider "a": providertype is required`,
		},
		"lease in Coopr's form": {
			[]string{"clustertemplates/a.json", `{"name": "a", "administration": {"leaseduration": {"max": -1}}}`},
			`c/clustertemplates/a.json:1:59: error: template "a": administration.leaseduration.max must be a number of milliseconds or a text such as "10s", "10m", "10h" or "10d" (found -1)`,
		},
		"nothing there": {[]string{"README.md", "hello"}, `c: warning: contains no catalog entries`},
		"loose JSON": {
			[]string{"a.json", "{}"},
			`c: warning: contains no catalog entries. Coopr's JSON is read from the folders providers, hardwaretypes, imagetypes, services, clustertemplates and partialtemplates`,
		},
		"names with a dot in front are passed over": {
			[]string{".git/a.yaml", ":", ".a.yaml", ":", "a.yaml", "kind: service\nname: x\n"}, "",
		},
		"a reference into what cannot be read is not reported twice": {
			[]string{"a.yaml", "kind: template\nname: t\ndefaults: {services: [x]}\n", "b.yaml", "kind: service\nname: x\nactions: [\n"},
			`c/b.yaml:3: error: invalid YAML: did not find expected node content`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := lint(families(), tc.files...)
			if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) || strings.Contains(got, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestWarningsDoNotFailALoad(t *testing.T) {
	o := families()
	var warned []string
	o.Warn = func(p form.Problem) { warned = append(warned, p.String()) }
	src := Source{Name: "c", FS: fstest.MapFS{"a.yaml": {Data: []byte("kind: service\nname: s\nruntime: {requires: [gone]}\n")}}}
	c, err := loadFS(o, src)
	if err != nil || c.Services["s"] == nil || len(warned) != 1 {
		t.Errorf("got %v, %v, warnings %q", c, err, warned)
	}
}

func TestLaterDirectoriesReplaceByName(t *testing.T) {
	entry := func(desc string) fs.FS {
		return fstest.MapFS{"a.yaml": {Data: []byte("kind: service\nname: s\ndescription: " + desc + "\n")},
			desc + ".yaml": {Data: []byte("kind: service\nname: " + desc + "\n")}}
	}
	c, err := loadFS(Options{}, Source{"one", entry("one")}, Source{"two", entry("two")})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Services["s"].Description; got != "two" || len(c.Services) != 3 {
		t.Errorf("s is from %q, services %v", got, c.Services)
	}
}

func TestSecretsMayStayReferences(t *testing.T) {
	o := families()
	o.Env = nil
	r := LintFS(o, Source{Name: "c", FS: fstest.MapFS{"a.yaml": {Data: []byte(
		"kind: provider\nname: p\ntype: fake\nsettings: {mode: '${env:GONE}', list: ['${env:A}', {x: 'a-${env:B}'}]}\n")}}})
	if !r.OK() || r.Catalog.Providers["p"].Settings["mode"] != "${env:GONE}" {
		t.Errorf("%v %v", r.Problems, r.Catalog.Providers["p"].Settings)
	}
	o.Env = env(map[string]string{"GONE": "1", "A": "${env:B}", "B": "b"})
	o.CheckProvider = nil
	r = LintFS(o, Source{Name: "c", FS: fstest.MapFS{"a.yaml": {Data: []byte(
		"kind: provider\nname: p\ntype: fake\nsettings: {list: ['${env:A}', {x: 'a-${env:B}'}]}\n")}}})
	if got := fmt.Sprint(r.Catalog.Providers["p"].Settings); !r.OK() || got != "map[list:[${env:B} map[x:a-b]]]" {
		t.Errorf("%v %v: what was looked up is not looked into again", r.Problems, got)
	}
}

func TestASmallBuildSaysWhatItLeavesOut(t *testing.T) {
	o := families()
	o.ProviderTypesLeftOut = []string{"aws"}
	for typ, want := range map[string]string{"aws": "small build of Muster doesn't include the provider type \"aws\"; use a full build", "awss": "unknown provider type"} {
		if got := lint(o, "a.yaml", "kind: provider\nname: p\ntype: "+typ+"\n"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", typ, got)
		}
	}
}

func TestHostileFilesAreRefusedQuickly(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'p'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	bomb = "kind: template\nname: t\ndefaults:\n  services: [x]\n  config:\n    " + strings.ReplaceAll(bomb, "\n", "\n    ")
	start := time.Now()
	if got := lint(Options{}, "a.yaml", bomb); !strings.Contains(got, "more than 500000 values") {
		t.Errorf("alias bomb: %.300s", got)
	}
	if got := lint(Options{}, "a.yaml", "#"+strings.Repeat("x", maxFileSize)); !strings.Contains(got, "larger than 4.0 MiB") {
		t.Errorf("large file: %.300s", got)
	}
	if got := lint(Options{}, "a.yaml", strings.Repeat("---\nkind: x\n", form.MaxDocuments+1)); !strings.Contains(got, "1000 problems or more") {
		t.Errorf("many problems: %.300s", got)
	}
	if got := lint(Options{}, "a.yaml", strings.Repeat("---\n", form.MaxDocuments+10)); !strings.Contains(got, "more than 10000 documents") {
		t.Errorf("many documents: %.300s", got)
	}
	if d := time.Since(start); d > 2*time.Minute { // unbounded, it would be years
		t.Errorf("took %v", d)
	}
}

func TestMissingDirectory(t *testing.T) {
	if _, err := Load(Options{}, filepath.Join(t.TempDir(), "gone")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("gone", filepath.Join(dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := Lint(Options{}, dir).Problems.Error(); !strings.Contains(got, "b.yaml: error: can't be read: no such file") || strings.Contains(got, "a.yaml") {
		t.Errorf("got %s", got)
	}
}
