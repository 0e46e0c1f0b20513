package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"muster/migrations"
)

// readAt reads a database's tables, their rows, and all names in it.
func readAt(t *testing.T, where string) (tables []Table, rows map[string][]string, names []string) {
	t.Helper()
	from, err := openToRead(t.Context(), where, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer from.db.Close()
	m, err := from.moment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Rollback() }()
	if tables, err = tablesOf(t.Context(), m, isSQLite(from)); err != nil {
		t.Fatal(err)
	}
	s := Snapshot{from: from, moment: m}
	rows = map[string][]string{}
	for _, table := range tables {
		if err := s.Rows(t.Context(), table, func(row []any) error {
			rows[table.Name] = append(rows[table.Name], fmt.Sprint(row))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	query := `SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexname NOT LIKE '%_pkey' AND indexname NOT LIKE '%_key'
		UNION SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1`
	if isSQLite(from) {
		query = `SELECT name || ' ' || replace(coalesce(sql, ''), '"', '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY 1`
	}
	if err := Each(t.Context(), m, func(row Scanner) error {
		var name string
		err := row.Scan(&name)
		names = append(names, strings.Join(strings.Fields(name), " "))
		return err
	}, query); err != nil {
		t.Fatal(err)
	}
	return tables, rows, names
}

// aRow is a row of a table as it was before migration 63.
func aRow(table Table) []any {
	special := map[string]any{
		"settings.name": "installation", "steps.state": "queued", "operations.status": "running", "hook_deliveries.state": "waiting", "clusters.deleted_at": int64(0),
		"intents.ended_at": int64(0), "signins.revoked_at": int64(0),
	}
	var row []any
	for i, c := range table.Columns {
		value, is := special[table.Name+"."+c.Name]
		switch {
		case is:
		case c.Kind == KindInt:
			value = int64(10 + i)
		case c.Kind == KindFloat:
			value = 0.5 + float64(i)
		case c.Kind == KindBytes:
			value = []byte(c.Name)
		default:
			value = table.Name + " " + c.Name
		}
		row = append(row, value)
	}
	return row
}

// without returns the lines that another list doesn't have.
func without(lines, others []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return slices.Contains(others, l) }), "\n")
}

// upAndDown restores a backup from before migration 63, which has a row in each table, into where; the migration runs after that. Then it is taken back.
// Before is an empty database. All later migrations run too, on a row in each table, and are taken back one by one.
func upAndDown(t *testing.T, before, where string, downTo func(ctx context.Context, number int64) error) {
	const old = renamed - 1
	if err := runMigrations(t.Context(), before, old); err != nil {
		t.Fatal(err)
	}
	tables, _, was := readAt(t, before)
	namesAt := map[int64][]string{}
	for _, m := range Migrations() {
		if m.Number < renamed {
			continue
		}
		if err := runMigrations(t.Context(), before, m.Number); err != nil {
			t.Fatal(err)
		}
		_, _, namesAt[m.Number] = readAt(t, before)
	}
	out, err := Restore(t.Context(), where, Restored{Migration: old, Tables: tables, Now: time.Now(), Lease: time.Hour, Load: func(put func(string, []any) error) error {
		for _, table := range tables {
			if err := put(table.Name, aRow(table)); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil || out.Rows != len(tables) || out.Migrated[0].Number != renamed {
		t.Fatalf("%+v, %v", out, err)
	}
	for i := len(out.Migrated) - 2; i >= 0; i-- {
		undone, to := out.Migrated[i+1], out.Migrated[i].Number
		if err := downTo(t.Context(), to); err != nil {
			t.Fatalf("migrations/%05d_%s.sql: its part after \"-- +goose Down\" fails: %v", undone.Number, undone.Name, err)
		}
		if _, _, names := readAt(t, where); !slices.Equal(names, namesAt[to]) {
			t.Fatalf("migrations/%05d_%s.sql: its part after \"-- +goose Down\" doesn't undo all of the part before it. New:\n%s\nMissing:\n%s",
				undone.Number, undone.Name, without(names, namesAt[to]), without(namesAt[to], names))
		}
	}
	now, rows, _ := readAt(t, where)
	if len(now) != len(tables) {
		t.Errorf("%d tables, there were %d", len(now), len(tables))
	}
	from, err := openToRead(t.Context(), where, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer from.db.Close()
	for query, want := range map[string]string{
		`SELECT CAST(dispatched_at AS TEXT) FROM steps`:                                       "0",
		`SELECT CAST(batch - ` + fmt.Sprint(Ahead) + ` AS TEXT) FROM cluster_health`:          "16",
		`SELECT CAST(create_attempts AS TEXT) FROM intents`:                                   "19",
		`SELECT CAST(lease_reminder_at AS TEXT) FROM clusters`:                                "1",
		`SELECT holder FROM webhook_deliveries`:                                               "",
		`SELECT CAST(value AS TEXT) FROM sequences WHERE name = 'cluster'`:                    fmt.Sprint(Ahead),
		`SELECT prompt FROM manual_steps`:                                                     "questions asked",
		`SELECT password_fingerprint || ', ' || method || ', ' || second_factor FROM signins`: "signins mark, signins how, signins second",
		`SELECT value FROM settings WHERE name = 'needs_migration'`:                           fmt.Sprint(renamed),
	} {
		var got string
		if err := from.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", query, got, err, want)
		}
	}
	if err := downTo(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	back, again, is := readAt(t, where)
	if !reflect.DeepEqual(back, tables) {
		t.Errorf("the tables are\n%v\nwant\n%v", back, tables)
	}
	if !reflect.DeepEqual(is, was) {
		t.Errorf("new names:\n%s\nmissing:\n%s", without(is, was), without(was, is))
	}
	count := func(rows map[string][]string) map[string]int {
		all := map[string]int{}
		for _, list := range rows {
			for _, row := range list {
				all[row]++
			}
		}
		delete(all, fmt.Sprintf("[needs_migration %d]", renamed))
		delete(all, fmt.Sprintf("[needs_migration %d]", old))
		return all
	}
	if is, was := count(again), count(rows); !reflect.DeepEqual(is, was) {
		t.Errorf("the rows are\n%v\nwere\n%v", is, was)
	}
}

// TestMigrationsUpAndDown restores an old backup, and takes the migrations since back.
func TestMigrationsUpAndDown(t *testing.T) {
	where := filepath.Join(t.TempDir(), "muster.db")
	upAndDown(t, filepath.Join(t.TempDir(), "before.db"), where, func(ctx context.Context, number int64) error {
		db, err := sql.Open("sqlite", dsn(where))
		if err != nil {
			return err
		}
		defer db.Close()
		return downTo(ctx, goose.DialectSQLite3, db, migrations.FS, number)
	})
}

// downTo takes migrations back.
func downTo(ctx context.Context, dialect goose.Dialect, db *sql.DB, files fs.FS, number int64) error {
	p, err := goose.NewProvider(dialect, db, files)
	if err != nil {
		return err
	}
	_, err = p.DownTo(ctx, number)
	return err
}
