package automators_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/automators"
)

// Every member has a row and a section in docs/automators.md, which names each of its fields and types of resources.
func TestAutomatorsAreDocumented(t *testing.T) {
	const page = "docs/automators.md"
	b, err := os.ReadFile("../" + page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, d := range automators.Descriptors() {
		if !strings.Contains(text, "\n| [`"+d.Name+"`](#"+d.Name+") |") {
			t.Errorf("%s doesn't name %s: add the row | [`%s`](#%s) | what it does | what the node needs |", page, d.Name, d.Name, d.Name)
		}
		_, section, ok := strings.Cut(text, "\n## "+d.Name+"\n")
		if !ok {
			t.Errorf("%s has no section ## %s: add one, like that of puppet", page, d.Name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, f := range d.Fields {
			if !strings.Contains(section, "`"+f.Name+"`") {
				t.Errorf("%s doesn't describe the field `%s` of %s: add a row to its section", page, f.Name, d.Name)
			}
		}
		for _, r := range d.ResourceTypes {
			if !strings.Contains(section, "`"+r.Name+"`") {
				t.Errorf("%s doesn't describe the resource type `%s` of %s: add a row to its section", page, r.Name, d.Name)
			}
		}
	}
}

// Every folder with a descriptor is a member that can be chosen.
func TestEveryFolderIsListed(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("automators.go")
	if err != nil {
		t.Fatal(err)
	}
	members := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Dir(file)
		if slices.Contains([]string{"executable", "conformance"}, folder) || strings.HasSuffix(file, "_test.go") || !strings.Contains(string(b), ") Descriptor() family.Descriptor {") {
			continue
		}
		members++
		if !strings.Contains(string(source), "return "+folder+".New(") {
			t.Errorf("automators/%s isn't in the list: add it to list in automators.go", folder)
		}
	}
	if members == 0 {
		t.Error("no members were found: their methods look otherwise")
	}
}
