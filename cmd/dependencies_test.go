package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// How many packages the program may be made of, the standard library's with them and without its own. Who needs more raises a limit, and says on the page what
// for.
const (
	maxPackages      = 850
	maxPackagesSmall = 560
)

// largeModule is how much of a module may be compiled, in bytes of source, before the page has to say what for.
const largeModule = 1_000_000

const dependenciesPage = "docs/dependencies.md"

// unwanted modules came with libraries of which a small part was used. They made most of the program.
var unwanted = []string{
	"cloud.google.com/go/monitoring", "github.com/cncf/xds", "github.com/envoyproxy", "gocloud.dev", "google.golang.org/api", "google.golang.org/grpc",
}

// goCommand runs a command of Go for one platform, whichever the test runs on, and returns its output.
func goCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = root
	c.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var failed bytes.Buffer
	c.Stderr = &failed
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, failed.Bytes())
	}
	return out
}

// A compiledPackage is one that is in the program. It has no Module where it is the standard library's.
type compiledPackage struct {
	Dir     string
	GoFiles []string
	Module  *struct {
		Path string
		Main bool
	}
}

func compiled(t *testing.T, tags string) (all []compiledPackage) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(goCommand(t, "list", "-deps", "-tags", tags, "-json=Dir,GoFiles,Module", "./cmd/muster")))
	for {
		var p compiledPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// largeModules are those of which much is compiled, without Muster itself.
func largeModules(t *testing.T) (names []string) {
	t.Helper()
	bytesOf := map[string]int64{}
	for _, p := range compiled(t, "") {
		if p.Module == nil || p.Module.Main {
			continue
		}
		for _, name := range p.GoFiles {
			info, err := os.Stat(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			bytesOf[p.Module.Path] += info.Size()
		}
	}
	for name, n := range bytesOf {
		if n > largeModule {
			names = append(names, name)
		}
	}
	return names
}

// directModules are those that go.mod requires for Muster's own imports, and those of its tools.
func directModules(t *testing.T) (names []string) {
	t.Helper()
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	if err := json.Unmarshal(goCommand(t, "mod", "edit", "-json"), &file); err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Require {
		if !r.Indirect || slices.ContainsFunc(file.Tool, func(tool struct{ Path string }) bool { return below(tool.Path, r.Path) }) {
			names = append(names, r.Path)
		}
	}
	return names
}

// rowOfModule is a row of the page's tables, which begins with a module.
var rowOfModule = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*$")

func TestEveryLibraryIsAccountedFor(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, dependenciesPage))
	if err != nil {
		t.Fatal(err)
	}
	onPage := map[string]bool{}
	for _, row := range rowOfModule.FindAllStringSubmatch(string(text), -1) {
		if onPage[row[1]] {
			t.Errorf("%s has %s twice", dependenciesPage, row[1])
		}
		onPage[row[1]] = true
		cells := strings.Split(strings.Trim(row[0], "|"), "|")
		if len(cells) != 4 || slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" }) {
			t.Errorf("%s does not say of %s what it is for, what else there is, and who maintains it", dependenciesPage, row[1])
		}
	}
	wanted := map[string]string{}
	for _, name := range largeModules(t) {
		wanted[name] = "much of it is compiled"
	}
	for _, name := range directModules(t) {
		wanted[name] = "go.mod requires it directly"
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !onPage[name] {
			t.Errorf("%s lacks %s: %s", dependenciesPage, name, wanted[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(onPage)) {
		if wanted[name] == "" {
			t.Errorf("%s has %s, which go.mod does not require directly, and of which little is compiled", dependenciesPage, name)
		}
	}
}

func TestTheProgramStaysSmall(t *testing.T) {
	for _, build := range []struct {
		tags string
		most int
	}{{"", maxPackages}, {"small", maxPackagesSmall}} {
		all := slices.DeleteFunc(compiled(t, build.tags), func(p compiledPackage) bool { return p.Module != nil && p.Module.Main })
		if len(all) > build.most {
			t.Errorf("with -tags %q the program is made of %d packages beside its own, more than %d", build.tags, len(all), build.most)
		}
		found := map[string]bool{}
		for _, p := range all {
			if p.Module != nil && slices.ContainsFunc(unwanted, func(u string) bool { return below(p.Module.Path, u) }) {
				found[p.Module.Path] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(found)) {
			t.Errorf("with -tags %q %s is in the program: go list -deps -f '{{.ImportPath}}: {{.Imports}}' ./cmd/muster shows by whom", build.tags, name)
		}
	}
}
