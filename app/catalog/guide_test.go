package catalog

import (
	"os"
	"regexp"
	"testing"
	"testing/fstest"
)

func TestTheGuidesFirstCatalogIsGood(t *testing.T) {
	guide, err := os.ReadFile("../../docs/catalog.md")
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
