package catalog

import (
	"os"
	"regexp"
	"testing"
	"testing/fstest"
)

func TestFirstCatalogOfTheGuideIsValid(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/catalog.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(guide)
	if found == nil {
		t.Fatal("the guide has no example")
	}
	r := LintFS(families(), Source{Name: "guide", FS: fstest.MapFS{"guide.yaml": {Data: found[1]}}})
	if len(r.Problems) > 0 || r.Counts != (Counts{1, 1, 1, 1, 1}) {
		t.Errorf("%+v\n%v", r.Counts, r.Problems)
	}
}

func TestTemplateOfTheSolverGuideIsValid(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/solver.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(guide)
	if found == nil {
		t.Fatal("the guide has no example")
	}
	rest := "kind: provider\nname: cloud\ntype: fake\nzones: [a, b]\n---\nkind: hardware\nname: large\nproviders: {cloud: {flavor: l}}\n"
	for _, s := range []string{"proxy", "app", "db", "agent"} {
		rest += "---\nkind: service\nname: " + s + "\n"
	}
	r := LintFS(families(), Source{Name: "guide", FS: fstest.MapFS{"guide.yaml": {Data: found[1]}, "rest.yaml": {Data: []byte(rest)}}})
	if c := r.Catalog.Templates["shop"]; len(r.Problems) > 0 || c == nil || len(c.Constraints.Ratios) != 1 || c.Constraints.Zones == nil {
		t.Errorf("%+v\n%v", c, r.Problems)
	}
}
