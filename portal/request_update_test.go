package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/layout"
	apppolicy "muster/app/policy"
)

// stands returns a cluster whose steps have all succeeded.
func (o *fullSite) stands(user, name string, size int) cluster.View {
	o.Helper()
	v, err := o.app.Cluster.Creates.CreateCluster(o.Context(), o.actor(user), cluster.CreateRequest{Name: name, Request: layout.Request{Template: "web", Size: size}})
	if err != nil {
		o.Fatal(err)
	}
	w := app.WorkerID{Tenant: app.DefaultTenant, Name: "w"}
	for {
		claimed, err := o.app.Execution.Coordinator.Claim(o.Context(), w, 1)
		if err != nil {
			o.Fatal(err)
		}
		if len(claimed) == 0 {
			break
		}
		as := claimed[0]
		r := execution.Report{Fence: as.Fence, Action: as.Action}
		if as.Action == app.ActionCreate || as.Action == app.ActionConfirm {
			r.Machine = &family.Machine{ID: "m-" + as.Node.Name, State: family.MachineRunning, Addresses: map[string]string{app.AddressBind: "10.0.0.1"}}
		}
		if answers, err := o.app.Execution.Coordinator.Report(o.Context(), w, []execution.Report{r}); err != nil || answers[0].Err != nil {
			o.Fatal(err, answers)
		}
	}
	if v, err = o.app.Cluster.Views.Cluster(o.Context(), o.actor(user), v.ID); err != nil || v.Status != app.ClusterActive {
		o.Fatal(v.Status, err)
	}
	return v
}

// Approvers see the changes to the cluster, and exactly these run.
func TestUpdateThatWaitsShowsWhatItDoes(t *testing.T) {
	o := newFullSite(t)
	v := o.stands("ada", "shop", 1)
	o.rules(apppolicy.Policy{Name: "eyes", Order: 1, Enabled: true, When: `kind == "resize"`, Effect: apppolicy.EffectApprove, Reason: "Growth costs.",
		Approval: &apppolicy.Approval{Count: 1, Role: app.RoleApprover}})
	a, err := o.app.Operation.Updates.Update(t.Context(), o.actor("ada"), "shop", cluster.Update{Kind: app.OperationResize, Size: 3})
	if err != nil || a.Request == nil {
		t.Fatal(a, err)
	}
	page := o.at("bob").get("/requests/2")
	page.reads(http.StatusOK, "shop: resize", "Grow from 1 to 3 nodes", "1 node → 3 nodes", "n2 and n3 are created.")
	if strings.Contains(page.body, "conditions") {
		t.Error("the page offers conditions, which existing clusters don't have")
	}
	if a := o.at("bob").post("/requests/2/review", url.Values{"act": {"approve"}, "plan_hash": {a.Request.Terms.PlanHash}}); a.status != http.StatusSeeOther {
		t.Fatal(a.status, a.text())
	}
	after, err := o.app.Cluster.Views.Cluster(t.Context(), o.actor("ada"), v.ID)
	if err != nil || after.Operations[0].Kind != app.OperationResize || after.Operations[0].PlanHash != a.Request.Terms.PlanHash || len(after.Nodes) != 3 {
		t.Error(after.Operations, err)
	}
	if got, err := o.app.Operation.Requests.Request(t.Context(), o.actor("ada"), 2); err != nil || got.Status != cluster.RequestAccepted || got.EndedAt.IsZero() || time.Since(got.EndedAt) > time.Hour {
		t.Error(got, err)
	}
}
