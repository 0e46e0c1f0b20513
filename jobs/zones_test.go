package jobs_test

import (
	"testing"

	"muster/app"
	apptemplate "muster/app/template"
)

// TestNodesAreCreatedInTheirZones follows a zone from the layout over the ledger to the machine.
func TestNodesAreCreatedInTheirZones(t *testing.T) {
	e := newEngine(t, func(_ *engine, c *apptemplate.Catalog) {
		c.Providers["cloud"].Zones = []string{"a", "b", "c"}
		for _, template := range c.Templates {
			template.Constraints.Zones = &apptemplate.ZoneRule{MaxSkew: 1}
		}
	})
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	zone, in := map[string]string{}, map[string]int{}
	for _, m := range e.cloud.Machines() {
		zone[m.ID] = m.Zone
	}
	for _, n := range v.Nodes {
		if n.Zone == "" || zone[n.MachineID] != n.Zone {
			t.Errorf("%s is meant for zone %q and its machine is in %q", n.Name, n.Zone, zone[n.MachineID])
		}
		in[n.Zone]++
	}
	if len(in) != 3 {
		t.Errorf("nodes by zone: %v", in)
	}
}
