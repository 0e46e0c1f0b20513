package check

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// top is the folder of the repository.
const top = "../.."

// TestInstallPageNamesReleasedFiles compares docs/install.md with the files of the archives in .goreleaser.yaml. That an archive really has
// them is checked by `make check-release`, which takes minutes.
func TestInstallPageNamesReleasedFiles(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(top, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Archives []struct{ Files []any }
	}
	if err := yaml.Unmarshal(b, &release); err != nil {
		t.Fatal(err)
	}
	if len(release.Archives) != 1 {
		t.Fatalf("%d archives", len(release.Archives))
	}
	packed := map[string]bool{}
	for _, file := range release.Archives[0].Files {
		if pattern, ok := file.(string); ok { // others are generated
			found := matching(t, pattern)
			if len(found) == 0 {
				t.Errorf("%s finds nothing", pattern)
			}
			for _, name := range found {
				packed[name] = true
			}
		}
	}
	for _, name := range namedInInstallPage(t) {
		at, err := os.Stat(filepath.Join(top, name))
		switch {
		case err != nil:
			t.Errorf("docs/install.md names %s: %v", name, err)
		case packed[name]:
		case at.IsDir() && slices.ContainsFunc(slices.Collect(maps.Keys(packed)), func(f string) bool { return strings.HasPrefix(f, name+"/") }):
		default:
			t.Errorf("docs/install.md names %s, which is in no archive", name)
		}
	}
}

// matching finds files as GoReleaser does: DIR/** is everything below DIR.
func matching(t *testing.T, pattern string) (names []string) {
	t.Helper()
	dir, all := strings.CutSuffix(pattern, "/**")
	if !all {
		found, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			names = append(names, strings.TrimPrefix(f, top+"/"))
		}
		return names
	}
	err := fs.WalkDir(os.DirFS(top), dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return names
}

// namedInInstallPage returns the files and folders of the repository that docs/install.md names, except those only for a build from the sources.
func namedInInstallPage(t *testing.T) (names []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(top, "docs/install.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`\b(deploy|examples)/[\w./-]*\w`).FindAllString(string(page), -1) {
		if name != "deploy/Dockerfile" {
			names = append(names, name)
		}
	}
	if len(names) < 5 {
		t.Fatalf("docs/install.md names only %q", names)
	}
	return names
}
