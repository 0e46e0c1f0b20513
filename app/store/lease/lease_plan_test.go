package lease

import (
	"testing"

	"muster/app/store/db/dbtest"
)

// Leases that end soon are looked for every few seconds.
func TestLeaseWarningsUseAnIndex(t *testing.T) {
	dbtest.FindsBy(t, dbtest.OnDisk(t), `SELECT 1 FROM clusters c WHERE `+leaseDue, "leases_to_remind")
}
