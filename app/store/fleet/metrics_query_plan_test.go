package fleet

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// What is gauged every few seconds is found by an index.
func TestMetricsQueriesUseIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	for index, query := range map[string]string{
		"steps_queued (tenant=? AND queued_at>?)": oldestQueued,
		"one_running_operation_of_a_cluster":      atWork,
	} {
		if plan := dbtest.PlanOf(t, d, query); !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\nis not found by %s:\n%s", query, index, plan)
		}
	}
}
