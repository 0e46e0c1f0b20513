package providers

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
			t.Errorf("docs/%s can't be read: %v: write it like docs/providers/joyent.md", name, err)
		}
		return string(b)
	}
	family := read("providers.md")
	for name, m := range registry {
		file := "providers/" + name + ".md"
		if !strings.Contains(family, "\n| [`"+name+"`]("+file+") |") {
			t.Errorf("docs/providers.md doesn't name %s: add the row | [`%s`](%s) | its machines |", name, name, file)
		}
		if m.Descriptor.Tested == "" || !strings.Contains(family, " | "+m.Descriptor.Tested+" |") {
			t.Errorf("docs/providers.md doesn't say what %s was tested with: end its row with %q", name, m.Descriptor.Tested)
		}
		page := read(file)
		if page == "" {
			continue
		}
		if !strings.Contains(page, "type `"+name+"`") {
			t.Errorf("docs/%s doesn't say which type it's about: begin with Provider type `%s`", file, name)
		}
		for _, f := range slices.Concat(m.Descriptor.Fields, m.Descriptor.FlavorFields, m.Descriptor.ImageFields) {
			if !strings.Contains(page, "`"+f.Name+"`") {
				t.Errorf("docs/%s doesn't describe the setting `%s`: add a row", file, f.Name)
			}
			if f.Secret && !saysSecret(page, f) {
				t.Errorf("docs/%s doesn't say that %s is secret: add the word to its row", file, f.Name)
			}
		}
	}
}

// The table of checks has a column for each member. Each column is compared with the checks by the test that makes it.
func TestTheTableOfChecksHasEachMember(t *testing.T) {
	page, err := os.ReadFile("../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| check |")
	header, _, _ := strings.Cut(table, "\n")
	var columns []string
	for column := range strings.SplitSeq(header, "|") {
		if parts := strings.Split(column, "`"); len(parts) == 3 {
			columns = append(columns, parts[1])
		}
	}
	for name := range registry {
		if !slices.Contains(columns, name) {
			t.Errorf("docs/providers.md has no column of checks for %s: set Judge in its harness, and run `make provider-checks`", name)
		}
	}
	for _, name := range columns {
		if _, is := registry[name]; !is && name != "executable" && !slices.Contains(LeftOut, name) {
			t.Errorf("docs/providers.md has a column of checks for %s, which isn't a type: run `make provider-checks` after emptying the table", name)
		}
	}
}

// Previews say which types don't support firewalls, and kept machines are closed only where their type does.
func TestMembersSayThatTheyMakeFirewalls(t *testing.T) {
	for name, m := range registry {
		_, err := os.Stat(filepath.Join(name, "firewall.go"))
		if m.Descriptor.Firewalls != (err == nil) {
			t.Errorf("%s: its descriptor says Firewalls: %t, but firewall.go: %v", name, m.Descriptor.Firewalls, err)
		}
	}
}

// Every folder with a descriptor is a member that can be chosen, in a full build and by name in a small one.
func TestEveryFolderIsRegistered(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Dir(file)
		if _, ok := registry[name]; !ok && !slices.Contains(LeftOut, name) && strings.Contains(string(b), "\nvar Descriptor = ") {
			t.Errorf("providers/%s isn't in the list: add it to registry in providers.go, or with an SDK to registry_large.go", name)
		}
	}
	small, err := os.ReadFile("registry_small.go")
	if err != nil {
		t.Fatal(err)
	}
	for name := range largeRegistry {
		if !strings.Contains(string(small), strconv.Quote(name)) {
			t.Errorf("registry_small.go doesn't name %s, which is in registry_large.go: add it to LeftOut", name)
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

// What a descriptor says of its members' powers is what they have: previews rely on it.
func TestDescriptorsSayWhichPowersMembersHave(t *testing.T) {
	for name, m := range registry {
		files, err := filepath.Glob(name + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(b)
		}
		for power, says := range map[string]bool{"Volumes": m.Descriptor.Volumes, "Sleeper": m.Descriptor.Sleeps} {
			if has := regexp.MustCompile(`\n\s*(var )?_ +\w*family\.` + power + ` +=`).MatchString(text.String()); has != says {
				t.Errorf("%s is a family.%s: %t, and its descriptor says %t", name, power, has, says)
			}
		}
	}
}
