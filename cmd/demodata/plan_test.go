package demodata

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/app/store/db"
)

// growing are the tables with a row or more for each cluster that there is or was.
var growing = []string{"clusters", "nodes", "operations", "steps", "resources", "reservations", "reservation_groups", "intents", "events", "logs", "audit",
	"notifications", "inbox", "requests", "reviews", "node_reports", "cluster_health", "node_health", "cluster_labels", "cluster_shares", "cluster_idle",
	"idle_savings", "operation_changes", "service_outputs", "service_changes", "lease_warnings", "webhook_deliveries", "builds", "volumes", "runs", "terminals"}

// goingOn are indexes of what is being worked on, which may be read whole: it doesn't grow with idle clusters.
var goingOn = []string{"steps_asked", "steps_running", "steps_queued", "steps_for_providers", "operations_going_on"}

var (
	scans = regexp.MustCompile(`^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?`)
	reads = regexp.MustCompile(`(?i)\b(?:FROM|JOIN) (\w+)(?: AS)?(?: (\w+))?`)
)

// noScans checks that no statement that a page waits for reads a whole table that grows. Asked has statements, with a page that asks each.
func (h *Instance) noScans(t *testing.T, asked map[string]string) {
	t.Helper()
	if len(asked) < 100 {
		t.Errorf("pages ask only %d statements", len(asked))
	}
	plan := func(query string, f func(detail string)) {
		if err := h.Store.Each(t.Context(), func(row db.Scanner) error {
			var id, parent, unused int
			var detail string
			err := row.Scan(&id, &parent, &unused, &detail)
			f(detail)
			return err
		}, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, table := range growing {
		plan("SELECT * FROM "+table+" LIMIT 1", func(detail string) {
			if !scans.MatchString(detail) {
				t.Errorf("a scan of %s isn't recognized: %s", table, detail)
			}
		})
	}
	for query, page := range asked {
		tables := map[string]string{} // by the names that the plan has for them
		for _, m := range reads.FindAllStringSubmatch(query, -1) {
			tables[m[1]], tables[m[2]] = m[1], m[1]
		}
		plan(query, func(detail string) {
			if m := scans.FindStringSubmatch(detail); m != nil && slices.Contains(growing, tables[m[1]]) && !slices.Contains(goingOn, m[2]) {
				t.Errorf("%s: %s in %s", page, detail, strings.Join(strings.Fields(query), " "))
			}
		})
	}
}
