package database

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What a backup has left that was killed goes with the next one; what another one is writing stays, and so does all that is someone else's.
func TestBackupsThatWereKilledLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * halfIsOld)
	file := func(name string, at time.Time) string {
		t.Helper()
		path := filepath.Join(dir, name)
		err := os.WriteFile(path, []byte("half"), 0o600)
		if err == nil {
			err = os.Chtimes(path, at, at)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	file(".muster-backup-1", old)
	file(".muster-backup-2", time.Now())
	slow := file(".muster-backup-3", old)
	file("muster-backup-4", old)
	file(".muster-4", old)
	f, err := os.OpenFile(slow, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := lockFile(f); err != nil {
		t.Fatal(err)
	}
	has := func(when string, want ...string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if slices.Sort(want); !slices.Equal(names, want) {
			t.Errorf("%s there are %q, want %q", when, names, want)
		}
	}
	kept := []string{".muster-4", ".muster-backup-2", ".muster-backup-3", "muster-backup-4"}

	_, done, err := privateFile(filepath.Join(dir, "b.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(kept)+1 {
		t.Fatal(entries, err)
	}
	for _, e := range entries { // however long this one takes
		if err := os.Chtimes(filepath.Join(dir, e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	if err := os.Chtimes(filepath.Join(dir, ".muster-backup-2"), now, now); err != nil {
		t.Fatal(err)
	}
	clearHalves(dir, now)
	if err := done(nil); err != nil {
		t.Fatal(err)
	}
	has("after a backup", append(kept, "b.tar.gz")...)

	_, done, err = privateFile(filepath.Join(dir, "c.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := done(errors.New("the disk is full")); err == nil {
		t.Error("the error isn't reported")
	}
	has("after one that failed", append(kept, "b.tar.gz")...)
}
