package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"muster/app"
	"muster/app/file/catalog"
	applayout "muster/app/layout"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"
	"muster/planner"
	"muster/solver"
)

// TestExampleCatalog: what we hand out is without fault, and each of its templates can be had.
func TestExampleCatalog(t *testing.T) {
	r := catalog.Lint(families.CatalogOptions(nil), filepath.Join("..", "..", "..", "examples", "catalog"))
	for _, p := range r.Problems {
		t.Error(p)
	}
	for _, name := range cli.SortedKeys(r.Catalog.Templates) {
		layoutAndPlan(t, r.Catalog, name)
	}
}

// TestCooprTemplates: Coopr's own templates can be had at their least size, but for two that Coopr cannot make either.
func TestCooprTemplates(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "reference", "coopr-definitions")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("Coopr's definitions are not at hand")
	}
	known, err := catalog.Load(catalog.Options{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(known.Templates) != 15 {
		t.Errorf("%d templates, want 15", len(known.Templates))
	}
	faults := map[string]string{
		"coopr-standalone-docker": "missing_service", // its default service is not in the set: it has another name there
		"docker-base":             "no_image_types",  // its provider has none of its images
	}
	for _, name := range cli.SortedKeys(known.Templates) {
		reason := layoutAndPlan(t, known, name)
		if reason != faults[name] {
			t.Errorf("%s: refused as %q, want %q", name, reason, faults[name])
		}
	}
}

// layoutAndPlan makes the smallest cluster of a template on paper. It returns the solver's reason where there is none.
func layoutAndPlan(t *testing.T, known *template.Catalog, name string) string {
	t.Helper()
	size := known.Templates[name].Constraints.Size.Min
	layout, err := solver.New().Solve(t.Context(), known, applayout.Request{Template: name, Size: size})
	var e *app.Error
	if errors.As(err, &e) {
		return e.Reason
	} else if err != nil {
		t.Fatal(err)
	}
	if layout.Size() != size {
		t.Errorf("%s: %d nodes, want %d", name, layout.Size(), size)
	}
	plan, err := planner.New().Plan(planRequest(known, name, layout))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return ""
	}
	var out bytes.Buffer
	if err := printSteps(&cli.Context{Stdout: &out}, plan); err != nil {
		t.Fatal(err)
	}
	var forms struct{ Steps []stepJSON }
	if err := json.Unmarshal(out.Bytes(), &forms); err != nil {
		t.Fatal(err)
	}
	if len(forms.Steps) < 3*size {
		t.Errorf("%s: %d steps for %d nodes", name, len(forms.Steps), size)
	}
	// Everything that a step needs goes before it.
	var before []string
	for _, f := range forms.Steps {
		for _, n := range f.Needs {
			if !slices.Contains(before, n) {
				t.Errorf("%s: %s needs %s, which does not go before it", name, f.ID, n)
			}
		}
		before = append(before, f.ID)
	}
	return ""
}
