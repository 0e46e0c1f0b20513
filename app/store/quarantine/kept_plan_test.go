package quarantine

import (
	"testing"

	"muster/app"
	"muster/app/store/db/dbtest"
)

// Few machines are kept among very many clusters, and the page of each cluster asks for its own.
func TestKeptMachinesAreFoundByAnIndex(t *testing.T) {
	d := dbtest.OnDisk(t)
	for from, index := range map[string]string{"": "clusters_kept_live (tenant=?)", "web": "clusters_kept_of (tenant=? AND kept_from=?)"} {
		for _, reader := range []*app.ClusterReader{nil, {User: "ada", Groups: []string{"data"}}} {
			query, _ := keptQuery("t", reader, from, 100)
			dbtest.FindsBy(t, d, query, index)
		}
	}
}
