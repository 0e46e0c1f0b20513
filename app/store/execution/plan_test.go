package execution

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// What is asked every half second must be found by an index, however many rows there are, and so must what a queue waits for.
// SQLite says without any row how it would look.
func TestHotQueriesUseTheirIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	for index, query := range map[string]string{
		"steps_running":                        `SELECT 1 FROM steps WHERE ` + isLost,
		"steps_due (not_before>?)":             `SELECT 1 FROM steps WHERE ` + isDue,
		"steps_to_claim (operation=?)":         `SELECT 1 FROM steps s WHERE ` + bestOfOperation,
		"operations_to_claim (tenant=?)":       operationsToClaim,
		"steps_to_dispatch (dispatched_at=?)":  outbox,
		"USING INDEX steps_due (not_before>?)": `SELECT error_code FROM steps WHERE ` + backsOff + ` AND tenant = ? AND ` + goes,
		"steps_asked":                          `SELECT 1 FROM steps WHERE state = 'asked' AND tenant = ? AND ` + goes,
	} {
		if text := dbtest.PlanOf(t, d, query); !strings.Contains(text, index) || strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s\nis not found by %s:\n%s", query, index, text)
		}
	}
}
