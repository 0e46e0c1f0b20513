package cluster

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// What a queue waits for is looked for whenever somebody asks.
func TestWhatWaitsIsFoundByIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	for index, query := range map[string]string{
		"USING INDEX steps_due (not_before>?)": `SELECT error_code FROM steps WHERE ` + backsOff + ` AND tenant = ? AND ` + goes,
		"steps_asked":                          `SELECT 1 FROM steps WHERE state = 'asked' AND tenant = ? AND ` + goes,
	} {
		if plan := dbtest.PlanOf(t, d, query); !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\nis not found by %s:\n%s", query, index, plan)
		}
	}
}
