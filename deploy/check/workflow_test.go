package check

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"sigs.k8s.io/yaml"
)

// TestWorkflows lints GitHub's workflows. Their scripts go through shellcheck.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(top, ".github/workflows/*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{Shellcheck: program(t, "shellcheck")})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.LintFiles(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		t.Error(e)
	}
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	uses := regexp.MustCompile(`(?m)uses: (.+)$`)
	for _, name := range files {
		for _, m := range uses.FindAllStringSubmatch(read(t, name), -1) {
			if !strings.HasPrefix(m[1], "./") && !pinned.MatchString(m[1]) {
				t.Errorf("%s: %s isn't pinned to a commit, with its version in a comment", name, m[1])
			}
		}
	}
}

// TestGoIsTheSameEverywhere: workflows and the image build with the newest release of the Go version in go.mod, so they name only 1.N.
func TestGoIsTheSameEverywhere(t *testing.T) {
	want := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, filepath.Join(top, "go.mod")))[1]
	for name, version := range map[string]string{".github/workflows/ci.yml": `go-version: ([\d.]+)\.x`, ".github/workflows/release.yml": `go-version: ([\d.]+)\.x`,
		"deploy/Dockerfile": `golang:([\d.]+)-`} {
		m := regexp.MustCompile(version).FindStringSubmatch(read(t, filepath.Join(top, name)))
		if m == nil || m[1] != want {
			t.Errorf("%s has %q, and go.mod Go %s", name, m, want)
		}
	}
}

// TestUpdates: Dependabot updates each of our Go modules.
func TestUpdates(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string `json:"package-ecosystem"`
			Directories []string
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(top, ".github/dependabot.yml"))), &config); err != nil {
		t.Fatal(err)
	}
	var modules []string
	err := fs.WalkDir(os.DirFS(top), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"bin", "node_modules", "testdata", ".git"}, d.Name()):
			return fs.SkipDir
		case d.Name() == "go.mod":
			modules = append(modules, filepath.Join("/", filepath.Dir(path)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(modules)
	for _, u := range config.Updates {
		if u.Ecosystem == "gomod" && !slices.Equal(u.Directories, modules) {
			t.Errorf("dependabot.yml updates %q, and the modules are %q", u.Directories, modules)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
