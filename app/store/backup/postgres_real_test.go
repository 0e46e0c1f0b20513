//go:build real

package backup_test

import (
	"context"
	"io"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/store"
	"muster/app/store/backup"
	"muster/app/store/db"
	"muster/app/store/storetest"
)

// A backup of PostgreSQL is taken while it is written to, and goes into PostgreSQL or into a file, and that of a file into PostgreSQL.
func TestPostgresBackup(t *testing.T) {
	p, err := apptest.StartPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	n := 0
	database := func(t *testing.T) string {
		n++
		name := "muster" + string(rune('a'+n))
		if err := p.Make(name, ""); err != nil {
			t.Fatal(err)
		}
		return p.URL(name)
	}
	t.Run("cut off in the middle", func(t *testing.T) {
		b, where := take(t, some(t)), database(t)
		ctx, cancel := context.WithCancel(t.Context())
		reads := 0
		_, _, _, err := backup.Restore(ctx, func() (io.ReadCloser, error) {
			if reads++; reads == 2 { // the rows are being read
				cancel()
			}
			return of(b)()
		}, where, db.Restored{Keeper: keeper(t, key), Now: time.Now()}, false, nil)
		if err == nil {
			t.Fatal("it continued")
		}
		if s, err := store.Open(t.Context(), where, key); app.AsError(err).Reason != "restoring" {
			t.Errorf("a server on half a backup: %v", err)
			_ = s.Close()
		}
		restore(t, b, where)
		whole(t, open(t, where))
	})
	t.Run("within PostgreSQL", func(t *testing.T) { story(t, database(t), database) })
	t.Run("into a file", func(t *testing.T) { story(t, database(t), sqliteFile) })
	t.Run("out of a file", func(t *testing.T) { story(t, storetest.File(t), database) })
}
