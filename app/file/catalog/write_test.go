package catalog

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
	"muster/app/catalog"
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// asText returns all that an entry says, with a provider's settings.
func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := v.(*template.ProviderSpec); ok {
		s, err := json.Marshal(p.Settings)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, s...)
	}
	return string(b)
}

func keysOfCatalog(c *template.Catalog) (list []template.CatalogKey) {
	for n := range c.Providers {
		list = append(list, template.CatalogKey{Kind: template.KindProvider, Name: n})
	}
	for n := range c.Hardware {
		list = append(list, template.CatalogKey{Kind: template.KindHardware, Name: n})
	}
	for n := range c.Images {
		list = append(list, template.CatalogKey{Kind: template.KindImage, Name: n})
	}
	for n := range c.Services {
		list = append(list, template.CatalogKey{Kind: template.KindService, Name: n})
	}
	for n := range c.Written {
		list = append(list, template.CatalogKey{Kind: template.KindTemplate, Name: n})
	}
	return list
}

func valueIn(c *template.Catalog, k template.CatalogKey) any {
	switch k.Kind {
	case template.KindProvider:
		return c.Providers[k.Name]
	case template.KindHardware:
		return c.Hardware[k.Name]
	case template.KindImage:
		return c.Images[k.Name]
	case template.KindService:
		return c.Services[k.Name]
	}
	return c.Written[k.Name]
}

// What is written says what was read, of all catalogs; and writing it again changes nothing.
func TestCatalogRoundTrip(t *testing.T) {
	for _, dir := range []string{"../../../examples/catalog", "testdata/good", "testdata/heritage", "testdata/coopr", os.Getenv("COOPR_DEFINITIONS")} {
		if dir == "" {
			continue
		}
		report := Lint(Options{}, dir)
		r := NewReader(Options{}, catalog.Families{})
		keys := keysOfCatalog(report.Catalog)
		if len(keys) < 4 {
			t.Errorf("%s has only %d entries", dir, len(keys))
		}
		for _, k := range keys {
			v := valueIn(report.Catalog, k)
			if p, ok := v.(*template.ProviderSpec); ok {
				own := *p
				own.Tenant = "acme"
				report.Catalog.Providers[k.Name], v = &own, &own
			}
			text, ok := r.Write(report.Catalog, k)
			if !ok {
				t.Fatalf("%v is not written", k)
			}
			if os.Getenv("SHOW") == k.Kind {
				t.Log("\n" + text)
			}
			out := &form.Reporter{}
			again := form.ParseNative(out, "a.yaml", []byte(text))
			if len(again.Entries) != 1 || again.Entries[0].Broken {
				t.Errorf("%v is written as\n%s\nwhich is not read: %v", k, text, out.Sorted())
				continue
			}
			read := again.Entries[0].Value
			if p, ok := read.(*template.ProviderSpec); ok {
				p.Tenant = "acme"
			}
			if got, want := asText(t, read), asText(t, v); got != want {
				t.Errorf("%s: %v is written as\n%s\nand read as\n%s\nnot\n%s", dir, k, text, got, want)
			}
			once := template.NewCatalog()
			enlist(once, again.Entries[0])
			if second, _ := r.Write(once, k); second != text {
				t.Errorf("%v is written as\n%s\nand then as\n%s", k, text, second)
			}
		}
		t.Logf("%s: %d entries", dir, len(keys))
	}
}

// TestPositionsAreRelativeToTheCatalog: pages say where an entry is written without the server's directories.
func TestPositionsAreRelativeToTheCatalog(t *testing.T) {
	base := fstest.MapFS{"web/web.yaml": {Data: []byte("kind: service\nname: web\n---\nkind: template\nname: web\ndefaults: {services: [web]}\nlease: {initial: 8h}\n")}}
	more := fstest.MapFS{"more.yaml": {Data: []byte("kind: template\nname: more\nextends: web\n")}}
	for name, c := range map[string]struct {
		sources []Source
		want    string
	}{
		"one directory": {[]Source{{Name: "/srv/a/", FS: base}}, "web/web.yaml:7"},
		"one of two":    {[]Source{{Name: "/srv/a", FS: base}, {Name: "/srv/b", FS: more}}, "a/web/web.yaml:7"},
	} {
		got, err := NewReader(Options{}, catalog.Families{}).LoadFS(c.sources...)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range got.Templates {
			for _, p := range of.Parts() {
				if strings.HasPrefix(p.At, "/") || p.Path == "lease.initial" && (p.At != c.want || p.Value != "8 h") {
					t.Errorf("%s: %s of %s is written at %s: %s", name, p.Path, of.Name, p.At, p.Value)
				}
			}
		}
	}
}

// A text that is laid out otherwise says the same, of all existing entries: so nothing is lost where it isn't saved.
func TestTextsThatDifferOnlyInLayout(t *testing.T) {
	r := NewReader(Options{}, catalog.Families{})
	var turn func(n *yaml.Node)
	turn = func(n *yaml.Node) {
		n.Style &^= yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.FlowStyle
		if n.Kind == yaml.MappingNode {
			for i, j := 0, len(n.Content)-2; i < j; i, j = i+2, j-2 {
				n.Content[i], n.Content[i+1], n.Content[j], n.Content[j+1] = n.Content[j], n.Content[j+1], n.Content[i], n.Content[i+1]
			}
		}
		for _, x := range n.Content {
			turn(x)
		}
	}
	tried := 0
	for _, dir := range []string{"../../../examples/catalog", "testdata/good"} {
		var files []catalog.File
		if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			b, err := os.ReadFile(path)
			files = append(files, catalog.File{Name: path, Text: string(b)})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		texts, problems := r.Split(files)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		turned := slices.Clone(texts)
		for i, x := range texts {
			root, err := oneDocument(x.Text)
			if err != nil {
				t.Fatalf("%s: %v", x.CatalogKey, err)
			}
			turn(root)
			if turned[i].Text, err = encoded(root); err != nil {
				t.Fatal(err)
			}
			if d := r.Compare(x.Text, turned[i].Text); d != catalog.TextSame {
				t.Errorf("%s: difference %d between\n%s\nand\n%s", x.CatalogKey, d, x.Text, turned[i].Text)
			}
			if d := r.Compare(x.Text, x.Text+"# more\n"); d != catalog.TextComments {
				t.Errorf("%s: difference %d by a comment", x.CatalogKey, d)
			}
			if d := r.Compare(x.Text, x.Text+"more: x\n"); d != catalog.TextValues {
				t.Errorf("%s: difference %d by a value", x.CatalogKey, d)
			}
			tried++
		}
		was, _ := r.Read(template.NewCatalog(), "acme", texts)
		is, _ := r.Read(template.NewCatalog(), "acme", turned)
		for _, x := range texts {
			if a, b := asText(t, valueIn(was, x.CatalogKey)), asText(t, valueIn(is, x.CatalogKey)); a != b || a == "null" {
				t.Errorf("%s is read as\n%s\nand, laid out otherwise, as\n%s", x.CatalogKey, a, b)
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d entries were tried", tried)
	}
}

func TestTextDifferences(t *testing.T) {
	r := NewReader(Options{}, catalog.Families{})
	for name, c := range map[string]struct {
		was, is string
		want    catalog.TextDifference
	}{
		"line ends of a browser": {"a: 1\nb: |\n  x\n  y\n", "a: 1\r\nb: |\r\n  x\r\n  y\r\n", catalog.TextSame},
		"quotes":                 {"a: 'x'\n", "a: \"x\"\n", catalog.TextSame},
		"a number as text":       {"a: 1\n", "a: '1'\n", catalog.TextValues},
		"the order of a list":    {"a: [1, 2]\n", "a: [2, 1]\n", catalog.TextValues},
		"a key less":             {"a: 1\nb: 2\n", "a: 1\n", catalog.TextValues},
		"a comment of a script":  {"a: |\n  # x\n  y\n", "a: |\n  # z\n  y\n", catalog.TextValues},
		"a comment":              {"a: 1 # x\n", "a: 1 # z\n", catalog.TextComments},
		"a comment less":         {"# x\na: 1\n", "a: 1\n", catalog.TextComments},
		"a comment that moves":   {"# x\na: 1\nb: 2\n", "b: 2\n# x\na: 1\n", catalog.TextSame},
		"anchors":                {"a: &x 1\nb: *x\n", "b: 1\na: &x 1\n", catalog.TextValues},
		"repeated keys":          {"a: 1\na: 1\n", "a: 1\nb: 1\n", catalog.TextValues},
		"what can't be read":     {"a: [\n", "a: [ \n", catalog.TextValues},
	} {
		if got := r.Compare(c.was, c.is); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if got := r.Compare(c.is, c.was); got != c.want {
			t.Errorf("%s, the other way round: %d, want %d", name, got, c.want)
		}
	}
}
