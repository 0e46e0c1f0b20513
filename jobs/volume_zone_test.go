package jobs_test

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/template"
	"muster/app/volume"
)

// zoned is an engine of a cloud with zones whose service back needs a volume, which is kept.
func zoned(t *testing.T) (*engine, *diskCloud) {
	d := &diskCloud{disks: map[string]family.Volume{}}
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		d.Cloud, e.clouds = e.cloud, d
		c.Providers["cloud"].Zones = []string{"a", "b", "c"}
		c.Services["back"].Volumes = []template.Volume{{Name: "data", SizeGB: 10, Mount: "/srv/data", OnDelete: template.VolumeKeep}}
	})
	return e, d
}

func (e *engine) ask(zone string, uses ...volume.Use) (cluster.View, error) {
	return e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, cluster.CreateRequest{Name: "web",
		Request: layout.Request{Template: "web", Size: 2, Provider: "cloud", Zone: zone}, Volumes: uses})
}

// A node that takes a kept volume is created in the volume's zone, wherever the layout would have it. A request for
// another zone is refused.
func TestNodesAreInTheZoneOfKeptVolumes(t *testing.T) {
	t.Parallel()
	e, _ := zoned(t)
	v, err := e.ask("b")
	if err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterActive)
	e.delete(v.ID)
	kept := e.volumes(volume.Filter{Kept: true})
	if len(kept) != 1 || kept[0].Zone != "b" {
		t.Fatalf("kept are %+v", kept)
	}
	use := volume.Use{Name: "data", Volume: kept[0].ID}
	if _, err := e.ask("a", use); app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), "is in zone b") {
		t.Errorf("another zone: %v", err)
	}
	if v, err = e.ask("", use); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterActive)
	i := slices.IndexFunc(v.Nodes, func(n app.Node) bool { return slices.Contains(n.Services, "back") })
	if i < 0 || v.Nodes[i].Zone != "b" {
		t.Errorf("the nodes are %+v", v.Nodes)
	}
	if got := e.volumes(volume.Filter{}); len(got) != 1 || got[0].ID != kept[0].ID || got[0].State != volume.StateAttached {
		t.Errorf("the volumes are %+v", got)
	}
}

// A volume that its cloud couldn't create is deleted and created again.
func TestFailedVolumesAreCreatedAgain(t *testing.T) {
	t.Parallel()
	e, d := withDisks(t, map[string]int{"create": 1}) // the answer that tells of the failure is lost, too
	d.spoil = 1
	e.want(e.await(e.create(2).ID), app.ClusterActive)
	if got := e.volumes(volume.Filter{}); len(got) != 1 || got[0].External != "disk-2" || got[0].State != volume.StateAttached {
		t.Errorf("the volumes are %+v", got)
	}
	if got := d.ids(); !slices.Equal(got, []string{"disk-2"}) {
		t.Errorf("the provider has %v", got)
	}
}
