package store

import (
	"path/filepath"
	"testing"

	"muster/app/store/db"
)

// onDisk returns an empty store of SQLite in a file, which is closed when the test ends.
func onDisk(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "muster.db"), make([]byte, db.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
