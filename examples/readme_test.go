package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app/catalog"
)

// TestReadmeTemplate holds the README to what it says: its first catalog is complete and without a fault.
func TestReadmeTemplate(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```yaml\n")
	text, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("the README has no YAML")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hello.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := catalog.Lint(catalog.Options{Automators: []string{"shell"}, ProviderTypes: []string{"sandbox"}}, dir)
	for _, p := range r.Problems {
		t.Error(p)
	}
	if r.Counts.Templates != 1 {
		t.Errorf("%d templates, want 1", r.Counts.Templates)
	}
}
