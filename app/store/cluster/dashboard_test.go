package cluster

import (
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
