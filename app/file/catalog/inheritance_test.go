package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"muster/app/template"
)

func TestCooprIncludesAreMergedAsCooprDoes(t *testing.T) {
	r := Lint(Options{ProviderTypes: []string{"sandbox"}}, "testdata/heritage/coopr")
	golden(t, "testdata/heritage/coopr.golden", r.Problems.Error()+"\n")
	if !r.OK() {
		t.Fatal("what Coopr takes, we take")
	}
	shut := r.Catalog.Templates["shut"]
	if shut == nil {
		t.Fatal("shut is not there")
	}
	if want := []string{"store", "database", "worker", "watch", "guard"}; !slices.Equal(shut.Defaults.Services, want) {
		t.Errorf("services %v, want %v: the parent's, those of what is included, its own", shut.Defaults.Services, want)
	}
	d := shut.Defaults
	if d.Provider != "cloud" || d.Hardware != "large" || d.Image != "stone" || d.DNSSuffix != "example.test" || shut.Description != "With a guard" {
		t.Errorf("single values: %+v", d)
	}
	if got, want := slices.Sorted(maps.Keys(d.Config)), []string{"database", "guard.enabled", "guard.port", "store", "watch"}; !slices.Equal(got, want) {
		t.Errorf("configuration has %v, want %v", got, want)
	}
	if got, want := shut.Compatibility.Services, []string{"store", "worker", "database", "watch", "guard"}; !slices.Equal(got, want) {
		t.Errorf("compatible %v, want %v", got, want)
	}
	if got := shut.Constraints; !reflect.DeepEqual(got.MustCoexist, [][]string{{"database", "store", "worker"}}) || !reflect.DeepEqual(got.Size, template.SizeRange{Min: 3, Max: 100}) ||
		len(got.Services) != 2 || got.Services["store"].Max != 1 {
		t.Errorf("constraints %+v", got)
	}
	if shut.Lease.Initial.Hours() != 12 || !slices.Equal(shut.Immutable, []string{"config.watch"}) {
		t.Errorf("lease %v, immutable %v", shut.Lease, shut.Immutable)
	}
	tight := r.Catalog.Templates["tight"]
	if !reflect.DeepEqual(tight.Defaults.Config["directory"], map[string]any{"end": "right.example.test"}) {
		t.Errorf("the last that says it wins: %v", tight.Defaults.Config["directory"])
	}
	if !reflect.DeepEqual(tight.Defaults.Config["store"], map[string]any{"cache": 1}) {
		t.Errorf("a key is taken as a whole: %v", tight.Defaults.Config["store"])
	}
	for _, name := range []string{"other-watch", "rewatched"} {
		if r.Catalog.Templates[name] != nil {
			t.Errorf("%s says what is immutable otherwise, and is there", name)
		}
	}
	for _, name := range []string{"watched", "known"} {
		if w := r.Catalog.Written[name]; r.Catalog.Templates[name] != nil || w == nil || !w.Partial {
			t.Errorf("the part %s is offered, or not kept: %+v", name, w)
		}
	}
}

// TestCooprsOwnPartsMerge loads what Coopr's server tested composition with, and compares with its own result.
func TestCooprsOwnPartsMerge(t *testing.T) {
	if _, err := os.Stat(referenceDefinitions + "/test-partials"); err != nil {
		t.Skip("Coopr's definitions are not at hand")
	}
	tree := fstest.MapFS{}
	read := func(folder, file string) {
		data, err := os.ReadFile(referenceDefinitions + "/test-partials/" + file)
		if err != nil {
			t.Fatal(err)
		}
		tree[folder+"/"+file] = &fstest.MapFile{Data: data}
	}
	for _, f := range []string{"cdap-distributed-insecure", "cdap-distributed", "cdap-distributed-secure-hadoop", "cdap-not-persisted", "cdap-not-persisted-overrides-parent",
		"cdap-not-persisted-overrides-partial", "template-with-overrides-in-body", "template-with-overrides-in-partial"} {
		read("clustertemplates", f+".json")
	}
	for _, f := range []string{"sensu-partial", "ldap-partial", "partial-immutable-overrides"} {
		read("partialtemplates", f+".json")
	}
	c := LintFS(Options{}, Source{Name: "c", FS: tree}).Catalog
	// Names of its tests, and whether its server merged them or answered 400.
	for name, merges := range map[string]bool{
		"cdap-distributed": true, "cdap-distributed-secure-hadoop": true, "cdap-distributed-insecure": true, "cdap-not-persisted-overrides-partial": false,
		"template-with-overrides-in-body": false, "template-with-overrides-in-partial": false,
	} {
		if (c.Templates[name] != nil) != merges {
			t.Errorf("%s merges: %v, want %v", name, !merges, merges)
		}
	}
	tree = fstest.MapFS{}
	read("clustertemplates", "cdap-distributed-resolved.json")
	want, got := LintFS(Options{}, Source{Name: "c", FS: tree}).Catalog.Written["cdap-distributed"], c.Templates["cdap-distributed"]
	if got == nil || want == nil {
		t.Fatal("no result")
	}
	for _, pair := range [][2]any{{got.Defaults, want.Defaults}, {got.Compatibility, want.Compatibility}, {got.Constraints, normal(want.Constraints)}, {got.Lease, want.Lease}} {
		a, _ := json.Marshal(pair[0])
		b, _ := json.Marshal(pair[1])
		if string(a) != string(b) {
			t.Errorf("got  %s\nwant %s", a, b)
		}
	}
}

// normal leaves out empty lists that Coopr writes out.
func normal(c template.Constraints) template.Constraints {
	services := map[string]template.ServiceConstraint{}
	for name, s := range c.Services {
		if len(s.Hardware) == 0 {
			s.Hardware = nil
		}
		if len(s.Images) == 0 {
			s.Images = nil
		}
		services[name] = s
	}
	c.Services = services
	return c
}

func TestNativeTemplatesAreMerged(t *testing.T) {
	data, err := os.ReadFile("testdata/heritage/own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := LintFS(families(), Source{Name: "c", FS: fstest.MapFS{"own.yaml": {Data: data}}})
	if !r.OK() || len(r.Problems) > 0 {
		t.Fatal(r.Problems)
	}
	if r.Catalog.Templates["company"] != nil || r.Catalog.Written["company"] == nil || r.Catalog.Written["shop"].Defaults.Provider != "" {
		t.Error("a part is offered, or what is written is not kept as it is")
	}
	shop := r.Catalog.Templates["shop"]
	golden(t, "testdata/heritage/shop.golden", reported(shop))
}

// told writes out a template with where each part is written.
func reported(t *template.Template) string {
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	out.Write(b)
	out.WriteString("\n\n")
	for _, part := range slices.SortedFunc(maps.Keys(t.Taken), cmp.Compare) {
		fmt.Fprintf(&out, "%s %s %s\n", part, t.From[part], t.Taken[part])
	}
	return out.String()
}

func TestMergeProblemsAreReportedWithTheirPosition(t *testing.T) {
	data, err := os.ReadFile("testdata/heritage/bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := LintFS(families(), Source{Name: "c", FS: fstest.MapFS{"bad.yaml": {Data: data}}})
	golden(t, "testdata/heritage/bad.golden", r.Problems.Error()+"\n")
	for _, name := range []string{"typo", "of-typo", "left", "right", "into", "self", "includes-whole", "overrides", "adds", "drops"} {
		if r.Catalog.Templates[name] != nil {
			t.Errorf("%s is offered", name)
		}
	}
}

func TestTemplateChainsAreLimited(t *testing.T) {
	chain := func(n int) Report {
		text := "kind: service\nname: s\n---\nkind: provider\nname: p\ntype: sandbox\n---\nkind: template\nname: t1\ndefaults: {services: [s], provider: p}\n"
		for i := 2; i <= n; i++ {
			text += fmt.Sprintf("---\nkind: template\nname: t%d\nextends: t%d\n", i, i-1)
		}
		return LintFS(families(), Source{Name: "c", FS: fstest.MapFS{"t.yaml": {Data: []byte(text)}}})
	}
	if r := chain(maxAncestors); !r.OK() || len(r.Catalog.Templates) != maxAncestors {
		t.Errorf("%d: %v", maxAncestors, r.Problems)
	}
	r := chain(maxAncestors + 5)
	if r.OK() || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "nested more than 16 levels deep") || r.Problems[0].Origin.Line == 0 {
		t.Errorf("%v", r.Problems)
	}
	// Parts that include each other twice would be more than anything can hold.
	text := "kind: template\nname: t0\npartial: true\n"
	for i := 1; i < 15; i++ {
		text += fmt.Sprintf("---\nkind: template\nname: t%d\npartial: true\nincludes: [t%d, t%d]\n", i, i-1, i-1)
	}
	r = LintFS(families(), Source{Name: "c", FS: fstest.MapFS{"t.yaml": {Data: []byte(text)}}})
	if r.OK() || !strings.Contains(r.Problems.Error(), "combines more than 100 templates") {
		t.Errorf("%v", r.Problems)
	}
}
