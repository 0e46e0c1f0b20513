package catalog

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// A catalog is shown without looking at all clusters that were created from it.
func TestUsesAreCountedByAnIndex(t *testing.T) {
	d := dbtest.OnDisk(t)
	for column, index := range map[string]string{"template": "live_clusters_of_template", "provider": "live_clusters_of_provider"} {
		plan := dbtest.PlanOf(t, d, useBy(column))
		for _, part := range []string{" (tenant=?)", " (tenant=? AND " + column + ">?)", " (tenant=? AND " + column + "=?"} {
			if !strings.Contains(plan, "COVERING INDEX "+index+part) || strings.Contains(plan, "SCAN c ") {
				t.Errorf("uses by %s are not counted by %s%s:\n%s", column, index, part, plan)
			}
		}
	}
}
