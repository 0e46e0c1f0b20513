package cli

import (
	"path/filepath"
	"testing"
)

// home gives a test a host of its own: without settings, profiles or data.
func home(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("MUSTER_HOME", dir)
	t.Setenv("MUSTER_DATA", filepath.Join(dir, "data"))
	for _, name := range []string{"MUSTER_URL", "MUSTER_TOKEN", "MUSTER_CATALOG"} {
		t.Setenv(name, "")
	}
	return dir
}
