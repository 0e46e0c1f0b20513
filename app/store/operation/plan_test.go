package operation

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// What is asked with every step or every half second must be found by an index, however many rows stand there. SQLite
// says without any row how it would look.
func TestHotQueriesUseTheirIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	const sortsFew = `WITH f(c, n, o) AS (VALUES (?, ?, ?)` + firstInLine // the steps of one node
	for index, query := range map[string]string{
		"steps_ready (cluster=? AND node=?)":                  `WITH f(c, n) AS (VALUES (?, ?)` + liveOfNodes,
		"steps_ready (cluster=? AND node=? AND operation=?)":  sortsFew,
		"one_step_at_a_time_on_a_node (cluster=? AND node=?)": `WITH f(c, n) AS (VALUES (?, ?)` + liveOfNodes,
		"steps_running":                                           `SELECT 1 FROM steps WHERE ` + isLost,
		"steps_due (not_before>?)":                                `SELECT 1 FROM steps WHERE ` + isDue,
		"steps_to_claim (operation=?)":                            `SELECT 1 FROM steps s WHERE ` + bestOfOperation,
		"operations_to_claim (tenant=?)":                          operationsToClaim,
		"steps_to_ring (rung_at=?)":                               outbox,
		"INTEGER PRIMARY KEY (rowid>? AND rowid<?)":               clustersChanged,
		"SEARCH c USING INDEX sqlite_autoindex_clusters_1 (id=?)": expectedMachines + ` AND c.id IN (?, ?)`,
	} {
		sorts := query == sortsFew || query == clustersChanged // what comes twice is left out
		if text := dbtest.PlanOf(t, d, query); !strings.Contains(text, index) || strings.Contains(text, "TEMP B-TREE") != sorts {
			t.Errorf("%s\nis not found by %s:\n%s", query, index, text)
		}
	}
}
