package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The generator writes the path as it was called with; that difference is none.
var fileName = regexp.MustCompile("FileName: `[^`]*`")

// TestTemplatesAreFresh generates the pages again and compares. It is skipped where the generator cannot be run.
func TestTemplatesAreFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generator")
	}
	sources, err := filepath.Glob("*.templ")
	if err != nil || len(sources) == 0 {
		t.Fatalf("there are no templates: %v", err)
	}
	if out, err := exec.Command("go", "tool", "templ", "version").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the generator cannot be run: %v: %s", err, out)
		}
		t.Skipf("the generator cannot be run: %v: %s", err, out)
	}
	dir := t.TempDir()
	for _, name := range sources {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "run", "generate.go", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range sources {
		made := name[:len(name)-len(".templ")] + "_templ.go"
		fresh, err := os.ReadFile(filepath.Join(dir, made))
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		if string(fileName.ReplaceAll(fresh, nil)) != string(fileName.ReplaceAll(committed, nil)) {
			t.Errorf("%s is not what %s makes: run go generate ./portal/page", made, name)
		}
	}
	stale, _ := filepath.Glob("*_templ.go")
	if len(stale) != len(sources) {
		t.Errorf("there are %d generated files for %d templates", len(stale), len(sources))
	}
}
