package storetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"muster/app/store"
	"muster/app/store/db"
)

// tables is a database in which there is nothing but the tables.
var tables = sync.OnceValues(func() (content []byte, err error) {
	dir, err := os.MkdirTemp("", "tables")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "muster.db")
	if err := db.Migrate(context.Background(), file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// File returns the path of a database in a folder of its own. It has its tables and nothing else: anyone who opens it first makes it an
// installation, as with a file that is not there.
func File(t testing.TB) string {
	t.Helper()
	content, err := tables()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "muster.db")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Open opens such a database with a key of zeros. The test's end closes it.
func Open(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), File(t), make([]byte, store.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
