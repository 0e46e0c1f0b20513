package providers

import (
	"os"
	"slices"
	"strings"
	"testing"

	appfamily "muster/app/family"
)

// Every member has a row in docs/providers.md and a page of its own, which names each of its fields.
func TestProvidersAreDocumented(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile("../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	family := read("providers.md")
	for name, m := range registry {
		file := "providers/" + name + ".md"
		if !strings.Contains(family, "\n| [`"+name+"`]("+file+") |") {
			t.Errorf("docs/providers.md has no row for %s", name)
		}
		page := read(file)
		if !strings.Contains(page, "type `"+name+"`") {
			t.Errorf("docs/%s does not say which type it is about", file)
		}
		for _, f := range slices.Concat(m.Descriptor.Fields, m.Descriptor.FlavorFields, m.Descriptor.ImageFields) {
			if !strings.Contains(page, "`"+f.Name+"`") {
				t.Errorf("docs/%s says nothing of the field %s", file, f.Name)
			}
			if f.Secret && !saysSecret(page, f) {
				t.Errorf("docs/%s does not say that %s is secret", file, f.Name)
			}
		}
	}
}

// saysSecret reports whether a line of the page names the field and says that it, or something with it, is secret.
func saysSecret(page string, f appfamily.Field) bool {
	for line := range strings.Lines(page) {
		if strings.Contains(line, "`"+f.Name+"`") && strings.Contains(line, "secret") {
			return true
		}
	}
	return false
}
