package policy

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// Duration statistics are read and written with every step that ends.
func TestDurationQueriesUseIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	dbtest.FindsBy(t, d, `SELECT id FROM step_durations WHERE seen_at < ? ORDER BY seen_at LIMIT ?`, "step_durations_seen (seen_at<?)")
	// The rows that are looked for are a table of their own, which is read whole.
	for index, query := range map[string]string{
		"sqlite_autoindex_step_durations_1 (tenant=? AND kind=?)": `WITH f(t, k) AS (VALUES (?, ?)` + paceByKey,
		"INTEGER PRIMARY KEY (rowid=?)":                           `WITH f(i) AS (VALUES (?)` + widthsOfPaces,
	} {
		if plan := dbtest.PlanOf(t, d, query); !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\nis not found by %s:\n%s", query, index, plan)
		}
	}
}
