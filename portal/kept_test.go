package portal

import (
	"net/http"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/plan"
)

// keepMachine has a store keep the machine of the first node of web-1, as a repair does.
func keepMachine(t *testing.T, o *fullSite) {
	t.Helper()
	now := o.clock.now()
	if _, err := o.store.CreateCluster(t.Context(), apptest.NewCluster(app.DefaultTenant, "web", 1, now, apptest.Chain(1))); err != nil {
		t.Fatal(err)
	}
	w := app.WorkerID{Tenant: app.DefaultTenant, Name: "w"}
	for {
		cs, err := o.store.ClaimSteps(t.Context(), execution.ClaimQuery{Worker: w, Now: now, For: execution.ClaimFor, Most: 1})
		if err != nil || len(cs) == 0 {
			break
		}
		f := execution.Finish{Now: now, Fence: app.Fence{Operation: cs[0].Step.Operation, Index: cs[0].Step.Index, Attempt: cs[0].Step.Attempt}}
		if cs[0].Step.Action == app.ActionCreate {
			f.Node = &execution.NodeUpdate{Status: app.NodeReady, Machine: &family.Machine{ID: "m-1", Addresses: map[string]string{app.AddressAccess: "10.0.0.7"}}}
		}
		if _, err := o.store.FinishSteps(t.Context(), w, []execution.Finish{f}); err != nil {
			t.Fatal(err)
		}
	}
	k := cluster.KeptMachine{HostKey: []byte("next"), NewCluster: apptest.NewCluster(app.DefaultTenant, "web-n1-kept", 1, now, plan.Plan{Kind: app.OperationCreate,
		Steps: []plan.Step{{ID: "n1.isolate", Node: "n1", Action: app.ActionIsolate, Rank: time.Second}}})}
	c := &k.Cluster
	c.ExpiresAt, c.KeptFrom, c.KeptNode, c.KeptReason = now.Add(4*time.Hour), "web-1", "n1", "n1.app.install failed"
	k.Nodes[0].Intent = "next"
	if _, err := o.store.SubmitOperation(t.Context(), cluster.NewOperation{Plan: apptest.Remove(1), Keep: []cluster.KeptMachine{k}, Operation: app.Operation{
		Tenant: app.DefaultTenant, Cluster: "web-1", Kind: app.OperationRepair, Requester: "ada", CreatedAt: now}}); err != nil {
		t.Fatal(err)
	}
}

// A kept machine is shown with its cluster, in a list, and on a page of its own, to those who may see it.
func TestKeptMachinesAreShown(t *testing.T) {
	o := newFullSite(t)
	ada, cy := o.at("ada"), o.at("cy")
	ada.get("/kept-machines").reads(200, "No kept machines.")
	keepMachine(t, o)
	for _, page := range []string{"/kept-machines", "/clusters/web-1"} {
		ada.get(page).reads(200, "web-n1-kept", "Was n1", "n1.app.install failed", "10.0.0.7", "muster cluster ssh web-n1-kept", "expires in 4 h",
			"Delete machine", "Not isolated")
	}
	own := ada.get("/clusters/web-n1-kept-1")
	own.reads(200, "Kept for inspection.", "This machine was n1 of web-1", "Delete machine", "Extend by", "Use again")
	own.lacks("Change cluster", "Repair")
	cy.get("/kept-machines").lacks("web-n1-kept")
	cy.get("/clusters/web-n1-kept-1").reads(404, "doesn't exist")
	if a := ada.post("/clusters/web-n1-kept-1/sleep", nil); a.status != http.StatusConflict {
		t.Errorf("a kept machine is put to sleep: %d %s", a.status, a.text())
	}
}
