package jobs_test

import (
	"context"
	"slices"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/template"
	"muster/app/volume"
)

// firstCloud is a cloud whose machines only have the volumes that they are created with.
type firstCloud struct{ *diskCloud }

func (c *firstCloud) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return c, nil
}

func (c *firstCloud) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	for _, at := range spec.Volumes {
		if v, ok := c.disk(at.Volume); !ok || v.Machine != "" || at.Mount == "" {
			return family.Machine{}, app.Errorf(app.EConflict, "volume %+v can't be %+v", v, at)
		}
	}
	m, err := c.Cloud.Create(ctx, spec)
	if err != nil {
		return m, err
	}
	for _, at := range spec.Volumes {
		c.set(at.Volume, m.ID)
	}
	return m, c.lost("machine")
}

func (c *firstCloud) disk(id string) (family.Volume, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.disks[id]
	return v, ok
}

func (c *firstCloud) set(id, machine string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.disks[id]
	v.Machine, v.Path = machine, "/srv/data"
	c.disks[id] = v
}

func (c *firstCloud) Delete(ctx context.Context, id string) error {
	for _, disk := range c.ids() {
		if v, _ := c.disk(disk); v.Machine == id {
			c.set(disk, "")
		}
	}
	return c.Cloud.Delete(ctx, id)
}

func (c *firstCloud) AttachVolume(_ context.Context, at family.VolumeAttachment) (family.Volume, error) {
	v, _ := c.disk(at.Volume)
	if v.Machine != at.Machine {
		return v, &app.Error{Code: app.EConflict, Reason: family.ReasonVolumeAtCreation, Message: "created without it"}
	}
	return v, c.lost("attach")
}

func (c *firstCloud) DetachVolume(_ context.Context, id string) error {
	if v, _ := c.disk(id); v.Machine != "" {
		return family.ErrVolumeAttached(id, v.Machine)
	}
	return nil
}

func withFirst(t *testing.T, lose map[string]int) (*engine, *firstCloud) {
	c := &firstCloud{&diskCloud{disks: map[string]family.Volume{}, lose: lose}}
	e := newEngine(t, func(e *engine, cat *template.Catalog) {
		c.Cloud, e.clouds = e.cloud, c
		cat.Services["back"].Volumes = []template.Volume{{Name: "data", SizeGB: 10, Mount: "/srv/data", OnDelete: template.VolumeKeep}}
	})
	yes := func(string) bool { return true }
	kinds := volume.Kinds{Makes: yes, AtCreation: yes}
	e.app.Execution.Coordinator.VolumesFirst, e.app.Operation.Builder.Volumes, e.app.Cluster.Creates.Volumes = kinds.First, kinds, kinds
	return e, c
}

// Where machines only have the volumes that they are created with, these come first. Whatever answer is lost, a node has one; a machine that is created
// again has the old one, and it stays when the cluster goes.
func TestVolumesThatComeFirst(t *testing.T) {
	t.Parallel()
	e, c := withFirst(t, map[string]int{"create": 1, "machine": 1, "attach": 1, "delete": 1})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	held := func() volume.Volume {
		t.Helper()
		got := e.volumes(volume.Filter{})
		if len(got) != 1 || got[0].External != "disk-1" || got[0].State != volume.StateAttached || got[0].MountedAt.IsZero() {
			t.Fatalf("the volumes are %+v", got)
		}
		if disk, _ := c.disk("disk-1"); disk.Machine != got[0].Machine || disk.Machine == "" {
			t.Errorf("the provider has %+v, not %s", disk, got[0].Machine)
		}
		return got[0]
	}
	was := held()
	v, _ = e.updated(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{was.Node}})
	e.want(v, app.ClusterActive)
	if now := held(); now.Machine == was.Machine {
		t.Errorf("node %s still has machine %s", now.Node, now.Machine)
	}
	e.delete(v.ID)
	kept := e.volumes(volume.Filter{Kept: true})
	if disk, _ := c.disk("disk-1"); len(kept) != 1 || disk.Machine != "" || !slices.Equal(c.ids(), []string{"disk-1"}) {
		t.Errorf("kept is %+v of %v", kept, c.ids())
	}
}

// A failed machine whose volume can't be taken off it isn't kept for inspection when its operation is rolled back.
func TestMachinesWithVolumesThatComeFirstAreNotKept(t *testing.T) {
	t.Parallel()
	e, _ := withFirst(t, nil)
	e.owner()
	e.strangers("n1", "n2")
	v := e.await(e.keeping(2, "").ID)
	e.want(v, app.ClusterFailed)
	with := v.Nodes[slices.IndexFunc(v.Nodes, func(n app.Node) bool { return slices.Contains(n.Services, "back") })].Name
	p, err := e.app.Operation.RollBacks.PreviewRollBack(t.Context(), e.admin, v.ID, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	if kept := p.Kept.Nodes(); len(kept) != 1 || slices.Contains(kept, with) || slices.Contains(p.CanKeep, with) {
		t.Fatalf("of %s, which has a volume, and another, %v are kept", with, kept)
	}
	if _, err := e.app.Operation.RollBacks.RollBack(t.Context(), e.admin, v.ID, 0, p.PlanHash, ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted)
}
