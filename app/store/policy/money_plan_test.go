package policy

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// What is asked with every create, and every few seconds, must be found by an index, however much was ever reserved or made.
func TestQuotaQueriesUseIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	for query, indexes := range map[string][]string{
		`SELECT r.id FROM reservations r WHERE ` + reservationByRef:                               {"reservation_of_a_cluster", "reservation_of_a_request"},
		`SELECT count(*) FROM reservations r WHERE r.tenant = ? AND r.ended_at = 0 AND r.id <> ?`: {"live_reservations"},
		`SELECT sum(r.nodes), sum(r.cpu), sum(r.cost * r.until_at), sum(1 - r.pool) FROM reservations r
			WHERE r.tenant = ? AND r.ended_at = 0 AND r.id <> ?`: {"COVERING INDEX live_reservations"},
		`SELECT r.owner, sum(r.nodes), sum(r.cpu), sum(r.cost * r.until_at), sum(1 - r.pool) FROM reservations r
			WHERE r.tenant = ? AND r.ended_at = 0 GROUP BY r.owner`: {"COVERING INDEX live_reservations"},
		`SELECT 1 FROM resources x WHERE ` + ExistedDuring:           {"resources_by_end"},
		`UPDATE reservations SET ended_at = ? WHERE ` + releasedRows: {"reservation_of_a_cluster", "reservation_of_a_request"},
	} {
		dbtest.FindsBy(t, d, query, indexes...)
	}
}

// Before they add up anything, pages ask whether there is much.
func TestMachinesAreCountedByAnIndex(t *testing.T) {
	plan := dbtest.PlanOf(t, dbtest.OnDisk(t), countMachines)
	for _, part := range []string{"COVERING INDEX resources_by_end (tenant=? AND deleted_at=?)", "COVERING INDEX resources_by_end (tenant=? AND deleted_at>?)"} {
		if !strings.Contains(plan, part) || strings.Contains(plan, "SCAN x") {
			t.Errorf("machines are not counted by %s:\n%s", part, plan)
		}
	}
}
