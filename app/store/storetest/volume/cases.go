package volume

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
	"muster/app/template"
	"muster/app/volume"
)

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"a volume of a node is created once, and goes with its cluster", (*storeTest).once},
	{"volumes are kept, extended, used again and deleted", (*storeTest).kept},
	{"volumes count in quotas before they are created, and once", (*storeTest).quota},
	{"a volume leaves a node with its service", (*storeTest).serviceGone},
	{"no volume of another tenant is found", (*storeTest).tenants},
	{"snapshots are created once, and the newest are kept", (*storeTest).snapshots},
	{"snapshots are created by schedule, once, and old ones of the schedule are deleted", (*storeTest).schedule},
	{"owners are notified before kept volumes expire", (*storeTest).expiring},
	{"a tenant isn't deleted as long as it has volumes", (*storeTest).tenantStays},
})

const price = 0.25

func (t *storeTest) want(choice template.VolumeChoice) volume.ForStep {
	t.Helper()
	list, err := t.Store.WantVolumes(t.Ctx, volume.Wanted{Tenant: kit.Tenant, Provider: "cloud", Cluster: "web-1", Node: "n1", Owner: "ada",
		CostPerGBHour: price / 10, SnapshotPerGBHour: 0.005, Now: t.Clock.Now(),
		Volumes: []template.NodeVolume{{Service: "web", Volume: template.Volume{Name: "data", SizeGB: 10, Mount: "/srv/data", OnDelete: choice}}}})
	t.Must(err)
	if len(list) != 1 {
		t.Fatalf("%d volumes are wanted", len(list))
	}
	return list[0]
}

// attach makes a cluster of one node, whose last step finds its volume attached.
func (t *storeTest) attach(choice template.VolumeChoice) volume.ForStep {
	t.Helper()
	t.Create("web", 1)
	var v volume.ForStep
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		if c.Step.Action == app.ActionCreate {
			t.Finish(c, false)
			continue
		}
		if v.ID == "" {
			v = t.want(choice)
		}
		t.end(c, execution.Finish{Volumes: []volume.Seen{{ID: v.ID, External: "disk-1", Zone: "a", SizeGB: 12, Machine: "m-n1", Mounted: true}}})
	}
	return v
}

func (t *storeTest) end(c *execution.ClaimedStep, f execution.Finish) {
	t.Helper()
	f.Fence, f.Now = kit.Fence(c), t.Clock.Now()
	_, err := t.End(c.Step.Worker, f)
	t.Must(err)
}

func (t *storeTest) is(id string, state volume.State) volume.Volume {
	t.Helper()
	v, err := t.Store.Volume(t.Ctx, kit.Tenant, id)
	t.Must(err)
	if v.State != state {
		t.Errorf("volume %s is %s, not %s", id, v.State, state)
	}
	return v
}

// reserved is what a tenant's machines and volumes cost per hour by its quotas.
func (t *storeTest) reserved() (cost float64) {
	t.Helper()
	all, err := t.Store.Reservations(t.Ctx, kit.Tenant)
	t.Must(err)
	for _, r := range all {
		if r.EndedAt.IsZero() {
			cost += r.CostPerHour
		}
	}
	return cost
}

func (t *storeTest) once() {
	v := t.attach(template.VolumeDelete)
	if again := t.want(template.VolumeDelete); again.ID != v.ID || !again.Asked || again.External != "disk-1" {
		t.Errorf("the node is given another volume: %+v", again)
	}
	got := t.is(v.ID, volume.StateAttached)
	if got.SizeGB != 12 || got.Zone != "a" || got.Machine != "m-n1" || got.MountedAt.IsZero() || got.Price != price {
		t.Errorf("the volume is %+v", got)
	}
	if has, err := t.Store.HasVolumes(t.Ctx, kit.Tenant, "web-1"); !has || err != nil {
		t.Errorf("the cluster has none (%v)", err)
	}
	known, err := t.Store.VolumeIntents(t.Ctx, "cloud", []string{v.ID, "vol-other"})
	t.Must(err)
	if len(known) != 1 || known[v.ID].External != "disk-1" {
		t.Errorf("known are %v", known)
	}
	if _, err := t.Store.DeleteVolume(t.Ctx, kit.Boss, v.ID, t.Clock.Now()); app.CodeOf(err) != app.EConflict {
		t.Errorf("the volume of a node is deleted: %v", err)
	}
	// The delete step proves that it's gone.
	op := t.Submit(app.OperationDelete, "web-1", apptest.Remove(1), false)
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		list, err := t.Store.NodeVolumes(t.Ctx, kit.Tenant, "web-1", "n1", op.ID)
		t.Must(err)
		if c.Step.Action != app.ActionDelete {
			t.Finish(c, false)
			continue
		}
		if len(list) != 1 || !list[0].Discard || list[0].NodeStays {
			t.Errorf("the step gets %+v", list)
		}
		t.end(c, execution.Finish{Node: &execution.NodeUpdate{Status: app.NodeDeleted, Deleted: true},
			Volumes: []volume.Seen{{ID: v.ID, External: "disk-1", Deleted: true, Proof: "a list"}}})
	}
	if got := t.is(v.ID, volume.StateDeleted); got.Proof != "a list" || got.DeletedAt.IsZero() {
		t.Errorf("the proof is %+v", got)
	}
	if cost := t.reserved(); cost != 0 {
		t.Errorf("%v is still reserved", cost)
	}
}

// drop deletes the cluster without a word on its volumes.
func (t *storeTest) drop() {
	t.Helper()
	t.Submit(app.OperationDelete, "web-1", apptest.Remove(1), false)
	t.Drain()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
}

func (t *storeTest) kept() {
	v := t.attach(template.VolumeDelete)
	t.Must(t.Store.ChooseVolumes(t.Ctx, kit.Boss, "web-1", template.VolumeKeep, t.Clock.Now()))
	t.drop()
	got := t.is(v.ID, volume.StateKept)
	if got.Cluster != "" || got.From != "web-1" || !got.ExpiresAt.Equal(got.KeptAt.Add(volume.KeepFor)) || t.reserved() != price {
		t.Errorf("kept is %+v, and %v is reserved", got, t.reserved())
	}
	until := t.Clock.Now().Add(90 * 24 * time.Hour)
	if got, err := t.Store.ExtendVolume(t.Ctx, kit.Boss, v.ID, until, t.Clock.Now()); err != nil || !got.ExpiresAt.Equal(until) {
		t.Errorf("extended to %v (%v)", got.ExpiresAt, err)
	}
	all, err := t.Store.Reservations(t.Ctx, kit.Tenant)
	t.Must(err)
	if len(all) != 1 || !all[0].Until.Equal(until) {
		t.Errorf("reserved is %+v", all)
	}
	if due, err := t.Store.DueVolumes(t.Ctx, until.Add(-time.Minute), 10); err != nil || len(due) != 0 {
		t.Errorf("due too early: %v, %v", due, err)
	}

	n := apptest.NewCluster(kit.Tenant, "next", 1, t.Clock.Now(), apptest.Chain(1))
	n.Cluster.Provider, n.Volumes = "cloud", []volume.Claim{{Volume: v.ID, Node: "n1", Service: "web", Name: "data"}}
	_, err = t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	if got := t.is(v.ID, volume.StateDetached); got.Cluster != n.Cluster.ID || got.OnDelete != template.VolumeKeep || got.External != "disk-1" {
		t.Errorf("the next cluster has %+v", got)
	}
	other := apptest.NewCluster(kit.Tenant, "third", 1, t.Clock.Now(), apptest.Chain(1))
	other.Cluster.Provider, other.Volumes = "cloud", n.Volumes
	t.Code(kit.Err(t.Store.CreateCluster(t.Ctx, other)), app.EConflict)

	t.Submit(app.OperationDelete, n.Cluster.ID, apptest.Remove(1), true)
	t.Drain()
	t.is(v.ID, volume.StateKept)
	_, err = t.Store.DeleteVolume(t.Ctx, kit.Boss, v.ID, t.Clock.Now())
	t.Must(err)
	due, err := t.Store.DueVolumes(t.Ctx, t.Clock.Now(), 10)
	t.Must(err)
	if len(due) != 1 || due[0].ID != v.ID {
		t.Errorf("due is %+v", due)
	}
	t.Must(t.Store.VolumeGone(t.Ctx, v.ID, t.Clock.Now(), "", "the cloud is away"))
	if got := t.is(v.ID, volume.StateDeleting); got.Error != "the cloud is away" {
		t.Errorf("the reason is %q", got.Error)
	}
	for range 2 { // as of two servers
		t.Must(t.Store.VolumeGone(t.Ctx, v.ID, t.Clock.Now(), "a list", ""))
	}
	t.is(v.ID, volume.StateDeleted)
	if expired, err := t.Store.ExpireVolume(t.Ctx, v.ID, until.Add(time.Hour)); expired || err != nil {
		t.Errorf("a deleted one expires (%v)", err)
	}
}

func (t *storeTest) quota() {
	t.Must(t.Store.SetQuota(t.Ctx, kit.Boss, policy.Quota{Scope: policy.QuotaTenant, Limits: policy.Limits{}.With(policy.MeasurePerHour, 1),
		ChangedAt: t.Clock.Now(), ChangedBy: "boss"}))
	create := func(name string, volumes float64) error {
		n := apptest.NewCluster(kit.Tenant, name, 1, t.Clock.Now(), apptest.Chain(1))
		n.Cluster.CostPerHour = 0.5
		n.Reservation = policy.ReservationOf(n.Cluster, n.Nodes, nil, nil)
		n.Reservation.VolumeCost = volumes
		n.Reservation.CostPerHour += volumes
		_, err := t.Store.CreateCluster(t.Ctx, n)
		return err
	}
	if err := create("big", 0.75); app.CodeOf(err) != app.EQuota || !strings.Contains(err.Error(), "per hour") {
		t.Errorf("volumes are above the quota: %v", err)
	}
	t.Must(create("web", price))
	if cost := t.reserved(); cost != 0.75 {
		t.Errorf("%v is reserved, not 0.75", cost)
	}
	id := t.oneCluster()
	list, err := t.Store.WantVolumes(t.Ctx, volume.Wanted{Tenant: kit.Tenant, Provider: "cloud", Cluster: id, Node: "n1", Owner: "ada", CostPerGBHour: price / 10,
		Volumes: []template.NodeVolume{{Service: "web", Volume: template.Volume{Name: "data", SizeGB: 10, Mount: "/srv/data"}}}, Now: t.Clock.Now()})
	t.Must(err)
	if cost := t.reserved(); cost != 0.75 || len(list) != 1 {
		t.Errorf("%v is reserved once the volume is written down, not 0.75", cost)
	}
	t.Code(create("more", 0), app.EQuota)
}

func (t *storeTest) oneCluster() string {
	t.Helper()
	list, err := t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{})
	t.Must(err)
	if len(list) != 1 {
		t.Fatalf("%d clusters", len(list))
	}
	return list[0].ID
}

func (t *storeTest) serviceGone() {
	v := t.attach(template.VolumeKeep)
	c := t.Change("web-1")
	c.Nodes = map[string][]string{"n1": {}}
	t.Update("web-1", kit.Steps(app.OperationRemoveServices, "n1.detach"), c)
	s := t.Claim("w")
	list, err := t.Store.NodeVolumes(t.Ctx, kit.Tenant, "web-1", "n1", s.Step.Operation)
	t.Must(err)
	if len(list) != 1 || !list[0].NodeStays || s.Step.Action != app.ActionDetach {
		t.Fatalf("%s gets %+v", s.Step.ID, list)
	}
	t.end(s, execution.Finish{Volumes: []volume.Seen{{ID: v.ID, External: "disk-1"}}})
	if got := t.is(v.ID, volume.StateKept); got.From != "web-1" {
		t.Errorf("kept is %+v", got)
	}
	kept, err := t.Store.KeptVolumes(t.Ctx, kit.Tenant, "web-1", "n1")
	t.Must(err)
	if len(kept) != 1 || kept[0].ID != v.ID {
		t.Errorf("the node had %+v", kept)
	}
	for tenant, node := range map[string]string{kit.Tenant: "n2", "other": "n1"} {
		if list, err := t.Store.KeptVolumes(t.Ctx, tenant, "web-1", node); err != nil || len(list) != 0 {
			t.Errorf("%s of %s had %+v (%v)", node, tenant, list, err)
		}
	}
	// Should the service come back, so does its volume.
	if back := t.want(template.VolumeKeep); back.ID != v.ID {
		t.Errorf("the service gets another volume: %+v", back)
	}
}

func (t *storeTest) tenants() {
	v := t.attach(template.VolumeKeep)
	eve := app.Actor{Tenant: "other", User: "eve", Role: app.RoleAdmin}
	if _, err := t.Store.Volume(t.Ctx, "other", v.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant reads it: %v", err)
	}
	for name, err := range map[string]error{
		"delete": kit.Err(t.Store.DeleteVolume(t.Ctx, eve, v.ID, t.Clock.Now())),
		"extend": kit.Err(t.Store.ExtendVolume(t.Ctx, eve, v.ID, t.Clock.Now(), t.Clock.Now())),
		"forget": kit.Err(t.Store.ForgetVolume(t.Ctx, eve, v.ID, t.Clock.Now())),
	} {
		if app.CodeOf(err) != app.ENotFound {
			t.Errorf("%s by another tenant: %v", name, err)
		}
	}
	t.Must(t.Store.ChooseVolumes(t.Ctx, eve, "web-1", template.VolumeDelete, t.Clock.Now()))
	if got := t.is(v.ID, volume.StateAttached); got.OnDelete != template.VolumeKeep {
		t.Error("another tenant decides what happens to it")
	}
	for _, f := range []volume.Filter{{}, {Cluster: "web-1"}, {Owner: "ada"}} {
		if list, err := t.Store.Volumes(t.Ctx, "other", f); err != nil || len(list) != 0 {
			t.Errorf("another tenant lists %v (%v)", list, err)
		}
	}
	t.Code(kit.Err(t.Store.ForgetVolume(t.Ctx, kit.Boss, v.ID, t.Clock.Now())), app.EConflict) // a machine has it
	t.detach(v.ID)
	if got, err := t.Store.ForgetVolume(t.Ctx, kit.Boss, v.ID, t.Clock.Now()); err != nil || got.State != volume.StateForgotten {
		t.Errorf("forgotten is %+v (%v)", got, err)
	}
	if next := t.want(template.VolumeKeep); next.ID == v.ID || next.External != "" {
		t.Errorf("the node gets %+v", next)
	}
}

func (t *storeTest) tenantStays() {
	list, err := t.Store.WantVolumes(t.Ctx, volume.Wanted{Tenant: app.DefaultTenant, Provider: "cloud", Cluster: "gone-1", Node: "n1", Owner: "ada",
		Now:     t.Clock.Now(),
		Volumes: []template.NodeVolume{{Service: "web", Volume: template.Volume{Name: "data", SizeGB: 10, Mount: "/srv/data"}}}})
	t.Must(err)
	if err := t.Store.DeleteTenant(t.Ctx, kit.Boss, app.DefaultTenant, t.Clock.Now()); err == nil || !strings.Contains(err.Error(), list[0].ID) {
		t.Errorf("the tenant is deleted with volume %s: %v", list[0].ID, err)
	}
}

func (t *storeTest) snapshots() {
	v := t.attach(template.VolumeDelete)
	var made []volume.Snapshot
	for i := range 3 {
		t.Clock.Move(time.Minute)
		x, err := t.Store.CreateSnapshot(t.Ctx, kit.Boss, v.ID, 2, t.Clock.Now())
		t.Must(err)
		t.Code(kit.Err(t.Store.CreateSnapshot(t.Ctx, kit.Boss, v.ID, 2, t.Clock.Now())), app.EConflict)
		if x.Price != 0.005*float64(x.SizeGB) {
			t.Errorf("it costs %v per hour", x.Price)
		}
		for server := range 2 {
			held, err := t.Store.SnapshotMade(t.Ctx, x.ID, fmt.Sprint("copy-", i), "")
			if t.Must(err); held != (server == 0) {
				t.Errorf("server %d hears %v", server, held)
			}
		}
		made = append(made, x)
	}
	due, err := t.Store.DueSnapshots(t.Ctx, 10)
	t.Must(err)
	if len(due) != 1 || due[0].ID != made[0].ID || due[0].State != volume.SnapshotDeleting {
		t.Errorf("due is %+v, not the oldest", due)
	}
	t.Must(t.Store.SnapshotGone(t.Ctx, made[0].ID, t.Clock.Now(), "a list", ""))
	if held, err := t.Store.SnapshotMade(t.Ctx, made[0].ID, "late", ""); err != nil || held {
		t.Errorf("a deleted snapshot was made: %v, %v", held, err)
	}
	known, err := t.Store.SnapshotIntents(t.Ctx, "cloud", []string{made[0].ID, made[1].ID, "snap-other"})
	t.Must(err)
	if len(known) != 2 || known[made[0].ID].State != volume.SnapshotDeleted || known[made[1].ID].External != "copy-1" {
		t.Errorf("known are %+v", known)
	}
	list, err := t.Store.Snapshots(t.Ctx, kit.Tenant, volume.SnapshotFilter{Volume: v.ID})
	t.Must(err)
	if len(list) != 2 || list[0].ID != made[2].ID || list[0].External != "copy-2" {
		t.Errorf("snapshots are %+v", list)
	}
	if list, err := t.Store.Snapshots(t.Ctx, "other", volume.SnapshotFilter{}); err != nil || len(list) != 0 {
		t.Errorf("another tenant has %v (%v)", list, err)
	}
	eve := app.Actor{Tenant: "other", User: "eve"}
	t.Code(kit.Err(t.Store.CreateSnapshot(t.Ctx, eve, v.ID, 2, t.Clock.Now())), app.ENotFound)
	t.Code(kit.Err(t.Store.DeleteSnapshot(t.Ctx, eve, made[1].ID, t.Clock.Now())), app.ENotFound)

	// A cluster that is made of one holds it until its volume is there.
	n := apptest.NewCluster(kit.Tenant, "copy", 1, t.Clock.Now(), apptest.Chain(1))
	planned := template.NodeVolume{Service: "web", Volume: template.Volume{Name: "data", SizeGB: 20, Mount: "/srv/data"}}
	n.Cluster.Provider, n.Volumes = "cloud", []volume.Claim{{Volume: made[1].ID, Node: "n1", Service: "web", Name: "data", New: &planned, Price: 0.5}}
	_, err = t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	wanted, err := t.Store.WantVolumes(t.Ctx, volume.Wanted{Tenant: kit.Tenant, Provider: "cloud", Cluster: n.Cluster.ID, Node: "n1", Owner: "ada",
		Now:     t.Clock.Now(),
		Volumes: []template.NodeVolume{planned}})
	t.Must(err)
	if len(wanted) != 1 || wanted[0].Snapshot != "copy-1" || wanted[0].Price != 0.5 || wanted[0].SizeGB != 20 {
		t.Errorf("the node gets %+v", wanted)
	}
	t.Code(kit.Err(t.Store.DeleteSnapshot(t.Ctx, kit.Boss, made[1].ID, t.Clock.Now())), app.EConflict)
	_, err = t.Store.DeleteSnapshot(t.Ctx, kit.Boss, made[2].ID, t.Clock.Now())
	t.Must(err)
}
