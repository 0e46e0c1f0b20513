//go:build real

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The descriptions of the API and of the hooks are such that tools understand them, by the rules that Redocly recommends.
func TestRealOpenAPILintsClean(t *testing.T) {
	tool, err := filepath.Abs("../../deploy/ci/tools/node_modules/.bin/redocly")
	if err == nil {
		_, err = os.Stat(tool)
	}
	if err != nil {
		t.Fatalf("%v (deploy/ci/setup.sh installs it)", err)
	}
	cmd := exec.CommandContext(t.Context(), tool, "lint", "--max-problems=20", "--format=stylish", openAPIFile, openAPIFiles["/hooks/openapi.json"])
	// It would look for a newer version and tell its makers that it was used.
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "NO_COLOR=1")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
