package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/app/file/catalog"
	"muster/app/file/catalog/form"
	applayout "muster/app/layout"
	"muster/solver"
)

// TestGuide checks that the example in docs/template-guide.md is complete, can be solved and planned, and uses existing functions.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/template-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(guide), "```yaml\n")
	text, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("the guide has no YAML")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "echo.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load(catalog.Options{Automators: []string{"shell"}, ProviderTypes: []string{"sandbox"},
		Warn: func(p form.Problem) { t.Error(p) }}, "catalog", dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 3} {
		layout, err := solver.New().Solve(t.Context(), c, applayout.Request{Template: "echo", Size: size})
		if err != nil {
			t.Fatal(err)
		}
		makeIt(t, c, c.Templates["echo"], layout)
	}
	all := scripts(t, c)
	for name, script := range all {
		if strings.HasPrefix(name, "echo.") {
			cmd := exec.CommandContext(t.Context(), "sh", "-n")
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", name, err, out)
			}
		}
	}
	for _, function := range []string{"packages", "daemon", "ready", "pid_of", "halt", "private", "opens", "others", "leaves", "fetch", "die"} {
		if !strings.Contains(string(guide), "`"+function) || !strings.Contains(all["library"], "\n"+function+"() {") {
			t.Errorf("%s: the guide and the library must both have it, or neither", function)
		}
	}
}

// TestTemplatesAreDocumented checks that docs/templates.md mentions every template of the catalog.
func TestTemplatesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, template := range load(t).Templates {
		if !template.Partial && !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/templates.md doesn't mention %s", name)
		}
	}
}
