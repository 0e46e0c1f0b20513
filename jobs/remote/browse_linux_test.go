package remote_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/app"
	"muster/app/family"
)

// A full disk is called so, though SSH servers don't say it.
func TestAFullDiskIsCalledFull(t *testing.T) {
	t.Parallel()
	f, n, _ := browse(t)
	dir := filepath.Join(n.Temp, "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("mounting a disk needs root: ", err)
		}
		t.Skip("mounting a disk needs root: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	_, err := f.Create(t.Context(), filepath.Join(dir, "f"), 0, strings.NewReader(strings.Repeat("x", 1<<20)))
	if reason(err) != family.FileDiskFull || app.CodeOf(err) != app.ECapacity {
		t.Errorf("%v", err)
	}
}
