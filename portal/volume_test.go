package portal

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/template"
	"muster/app/volume"
)

// withVolume has a cluster of ada's run, whose node has a volume.
func withVolume(t *testing.T, o *fullSite) (id string) {
	t.Helper()
	now := o.clock.now()
	if _, err := o.store.CreateCluster(t.Context(), apptest.NewCluster(app.DefaultTenant, "web", 1, now, apptest.Chain(1))); err != nil {
		t.Fatal(err)
	}
	list, err := o.store.WantVolumes(t.Context(), volume.Wanted{Tenant: app.DefaultTenant, Provider: "cloud", Cluster: "web-1", Node: "n1", Owner: "ada", Now: now,
		Volumes: []template.NodeVolume{{Service: "web", Volume: template.Volume{Name: "data", SizeGB: 10, Mount: "/srv/data"}}}})
	if err != nil {
		t.Fatal(err)
	}
	work(t, o, volume.Seen{ID: list[0].ID, External: "disk-1", SizeGB: 10, Machine: "m-1", Mounted: true})
	return list[0].ID
}

// work carries out all steps there are.
func work(t *testing.T, o *fullSite, seen volume.Seen) {
	t.Helper()
	now, w := o.clock.now(), app.WorkerID{Tenant: app.DefaultTenant, Name: "w"}
	for {
		cs, err := o.store.ClaimSteps(t.Context(), execution.ClaimQuery{Worker: w, Now: now, For: execution.ClaimFor, Most: 1})
		if err != nil || len(cs) == 0 {
			return
		}
		f := execution.Finish{Now: now, Fence: app.Fence{Operation: cs[0].Step.Operation, Index: cs[0].Step.Index, Attempt: cs[0].Step.Attempt}}
		switch cs[0].Step.Action {
		case app.ActionCreate:
			f.Node = &execution.NodeUpdate{Status: app.NodeReady, Machine: &family.Machine{ID: "m-1", Addresses: map[string]string{app.AddressAccess: "10.0.0.7"}}}
		case app.ActionDelete:
			f.Node = &execution.NodeUpdate{Status: app.NodeDeleted, Deleted: true}
		default:
			f.Volumes = []volume.Seen{seen}
		}
		if _, err := o.store.FinishSteps(t.Context(), w, []execution.Finish{f}); err != nil {
			t.Fatal(err)
		}
	}
}

// Volumes are listed for those whose they are; a cluster is deleted with a word on them, and kept ones are extended and deleted.
func TestVolumesAreShown(t *testing.T) {
	o := newFullSite(t)
	ada, cy := o.at("ada"), o.at("cy")
	ada.get("/volumes").reads(200, "No volumes.")
	id := withVolume(t, o)
	ada.get("/volumes").reads(200, "data", "Attached", "10 GB", "web-1", "If node is deleted")
	cy.get("/volumes").lacks(id)

	ada.post("/volumes/"+id+"/snapshots", url.Values{"keep": {"lots"}}).reads(http.StatusUnprocessableEntity, "Choose how many snapshots")
	if a := ada.post("/volumes/"+id+"/snapshots", url.Values{"keep": {"7"}}); a.status != http.StatusSeeOther {
		t.Errorf("a snapshot: %d %s", a.status, a.text())
	}
	ada.get("/volumes").reads(200, "Snapshots", "snap-", "Being created", "of "+id)
	ada.post("/volumes/"+id+"/snapshots", url.Values{"keep": {"7"}}).reads(http.StatusConflict, "is being created", "Wait until")

	ada.post("/volumes/"+id+"/schedule", url.Values{"schedule": {"never"}}).reads(http.StatusUnprocessableEntity, "Choose a schedule")
	if a := ada.post("/volumes/"+id+"/schedule", url.Values{"schedule": {"daily"}}); a.status != http.StatusSeeOther {
		t.Errorf("a schedule: %d %s", a.status, a.text())
	}
	ada.get("/volumes").reads(200, "Snapshots every 24h, the newest 7 are kept", "Next: ", "Every day, keep 7")
	made, err := o.store.Snapshots(t.Context(), app.DefaultTenant, volume.SnapshotFilter{})
	if err != nil || len(made) != 1 {
		t.Fatalf("snapshots: %v %v", made, err)
	}
	if _, err := o.store.SnapshotMade(t.Context(), made[0].ID, "copy-1", ""); err != nil {
		t.Fatal(err)
	}
	ada.get("/volumes?delete="+made[0].ID).reads(200, "Delete snapshot of data?", "will be lost", "Cancel")

	ask := ada.get("/clusters/web-1/delete")
	ask.reads(200, "data of n1, 10 GB", "Delete with all data", "Keep for 30 days")
	if a := ada.post("/clusters/web-1/delete", url.Values{"volumes": {"burn"}}); a.status != http.StatusUnprocessableEntity && a.status != http.StatusBadRequest {
		t.Errorf("an unknown choice is taken: %d %s", a.status, a.text())
	}
	if a := ada.post("/clusters/web-1/delete", url.Values{"volumes": {"keep"}}); a.status != http.StatusSeeOther {
		t.Fatalf("the cluster isn't deleted: %d %s", a.status, a.text())
	}
	work(t, o, volume.Seen{})
	kept := ada.get("/volumes")
	kept.reads(200, "Kept", "From cluster web-1, node n1, service web", "Extend", "Delete volume")

	ada.post("/volumes/"+id+"/extend", url.Values{"keep_for": {"soon"}}).reads(http.StatusUnprocessableEntity, "That isn't a duration.")
	if a := ada.post("/volumes/"+id+"/extend", url.Values{"keep_for": {"90d"}}); a.status != http.StatusSeeOther {
		t.Errorf("extending: %d %s", a.status, a.text())
	}
	ada.get("/volumes").reads(200, o.clock.now().Add(90*24*time.Hour).UTC().Format(time.DateOnly))
	if a := cy.post("/volumes/"+id+"/delete", nil); a.status == http.StatusSeeOther {
		t.Error("someone else deletes it")
	}
	ada.get("/volumes?delete="+id).reads(200, "Delete volume data?", "All data on "+id, "will be lost")
	if a := ada.post("/volumes/"+id+"/delete", nil); a.status != http.StatusSeeOther {
		t.Errorf("deleting: %d %s", a.status, a.text())
	}
	ada.get("/volumes").reads(200, "Deleting")
}
