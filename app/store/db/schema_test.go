package db

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"muster/migrations"
)

// writeSchema is for `make generate`.
var writeSchema = flag.Bool("write", false, "write the schema that the migrations make, instead of comparing it")

// TestSchemaIsWhatMigrationsMake compares new databases, which are made from the schema, with those that migrations changed one by one.
func TestSchemaIsWhatMigrationsMake(t *testing.T) {
	const file = "../../../migrations/schema/sqlite.sql"
	migrated := emptyFile(t)
	if err := migrate(t.Context(), goose.DialectSQLite3, migrated, migrations.FS, 0); err != nil {
		t.Fatal(err)
	}
	want := "-- Written by `make generate` from the migrations. New databases are made from it.\n\n" + dumpOf(t, migrated)
	if *writeSchema {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if migrations.SQLite != want {
		t.Fatalf("migrations/schema/sqlite.sql isn't what the migrations make. Run: make generate")
	}
	made := emptyFile(t)
	if err := loadSchema(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if got := dumpOf(t, made); !strings.HasSuffix(want, got) {
		t.Errorf("a new database has\n%s", got)
	}
	if err := migrate(t.Context(), goose.DialectSQLite3, made, migrations.FS, 0); err != nil {
		t.Errorf("migrations after the schema: %v", err)
	}
	// A database that has tables is left alone.
	if err := loadSchema(t.Context(), made); err != nil {
		t.Errorf("the schema for a database that has it: %v", err)
	}
}

func emptyFile(t *testing.T) *sql.DB {
	t.Helper()
	d, err := sql.Open("sqlite", dsn(filepath.Join(t.TempDir(), "muster.db"), "_txlock=immediate"))
	if err != nil {
		t.Fatal(err)
	}
	d.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// dumpOf returns the statements that make a database with its rows. Times at which migrations ran are left out.
func dumpOf(t *testing.T, d *sql.DB) string {
	t.Helper()
	var b strings.Builder
	var tables []string
	for _, row := range textRows(t, d, `SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid`) {
		if row[0] == "table" {
			tables = append(tables, row[1])
		}
		fmt.Fprintf(&b, "%s;\n\n", row[2])
	}
	for _, table := range tables {
		columns := textRows(t, d, `SELECT name FROM pragma_table_info(?) WHERE NOT (? = 'goose_db_version' AND name IN ('id', 'tstamp'))`, table, table)
		var names, values []string
		for _, c := range columns {
			names, values = append(names, c[0]), append(values, "quote("+c[0]+")")
		}
		for _, row := range textRows(t, d, `SELECT `+strings.Join(values, ", ")+` FROM `+table+` ORDER BY `+names[0]) {
			fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES (%s);\n", table, strings.Join(names, ", "), strings.Join(row, ", "))
		}
	}
	return b.String()
}

func textRows(t *testing.T, d *sql.DB, query string, args ...any) (all [][]string) {
	t.Helper()
	rows, err := d.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
