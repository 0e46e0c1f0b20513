package cli

import (
	"path/filepath"
	"testing"
)

// home isolates a test from the host's settings, profiles and data.
func home(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("MUSTER_HOME", dir)
	t.Setenv("MUSTER_DATA", filepath.Join(dir, "data"))
	for _, name := range []string{"MUSTER_URL", "MUSTER_TOKEN", "MUSTER_CATALOG"} {
		t.Setenv(name, "")
	}
	return dir
}
