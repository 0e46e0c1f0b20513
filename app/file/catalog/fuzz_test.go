package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"muster/app/file/catalog/form"
)

// FuzzParse feeds any bytes to both forms: nothing panics, a broken file never loads, what loads can be written as JSON,
// and the same bytes get the same answer.
func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*/*")
	if err != nil {
		f.Fatal(err)
	}
	more, err := filepath.Glob("testdata/coopr/*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(seeds, more...) {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(data)
		}
	}
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("kind: template\nname: t\ndefaults: {config: &c {c: *c}}"))
	f.Add([]byte("{\"name\": \"\\ud83d\", \"providermap\": {\"p\": {\"flavor\": 1e999}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree := fstest.MapFS{"a.yaml": {Data: data}}
		for folder := range form.CooprFolders {
			tree[folder+"/a.json"] = &fstest.MapFile{Data: data}
		}
		source := Source{Name: "c", FS: tree}
		o := families()
		r := LintFS(o, source)
		if _, err := json.Marshal(r.Catalog); err != nil {
			t.Errorf("what was read is unknown: %v", err)
		}
		if c, err := loadFS(o, source); (c != nil) != r.OK() || (err == nil) != r.OK() {
			t.Errorf("load returns %v, %v where lint says %v", c, err, r.Problems)
		}
		if again := LintFS(o, source).Problems.Error(); again != r.Problems.Error() {
			t.Errorf("first\n%s\nthen\n%s", r.Problems.Error(), again)
		}
		for _, p := range r.Problems {
			if p.Origin.Line < 0 || p.Column < 0 || p.Message == "" {
				t.Errorf("a problem without a place or a message: %+v", p)
			}
		}
	})
}
