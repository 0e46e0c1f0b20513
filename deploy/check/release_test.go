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

// release is what .goreleaser.yaml names of what is here. `goreleaser check` reads all of it, and takes minutes to be compiled.
type release struct {
	Builds []struct {
		Main, Binary string
		Goos, Goarch []string
		Ldflags      []string
	}
	Archives []struct{ Files []string }
}

func TestReleaseNamesWhatIsThere(t *testing.T) {
	const top = "../.."
	b, err := os.ReadFile(filepath.Join(top, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var r release
	if err := yaml.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Builds) != 1 || len(r.Archives) != 1 {
		t.Fatalf("%d builds and %d archives", len(r.Builds), len(r.Archives))
	}
	build := r.Builds[0]
	if !slices.Equal(build.Goos, []string{"linux", "darwin"}) || !slices.Equal(build.Goarch, []string{"amd64", "arm64"}) {
		t.Errorf("docs/install.md tells of Linux and macOS, and it builds for %q and %q", build.Goos, build.Goarch)
	}
	variables := 0
	for _, m := range regexp.MustCompile(`-X muster/([\w/]+)\.(\w+)=`).FindAllStringSubmatch(strings.Join(build.Ldflags, " "), -1) {
		variables++
		declared := regexp.MustCompile(`(?m)^var ` + m[2] + ` (string|=)`)
		files, _ := filepath.Glob(filepath.Join(top, m[1], "*.go"))
		if !slices.ContainsFunc(files, func(name string) bool { b, err := os.ReadFile(name); return err == nil && declared.Match(b) }) {
			t.Errorf("%s has no variable %s", m[1], m[2])
		}
	}
	if variables == 0 {
		t.Error("the program gets no version")
	}
	packed := map[string]bool{}
	for _, pattern := range r.Archives[0].Files {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if under, all := strings.CutSuffix(pattern, "/**/*"); all {
			files = nil
			err = filepath.WalkDir(filepath.Join(top, under), func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					files = append(files, path)
				}
				return err
			})
		}
		if err != nil || len(files) == 0 {
			t.Errorf("%s finds nothing (%v)", pattern, err)
		}
		for _, f := range files {
			if rel, err := filepath.Rel(top, f); err == nil {
				packed[rel] = true
			}
		}
	}
	// What docs/install.md tells people to use is in the archive.
	page, err := os.ReadFile(filepath.Join(top, "docs/install.md"))
	if err != nil {
		t.Fatal(err)
	}
	built := map[string]bool{"deploy/Dockerfile": true} // from the sources only
	for _, name := range regexp.MustCompile(`\b(deploy|examples)/[\w./-]*\w`).FindAllString(string(page), -1) {
		at, err := os.Stat(filepath.Join(top, name))
		switch {
		case err != nil:
			t.Errorf("docs/install.md tells of %s: %v", name, err)
		case built[name] || packed[name]:
		case at.IsDir() && slices.ContainsFunc(slices.Collect(maps.Keys(packed)), func(f string) bool { return strings.HasPrefix(f, name+"/") }):
		default:
			t.Errorf("docs/install.md tells of %s, which is in no archive", name)
		}
	}
}
