package dbtest

import (
	"path/filepath"
	"strings"
	"testing"

	"muster/app/store/db"
)

// OnDisk returns an empty database of SQLite in a file, which is closed when the test ends.
func OnDisk(t testing.TB) *db.DB {
	t.Helper()
	keeper, err := db.LocalKey(make([]byte, db.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "muster.db"), keeper)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// PlanOf tells how SQLite would find the rows of a statement. It says so without any row.
func PlanOf(t testing.TB, d *db.DB, query string) string {
	t.Helper()
	var plan []string
	err := d.Each(t.Context(), func(row db.Scanner) error {
		var a, b, c int
		var detail string
		err := row.Scan(&a, &b, &c, &detail)
		plan = append(plan, detail)
		return err
	}, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

// FindsBy fails a test where a statement does not find its rows by an index, or reads a whole table.
func FindsBy(t testing.TB, d *db.DB, query string, indexes ...string) {
	t.Helper()
	plan := PlanOf(t, d, query)
	for _, index := range indexes {
		if !strings.Contains(plan, index) || strings.Contains(plan, "SCAN ") {
			t.Errorf("%s\nis not found by %s:\n%s", query, index, plan)
		}
	}
}
