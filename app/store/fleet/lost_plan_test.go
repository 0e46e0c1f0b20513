package fleet

import (
	"strings"
	"testing"

	"muster/app/store/db/dbtest"
)

// What is compared with providers every half minute must be found by an index, however many rows there are.
func TestMachineQueriesUseIndexes(t *testing.T) {
	d := dbtest.OnDisk(t)
	for index, query := range map[string]string{
		"INTEGER PRIMARY KEY (rowid>? AND rowid<?)":               clustersChanged,
		"SEARCH c USING INDEX sqlite_autoindex_clusters_1 (id=?)": expectedMachines + ` AND c.id IN (?, ?)`,
	} {
		// The same cluster may have changed twice, and is left out the second time.
		if text := dbtest.PlanOf(t, d, query); !strings.Contains(text, index) || strings.Contains(text, "TEMP B-TREE") != (query == clustersChanged) {
			t.Errorf("%s\nis not found by %s:\n%s", query, index, text)
		}
	}
}
