package cluster

import (
	"testing"

	"muster/app"
)

// A node whose machine has to be created for it takes none of a pool.
func TestPoolWantsWithoutNodesThatCanHaveNone(t *testing.T) {
	nodes := []app.NewNode{{Node: app.Node{Name: "n1"}, NoPool: true}, {Node: app.Node{Name: "n2"}}}
	if got := PoolWants("dock", nodes, Definition{}); len(got) != 1 || got[0].Node != "n2" {
		t.Errorf("%+v", got)
	}
}
