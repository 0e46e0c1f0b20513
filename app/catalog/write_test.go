package catalog

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"muster/app"
)

// asText gives all that an entry says, with a provider's settings.
func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := v.(*app.ProviderSpec); ok {
		s, err := json.Marshal(p.Settings)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, s...)
	}
	return string(b)
}

func keysOfCatalog(c *app.Catalog) (list []app.CatalogKey) {
	for n := range c.Providers {
		list = append(list, app.CatalogKey{Kind: app.KindProvider, Name: n})
	}
	for n := range c.Hardware {
		list = append(list, app.CatalogKey{Kind: app.KindHardware, Name: n})
	}
	for n := range c.Images {
		list = append(list, app.CatalogKey{Kind: app.KindImage, Name: n})
	}
	for n := range c.Services {
		list = append(list, app.CatalogKey{Kind: app.KindService, Name: n})
	}
	for n := range c.Written {
		list = append(list, app.CatalogKey{Kind: app.KindTemplate, Name: n})
	}
	return list
}

func valueIn(c *app.Catalog, k app.CatalogKey) any {
	switch k.Kind {
	case app.KindProvider:
		return c.Providers[k.Name]
	case app.KindHardware:
		return c.Hardware[k.Name]
	case app.KindImage:
		return c.Images[k.Name]
	case app.KindService:
		return c.Services[k.Name]
	}
	return c.Written[k.Name]
}

// What is written says what was read, of all catalogs that there are; and writing it again changes nothing.
func TestWhatIsWrittenIsReadTheSame(t *testing.T) {
	for _, dir := range []string{"../../examples/catalog", "testdata/good", "testdata/heritage", "testdata/coopr", os.Getenv("COOPR_DEFINITIONS")} {
		if dir == "" {
			continue
		}
		report := Lint(Options{}, dir)
		r := NewReader(Options{}, app.Families{})
		keys := keysOfCatalog(report.Catalog)
		if len(keys) < 4 {
			t.Errorf("%s has only %d entries", dir, len(keys))
		}
		for _, k := range keys {
			v := valueIn(report.Catalog, k)
			if p, ok := v.(*app.ProviderSpec); ok {
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
			out := &reporter{}
			again := parseNative(out, "a.yaml", []byte(text))
			if len(again.entries) != 1 || again.entries[0].broken {
				t.Errorf("%v is written as\n%s\nwhich is not read: %v", k, text, out.sorted())
				continue
			}
			read := again.entries[0].value
			if p, ok := read.(*app.ProviderSpec); ok {
				p.Tenant = "acme"
			}
			if got, want := asText(t, read), asText(t, v); got != want {
				t.Errorf("%s: %v is written as\n%s\nand read as\n%s\nnot\n%s", dir, k, text, got, want)
			}
			once := app.NewCatalog()
			enlist(once, again.entries[0])
			if second, _ := r.Write(once, k); second != text {
				t.Errorf("%v is written as\n%s\nand then as\n%s", k, text, second)
			}
		}
		t.Logf("%s: %d entries", dir, len(keys))
	}
}

// TestPlacesBeginAtTheCatalog: pages say where an entry is written without the server's directories.
func TestPlacesBeginAtTheCatalog(t *testing.T) {
	base := fstest.MapFS{"web/web.yaml": {Data: []byte("kind: service\nname: web\n---\nkind: template\nname: web\ndefaults: {services: [web]}\nlease: {initial: 8h}\n")}}
	more := fstest.MapFS{"more.yaml": {Data: []byte("kind: template\nname: more\nextends: web\n")}}
	for name, c := range map[string]struct {
		sources []Source
		want    string
	}{
		"one directory": {[]Source{{Name: "/srv/a/", FS: base}}, "web/web.yaml:7"},
		"one of two":    {[]Source{{Name: "/srv/a", FS: base}, {Name: "/srv/b", FS: more}}, "a/web/web.yaml:7"},
	} {
		got, err := NewReader(Options{}, app.Families{}).LoadFS(c.sources...)
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
