package usage

import (
	"testing"

	"muster/app/store/db/dbtest"
	"muster/app/usage"
)

// The page that people begin with looks only at what is their own.
func TestUsageByOwnerUsesAnIndex(t *testing.T) {
	where, _ := usageWhere(usage.Query{Tenant: "t", Owner: "ada"})
	dbtest.FindsBy(t, dbtest.OnDisk(t), `SELECT 1 FROM resources x WHERE `+where, "resources_of_owner (tenant=? AND owner=? AND deleted_at")
}
