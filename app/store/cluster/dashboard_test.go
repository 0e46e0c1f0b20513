package cluster

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// The page that people begin with looks only at what is their own.
func TestDashboardQueriesUseIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	for query, index := range map[string]string{
		standing:      "COVERING INDEX clusters_of_owner (tenant=? AND owner=?)",
		newestOfOwner: "clusters_of_owner (tenant=? AND owner=? AND status=?)",
		leasesOfOwner: "leases_of_owner (tenant=? AND owner=? AND expires_at>? AND expires_at<?)",
	} {
		dbtest.FindsBy(t, d, query, index)
	}
}

// Few are locked among very many.
func TestLockedClustersAreFoundByAnIndex(t *testing.T) {
	d := dbtest.OnDisk(t)
	for _, query := range []string{locked, countLocked} {
		plan := dbtest.PlanOf(t, d, query)
		for _, index := range []string{"COVERING INDEX clusters_locked (tenant=?)", "nodes_locked (tenant=?)"} {
			if !strings.Contains(plan, index) {
				t.Errorf("%s\nis not found by %s:\n%s", query, index, plan)
			}
		}
	}
}
