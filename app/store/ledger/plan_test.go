package ledger

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// What is asked with every step must be found by an index, however many rows there are. SQLite says without any row how it would look.
func TestHotQueriesUseTheirIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	const sortsFew = `WITH f(c, n, o) AS (VALUES (?, ?, ?)` + firstInLine // the steps of one node
	for index, query := range map[string]string{
		"steps_ready (cluster=? AND node=?)":                  `WITH f(c, n) AS (VALUES (?, ?)` + liveOfNodes,
		"steps_ready (cluster=? AND node=? AND operation=?)":  sortsFew,
		"one_step_at_a_time_on_a_node (cluster=? AND node=?)": `WITH f(c, n) AS (VALUES (?, ?)` + liveOfNodes,
	} {
		if text := dbtest.PlanOf(t, d, query); !strings.Contains(text, index) || strings.Contains(text, "TEMP B-TREE") != (query == sortsFew) {
			t.Errorf("%s\nis not found by %s:\n%s", query, index, text)
		}
	}
}
