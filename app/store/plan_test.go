package store

import (
	"strings"
	"testing"
)

// What is asked with every step or every half second must be found by an index, however many rows stand there. SQLite
// says without any row how it would look.
func TestHotQueriesUseTheirIndexes(t *testing.T) {
	s := onDisk(t)
	const sortsFew = `WITH f(c, n, o) AS (VALUES (?, ?, ?)` + firstInLine // the steps of one node
	for index, query := range map[string]string{
		"steps_ready (cluster=? AND node=?)":                  `WITH f(c, n) AS (VALUES (?, ?)` + liveOfNodes,
		"steps_ready (cluster=? AND node=? AND operation=?)":  sortsFew,
		"one_step_at_a_time_on_a_node (cluster=? AND node=?)": `WITH f(c, n) AS (VALUES (?, ?)` + liveOfNodes,
		"steps_running":                                           `SELECT 1 FROM steps WHERE ` + isLost,
		"steps_due (not_before>?)":                                `SELECT 1 FROM steps WHERE ` + isDue,
		"USING INDEX steps_due (not_before>?)":                    `SELECT error_code FROM steps WHERE ` + backsOff + ` AND tenant = ? AND ` + goes,
		"steps_queued (tenant=? AND queued_at>?)":                 oldestQueued,
		"steps_asked":                                             `SELECT 1 FROM steps WHERE state = 'asked' AND tenant = ? AND ` + goes,
		"steps_to_claim (operation=?)":                            `SELECT 1 FROM steps s WHERE ` + bestOfOperation,
		"one_running_operation_of_a_cluster":                      atWork,
		"operations_to_claim (tenant=?)":                          operationsToClaim,
		"steps_to_ring (rung_at=?)":                               outbox,
		"sqlite_autoindex_paces_1 (tenant=? AND kind=?)":          `WITH f(t, k) AS (VALUES (?, ?)` + paceByKey,
		"INTEGER PRIMARY KEY (rowid=?)":                           `WITH f(i) AS (VALUES (?)` + widthsOfPaces,
		"paces_seen (seen_at<?)":                                  `SELECT id FROM paces WHERE seen_at < ? ORDER BY seen_at LIMIT ?`,
		"INTEGER PRIMARY KEY (rowid>? AND rowid<?)":               clustersChanged,
		"SEARCH c USING INDEX sqlite_autoindex_clusters_1 (id=?)": expectedMachines + ` AND c.id IN (?, ?)`,
	} {
		args := make([]any, strings.Count(query, "?"))
		var plan []string
		err := s.each(t.Context(), func(row scanner) error {
			var a, b, c int
			var detail string
			err := row.Scan(&a, &b, &c, &detail)
			plan = append(plan, detail)
			return err
		}, "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		sorts := query == sortsFew || query == clustersChanged // what comes twice is left out
		if text := strings.Join(plan, "\n"); !strings.Contains(text, index) || strings.Contains(text, "TEMP B-TREE") != sorts {
			t.Errorf("%s\nis not found by %s:\n%s", query, index, text)
		}
	}
}
