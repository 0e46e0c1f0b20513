package policy

import (
	"testing"

	"muster/app/store/db/dbtest"
)

// What is asked with every create, and every few seconds, must be found by an index, however much was ever reserved or made.
func TestQuotaQueriesUseIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	for query, indexes := range map[string][]string{
		`SELECT r.id FROM reservations r WHERE ` + reservationByRef:                               {"reservation_of_a_cluster", "reservation_of_a_request"},
		`SELECT count(*) FROM reservations r WHERE r.tenant = ? AND r.ended_at = 0 AND r.id <> ?`: {"live_reservations"},
		`SELECT 1 FROM resources x WHERE ` + ExistedDuring:                                        {"resources_by_end"},
		`UPDATE reservations SET ended_at = ? WHERE ` + releasedRows:                              {"reservation_of_a_cluster", "reservation_of_a_request"},
	} {
		dbtest.FindsBy(t, d, query, indexes...)
	}
}
