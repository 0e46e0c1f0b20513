package store

import (
	"strings"
	"testing"
)

// What is asked with every create, and every few seconds, must be found by an index, however much was ever reserved or made.
func TestMoneyIsFoundByIndexes(t *testing.T) {
	s := onDisk(t)
	for query, indexes := range map[string][]string{
		`SELECT r.id FROM reservations r WHERE ` + itsReservation:                                 {"reservation_of_a_cluster", "reservation_of_a_request"},
		`SELECT count(*) FROM reservations r WHERE r.tenant = ? AND r.ended_at = 0 AND r.id <> ?`: {"live_reservations"},
		`SELECT 1 FROM clusters c WHERE ` + leaseDue:                                              {"leases_to_warn_of"},
		`SELECT 1 FROM resources x WHERE ` + stoodSince:                                           {"resources_by_end"},
		`UPDATE reservations SET ended_at = ? WHERE ` + givenBack:                                 {"reservation_of_a_cluster", "reservation_of_a_request"},
	} {
		var plan []string
		err := s.each(t.Context(), func(row scanner) error {
			var a, b, c int
			var detail string
			err := row.Scan(&a, &b, &c, &detail)
			plan = append(plan, detail)
			return err
		}, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan, "\n")
		for _, index := range indexes {
			if !strings.Contains(text, index) || strings.Contains(text, "SCAN ") {
				t.Errorf("%s\nis not found by %s:\n%s", query, index, text)
			}
		}
	}
}
