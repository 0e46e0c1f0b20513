package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A bench without the flags that a comparison needs, and one that says always the same.
const (
	oldBench = `package main

import "flag"

func main() { flag.Bool("check", false, "fail"); flag.Parse() }
`
	newBench = `package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	file := flag.String("json", "", "write to file")
	flag.Bool("alone", false, "no references")
	flag.Int("runs", 5, "how often")
	only := flag.String("only", "", "some")
	flag.Parse()
	f, err := os.OpenFile(*file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, "{}")
	fmt.Fprintf(f, "{\"name\": \"%s\", \"unit\": \"s\", \"value\": VALUE, \"runs\": [VALUE]}\n", *only)
	fmt.Fprintln(f, "{\"name\": \"the same\", \"unit\": \"MB\", \"value\": 7, \"runs\": [7]}")
	fmt.Fprintln(f, "{\"name\": \"only at VALUE\", \"unit\": \"MB\", \"value\": 7, \"runs\": [7]}")
}
`
)

func TestComparisonWithAnotherCommit(t *testing.T) {
	dir := t.TempDir()
	must := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, out)
		}
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must("git", "init", "--quiet")
	write("go.mod", "module example\n")
	for _, text := range []string{oldBench, strings.ReplaceAll(newBench, "VALUE", "10")} {
		write("cmd/bench/main.go", text)
		must("git", "add", ".")
		must("git", "commit", "--quiet", "-m", "bench")
	}
	write("cmd/bench/main.go", strings.ReplaceAll(newBench, "VALUE", "20"))
	self := filepath.Join(t.TempDir(), "bench")
	must("go", "build", "-buildvcs=false", "-o", self, "./cmd/bench")
	compare := func(base string) (string, error) {
		var out bytes.Buffer
		err := comparison{dir: dir, base: base, self: self, runs: 4, out: &out, args: []string{"-only", "work"}}.run(t.Context())
		if left := must("git", "worktree", "list", "--porcelain"); strings.Count(left, "worktree ") != 1 {
			t.Errorf("a worktree is left behind:\n%s", left)
		}
		return out.String(), err
	}
	out, err := compare("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"HIGHER, beyond the spread (10.0 to 10.0, now 20.0 to 20.0)", "within the spread (7.00 to 7.00, now 7.00 to 7.00)",
		"only at 20", "is new", "only at 10", "isn't measured any more"} {
		if !strings.Contains(out, want) {
			t.Errorf("it doesn't say %q:\n%s", want, out)
		}
	}
	if _, err := compare("HEAD~1"); err == nil || !strings.Contains(err.Error(), "the bench of HEAD~1 has no -json") {
		t.Errorf("a bench without -json: %v", err)
	}
	if _, err := compare("no-such-commit"); err == nil || !strings.Contains(err.Error(), "no-such-commit") {
		t.Errorf("an unknown commit: %v", err)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		old, now []float64
		want     string
	}{
		{[]float64{3, 4, 5, 6}, []float64{1, 2, 2.9, 2}, "LOWER"},
		{[]float64{3, 4, 5, 4}, []float64{6, 7, 5.1, 6}, "HIGHER"},
		{[]float64{3, 4, 5, 4}, []float64{1, 2, 3, 1}, "within the spread"},
		{[]float64{3, 4, 5}, []float64{1, 2, 2, 1}, "too few runs"},
	} {
		if got := verdict(c.old, c.now); !strings.HasPrefix(got, c.want) {
			t.Errorf("%v beside %v: %s, expected %s", c.now, c.old, got, c.want)
		}
	}
}
