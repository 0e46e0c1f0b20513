package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app/file/catalog"
)

// TestFirstTemplates checks that the catalogs on the first pages people read are complete and valid.
func TestFirstTemplates(t *testing.T) {
	for _, page := range []string{"README.md", "docs/start/catalog.md"} {
		said, err := os.ReadFile("../" + page)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(said), "```yaml\n")
		text, _, closed := strings.Cut(rest, "```\n")
		if !found || !closed {
			t.Fatalf("%s has no YAML", page)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "hello.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := catalog.Lint(catalog.Options{Automators: []string{"shell"}, ProviderTypes: []string{"sandbox"}}, dir)
		for _, p := range r.Problems {
			t.Errorf("%s: %s", page, p)
		}
		if r.Counts.Templates != 1 {
			t.Errorf("%s: %d templates, want 1", page, r.Counts.Templates)
		}
	}
}
