//go:build release

package check

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// These tests look at a release that `make release-snapshot` has built, without publishing it. RELEASE is its folder.

var platforms = []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"}

// snapshot is a release on disk.
type snapshot struct{ dir, version string }

func openSnapshot(t *testing.T) snapshot {
	t.Helper()
	dir := os.Getenv("RELEASE")
	if dir == "" {
		t.Fatal("RELEASE names no folder; `make check-release` does")
	}
	var about struct{ Version string }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "metadata.json"))), &about); err != nil || about.Version == "" {
		t.Fatalf("metadata.json has no version (%v)", err)
	}
	return snapshot{dir, about.Version}
}

// path is a file of the release; what is the part of its name after the version.
func (s snapshot) path(what string) string {
	return filepath.Join(s.dir, "muster_"+s.version+"_"+what)
}

// run starts a program of the release for this machine, and checks its version.
func (s snapshot) run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, append(args, "version")...).CombinedOutput()
	if first, _, _ := strings.Cut(string(out), "\n"); err != nil || !strings.HasPrefix(first, "muster "+s.version+" (go1.") {
		t.Errorf("%s %q: %v: %s", name, args, err, out)
	} else if strings.Contains(string(out), "Small build") {
		t.Errorf("%s is a small build", name)
	}
}

// here is this machine's platform.
func here(t *testing.T) string {
	t.Helper()
	p := runtime.GOOS + "_" + runtime.GOARCH
	if !slices.Contains(platforms, p) {
		t.Fatalf("releases have nothing for %s: run this on one of %q", p, platforms)
	}
	return p
}

// unpack returns the files of an archive with their modes.
func unpack(t *testing.T, name, into string) map[string]os.FileMode {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]os.FileMode{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			t.Fatalf("%s has %s, which isn't a plain file", name, h.Name)
		}
		if _, twice := files[h.Name]; twice {
			t.Errorf("%s has %s twice", name, h.Name)
		}
		files[h.Name] = h.FileInfo().Mode()
		to := filepath.Join(into, h.Name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, files[h.Name]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReleaseArchives unpacks each archive: it has everything that docs/install.md names, and a program for its platform, which is started if it's this one.
func TestReleaseArchives(t *testing.T) {
	s := openSnapshot(t)
	for _, platform := range platforms {
		t.Run(platform, func(t *testing.T) {
			dir := t.TempDir()
			files := unpack(t, s.path(platform+".tar.gz"), dir)
			want := append(namedInInstallPage(t), "LICENSE", "README.md", "docs/install.md", "docs/screenshots", "man/muster.1", "man/muster-cluster-create.1",
				"completions/muster.bash", "completions/muster.fish", "completions/_muster")
			for _, name := range want {
				_, ok := files[name]
				if !ok && !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(f string) bool { return strings.HasPrefix(f, name+"/") }) {
					t.Errorf("there is no %s", name)
				}
			}
			for name := range files {
				if strings.Contains(name, "node_modules") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".go") {
					t.Errorf("%s doesn't belong in an archive", name)
				}
			}
			program := filepath.Join(dir, "muster")
			if files["muster"].Perm() != 0o755 {
				t.Errorf("the program's mode is %v", files["muster"])
			}
			if got := platformOf(t, program); got != platform {
				t.Errorf("the program is for %s", got)
			}
			if platform == here(t) {
				s.run(t, program)
				if out, err := exec.Command(program, "catalog", "lint", filepath.Join(dir, "examples/catalog")).CombinedOutput(); err != nil {
					t.Errorf("the released program refuses the released catalog: %v: %s", err, out)
				}
			}
		})
	}
}

func platformOf(t *testing.T, program string) string {
	t.Helper()
	if f, err := elf.Open(program); err == nil {
		defer f.Close()
		return "linux_" + map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	}
	f, err := macho.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return "darwin_" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
}

func sum(t *testing.T, name string) string {
	t.Helper()
	b := sha256.Sum256([]byte(read(t, name)))
	return hex.EncodeToString(b[:])
}

// TestReleaseChecksums: checksums.txt has every file that is published, and each sum is right.
func TestReleaseChecksums(t *testing.T) {
	s := openSnapshot(t)
	found := map[string]bool{}
	for line := range strings.Lines(read(t, filepath.Join(s.dir, "checksums.txt"))) {
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("checksums.txt: %q", line)
		}
		if got := sum(t, filepath.Join(s.dir, name)); got != want {
			t.Errorf("%s has %s, and checksums.txt %s", name, got, want)
		}
		found[name] = true
	}
	published, err := filepath.Glob(filepath.Join(s.dir, "muster_"+s.version+"_*"))
	if err != nil {
		t.Fatal(err)
	}
	if want := len(platforms)*2 + 4; len(published) != want || len(found) != want {
		t.Errorf("%d files and %d checksums, instead of an archive and an SBOM for each platform and four packages", len(published), len(found))
	}
	for _, name := range published {
		if !found[filepath.Base(name)] {
			t.Errorf("checksums.txt lacks %s", filepath.Base(name))
		}
	}
}

// TestReleaseSBOMs: each lists exactly the modules in its program, with their versions, and Go's standard library.
func TestReleaseSBOMs(t *testing.T) {
	s := openSnapshot(t)
	for _, platform := range platforms {
		dir := t.TempDir()
		unpack(t, s.path(platform+".tar.gz"), dir)
		built, err := buildinfo.ReadFile(filepath.Join(dir, "muster"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"std": built.GoVersion}
		for _, m := range built.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			want[m.Path] = m.Version
		}
		type component struct {
			Name, Version, Purl string
			Hashes              []any
		}
		var bom struct {
			Format     string `json:"bomFormat"`
			Metadata   struct{ Component component }
			Components []component
		}
		if err := json.Unmarshal([]byte(read(t, s.path(platform+".cdx.json"))), &bom); err != nil {
			t.Fatal(err)
		}
		if c := bom.Metadata.Component; bom.Format != "CycloneDX" || c.Name != "muster" || c.Version != "v"+s.version {
			t.Errorf("%s: the SBOM is %s of %s %s", platform, bom.Format, c.Name, c.Version)
		}
		got := map[string]string{}
		for _, c := range bom.Components {
			got[c.Name] = c.Version
			if !strings.HasPrefix(c.Purl, "pkg:golang/"+c.Name+"@") || c.Name != "std" && len(c.Hashes) == 0 {
				t.Errorf("%s: %s has no package URL or hash", platform, c.Name)
			}
		}
		if !maps.Equal(got, want) || len(got) < 50 {
			t.Errorf("%s: the SBOM has %d modules, and the program %d:\n%v\n%v", platform, len(got), len(want), got, want)
		}
	}
}

// TestReleasePackages unpacks deb and rpm, starts their program, and looks for what a host needs.
func TestReleasePackages(t *testing.T) {
	s := openSnapshot(t)
	want := []string{"usr/bin/muster", "usr/lib/systemd/system/muster-server.service", "usr/lib/systemd/system/muster-provisioner.service",
		"usr/lib/systemd/system/muster-backup.service", "usr/lib/systemd/system/muster-backup.timer", "usr/lib/sysusers.d/muster.conf", "usr/lib/tmpfiles.d/muster.conf",
		"usr/share/doc/muster/server.env.example", "usr/share/doc/muster/install.md", "usr/share/doc/muster/catalog", "usr/share/doc/muster/proxy/nginx.conf",
		"usr/share/man/man1/muster-serve.1", "usr/share/bash-completion/completions/muster", "usr/share/fish/vendor_completions.d/muster.fish"}
	// The names in an rpm are absolute: cpio would install it on this machine.
	extract := map[string]struct {
		command string
		more    []string
	}{
		"deb": {fmt.Sprintf("%s -x \"$1\" .", program(t, "dpkg-deb")), []string{"usr/share/doc/muster/copyright", "usr/share/zsh/vendor-completions/_muster"}},
		"rpm": {fmt.Sprintf("%s \"$1\" | %s -idm --quiet --no-absolute-filenames", program(t, "rpm2cpio"), program(t, "cpio")),
			[]string{"usr/share/licenses/muster/LICENSE", "usr/share/zsh/site-functions/_muster"}},
	}
	for _, kind := range []string{"deb", "rpm"} {
		for _, platform := range platforms[:2] {
			dir := t.TempDir()
			cmd := exec.Command("sh", "-ec", extract[kind].command, "sh", s.path(platform+"."+kind))
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", cmd, err, out)
			}
			for _, name := range append(want, extract[kind].more...) {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Errorf("%s for %s: %v", kind, platform, err)
				}
			}
			if got := platformOf(t, filepath.Join(dir, "usr/bin/muster")); got != platform {
				t.Errorf("%s for %s has a program for %s", kind, platform, got)
			}
			if platform == here(t) {
				s.run(t, filepath.Join(dir, "usr/bin/muster"))
			}
			verifyUnits(t, dir)
		}
	}
}

// verifyUnits lets systemd check the units of a package, with its program where it is unpacked.
func verifyUnits(t *testing.T, dir string) {
	t.Helper()
	units, err := filepath.Glob(filepath.Join(dir, "usr/lib/systemd/system/*.service"))
	if err != nil || len(units) != 3 {
		t.Fatal(units, err)
	}
	for _, u := range units {
		b := bytes.ReplaceAll([]byte(read(t, u)), []byte("/usr/bin/muster"), []byte(filepath.Join(dir, "usr/bin/muster")))
		if err := os.WriteFile(u, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(program(t, "systemd-analyze"), append([]string{"verify", "--man=no", "--recursive-errors=no"}, units...)...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestReleaseCask: each download of the Homebrew cask is an archive with that checksum, and has the files that it installs.
func TestReleaseCask(t *testing.T) {
	s := openSnapshot(t)
	name := filepath.Join(s.dir, "homebrew/Casks/muster.rb")
	cask := read(t, name)
	if out, err := exec.Command(program(t, "ruby"), "-c", name).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	downloads := regexp.MustCompile(`sha256 "([0-9a-f]+)"\s+url "[^"]+/([^/"]+)"`).FindAllStringSubmatch(cask, -1)
	if len(downloads) != len(platforms) || !strings.Contains(cask, fmt.Sprintf("version %q", s.version)) {
		t.Fatalf("%d downloads in\n%s", len(downloads), cask)
	}
	dir := t.TempDir()
	for _, d := range downloads {
		archive := filepath.Join(s.dir, strings.ReplaceAll(d[2], "#{version}", s.version))
		if got := sum(t, archive); got != d[1] {
			t.Errorf("the cask has %s for %s, which has %s", d[1], archive, got)
		}
	}
	files := unpack(t, s.path("darwin_arm64.tar.gz"), dir)
	installed := regexp.MustCompile(`(?m)^\s+(binary|manpage|(?:bash|fish|zsh)_completion) "([^"]+)"$`).FindAllStringSubmatch(cask, -1)
	for _, m := range installed {
		if _, ok := files[m[2]]; !ok {
			t.Errorf("the cask installs the %s %s, which isn't in the archive", m[1], m[2])
		}
	}
	if len(installed) < 100 {
		t.Errorf("the cask installs only %d files", len(installed))
	}
}
