//go:build real

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A client that a public generator makes of docs/openapi.json previews, creates, extends, grows and deletes a cluster.
func TestRealGeneratedClientDrivesACluster(t *testing.T) {
	t.Parallel()
	const from = "../../deploy/ci/generated-client"
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "api"), 0o700); err != nil {
		t.Fatal(err)
	}
	api, err := filepath.Abs(openAPIFile)
	if err != nil {
		t.Fatal(err)
	}
	run := func(env []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, said)
		}
		return string(said)
	}
	run(nil, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "api", "-o", "api/api.go", api)
	run(nil, "go", "build", "-o", "drive", ".")

	p := newProcess(t)
	at := p.client().Settings()
	said := run([]string{"MUSTER_TOKEN=" + at.Token}, filepath.Join(dir, "drive"), at.URL)
	t.Log("\n" + said)
	for _, want := range []string{"refused: ", "preview: expected in ", "is active with 4 nodes", "is active with 5 nodes", "is deleted, 0 machines left"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}
