package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The generator writes the path as it was called with; that difference is none.
var fileName = regexp.MustCompile("FileName: `[^`]*`")

// TestTemplatesAreFresh generates the pages of all packages again and compares. It is skipped where the generator cannot be run.
func TestTemplatesAreFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generator")
	}
	sources, err := filepath.Glob("../*/*.templ")
	if err != nil || len(sources) == 0 {
		t.Fatalf("there are no templates: %v", err)
	}
	if out, err := exec.Command("go", "tool", "templ", "version").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the generator cannot be run: %v: %s", err, out)
		}
		t.Skipf("the generator cannot be run: %v: %s", err, out)
	}
	temp := t.TempDir()
	args := []string{"run", "generate.go"}
	for _, source := range sources {
		b, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(temp, filepath.Base(filepath.Dir(source)))
		if _, err := os.Stat(dir); err != nil {
			args = append(args, dir)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(source)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, source := range sources {
		made := strings.TrimSuffix(source, ".templ") + "_templ.go"
		fresh, err := os.ReadFile(filepath.Join(temp, strings.TrimPrefix(made, "../")))
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		if string(fileName.ReplaceAll(fresh, nil)) != string(fileName.ReplaceAll(committed, nil)) {
			t.Errorf("%s is not what %s makes: run go generate ./portal/...", made, source)
		}
	}
	stale, _ := filepath.Glob("../*/*_templ.go")
	if len(stale) != len(sources) {
		t.Errorf("there are %d generated files for %d templates", len(stale), len(sources))
	}
}

// TestEveryPackageOfPagesGenerates: go generate finds the templates of each package, since its doc.go says so.
func TestEveryPackageOfPagesGenerates(t *testing.T) {
	sources, _ := filepath.Glob("../*/*.templ")
	for _, source := range sources {
		doc, err := os.ReadFile(filepath.Join(filepath.Dir(source), "doc.go"))
		if err != nil || !strings.Contains(string(doc), "\n//go:generate go run ") {
			t.Errorf("the doc.go beside %s doesn't generate it: %v", source, err)
		}
	}
}
