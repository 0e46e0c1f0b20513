package store_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/app"
	"muster/app/store"
	"muster/app/store/db"
	"muster/app/store/storetest"
	"muster/migrations"
)

func say(t *testing.T, file, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// A newer version may have changed the tables. An older one continues with them, unless the newer one said that it cannot.
func TestNewerTables(t *testing.T) {
	file := storetest.File(t)
	_ = open(t, file).Close()
	say(t, file, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (90000, 1)`)
	found, err := db.Inspect(t.Context(), file)
	if err != nil || !found.TooNew() || found.Check() != nil {
		t.Errorf("%+v, %v", found, err)
	}
	_ = open(t, file).Close() // as in an upgrade of several servers, one after the other
	if _, err := db.OpenSnapshot(t.Context(), file); app.AsError(err).Reason != "too_new" {
		t.Errorf("a backup of tables that are not known: %v", err)
	}
	say(t, file, `INSERT INTO settings (name, value) VALUES ('needs_migration', '90000') ON CONFLICT (name) DO UPDATE SET value = excluded.value`)
	if _, err := store.Open(t.Context(), file, key); app.AsError(err).Reason != "too_new" {
		t.Errorf("a database that this program cannot work with: %v", err)
	}
}

func TestUnfinishedRestoreIsDetected(t *testing.T) {
	file := storetest.File(t)
	_ = open(t, file).Close()
	say(t, file, `INSERT INTO settings (name, value) VALUES ('restoring', '1')`)
	if _, err := store.Open(t.Context(), file, key); app.AsError(err).Reason != "restoring" {
		t.Errorf("a database with half a backup in it: %v", err)
	}
}

func TestMigrateInSteps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "muster.db")
	if _, err := db.Inspect(t.Context(), file); app.AsError(err).Reason != "no_database" {
		t.Errorf("a file that is not there: %v", err)
	}
	done, err := db.MigrateTo(t.Context(), file, 20)
	if err != nil || done[len(done)-1].Number != 20 {
		t.Fatal(done, err)
	}
	found, err := db.Inspect(t.Context(), file)
	if err != nil || found.Migration != 20 || found.Pending[0].Number != 21 {
		t.Errorf("%+v, %v", found, err)
	}
	if done, err = db.MigrateTo(t.Context(), file, 0); err != nil || len(done) != len(found.Pending) {
		t.Errorf("%v, %v", done, err)
	}
}

// What servers of the version before cannot bear: it is said in the migration, by a row needs_migration with its own number, so that they refuse the database.
var breaking = regexp.MustCompile(`(?i)\bDROP\s+(TABLE|COLUMN)\b|\bRENAME\b|\bADD\s+COLUMN\s+\w+\s+[^,;]*NOT\s+NULL(?:[^,;]*)`)

func TestMigrationsSupportThePreviousVersion(t *testing.T) {
	const free = 48 // those until then were made before there was a release
	for _, m := range db.Migrations() {
		if m.Number <= free {
			continue
		}
		name := fmt.Sprintf("%05d_%s.sql", m.Number, m.Name)
		b, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(b), "-- +goose Down")
		for _, found := range breaking.FindAllString(up, -1) {
			if strings.HasPrefix(strings.ToUpper(found), "ADD") && strings.Contains(strings.ToUpper(found), "DEFAULT") {
				continue
			}
			if !strings.Contains(up, "'needs_migration', '"+fmt.Sprint(m.Number)+"'") {
				t.Errorf("migrations/%s: servers of the version before can't work with %q. Give a new column a default, or add a row needs_migration, "+
					"as 00063_table_names.sql does, and a note to docs/upgrades.md", name, found)
			}
		}
	}
}
