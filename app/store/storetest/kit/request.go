package kit

import (
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	applayout "muster/app/layout"
	"muster/app/policy"
)

// Waiting is a request of ada's that waits for two of the group finance, with what is needed to run it.
func (t *T) Waiting(tenant, name string) cluster.NewRequest {
	plan := apptest.Chain(2)
	at := t.Clock.Now()
	layout := applayout.Layout{Provider: "cloud", CostPerHour: 0.5, Groups: []applayout.NodeGroup{{Count: 2, Hardware: "small", Image: "host", Services: []string{"a", "b"}}}}
	asked := cluster.CreateRequest{Name: name, Request: applayout.Request{Template: "web", Size: 2}}
	who := app.Actor{Tenant: tenant, User: "ada", Role: app.RoleUser, Groups: []string{"dev"}}
	r := cluster.Request{Tenant: tenant, Kind: app.OperationCreate, Requester: "ada", Owner: "ada", Groups: who.Groups, Via: app.ViaAPI, RequestedAt: at,
		Status: cluster.RequestWaiting, Spec: asked, Facts: policy.Input{Tenant: tenant, User: "ada", Nodes: 2, Now: at, Services: []string{"a", "b"}},
		Decision:  policy.Decision{Outcome: policy.OutcomeApprove, Said: []policy.AppliedPolicy{{Policy: "money", Version: 3, Effect: policy.EffectApprove, Text: "dear"}}},
		Terms:     cluster.Terms{PlanHash: plan.Hash(), Layout: layout, Steps: plan.Acts(), Lease: time.Hour, Cost: 0.5, CPU: 4, Seal: "seal"},
		Approvals: []policy.RequiredApproval{{Policy: "money", Approval: policy.Approval{Count: 2, Group: "finance", RemindAfter: time.Hour}}},
		ExpiresAt: at.Add(3 * time.Hour), DueAt: at.Add(time.Hour)}
	return cluster.NewRequest{Who: who, Request: r, Kept: &cluster.RequestPayload{Request: asked, Layout: layout, Lease: time.Hour, PlanHash: plan.Hash(), DNSSuffix: "internal",
		Definition: cluster.Definition{Config: map[string]any{"port": "80"}}}}
}

func (t *T) SaveRequest(n cluster.NewRequest) cluster.Request {
	t.Helper()
	r, err := t.Store.SaveRequest(t.Ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func Financier(tenant, name string) app.Actor {
	return app.Actor{Tenant: tenant, User: name, Role: app.RoleUser, Groups: []string{"finance"}}
}

// Approval is a move with all that is needed to run what is approved.
func (t *T) Approval(r cluster.Request, who string) cluster.RequestMove {
	n := apptest.NewCluster(r.Tenant, r.Spec.Name, 2, t.Clock.Now(), apptest.Chain(2))
	return cluster.RequestMove{Tenant: r.Tenant, ID: r.ID, Act: cluster.RequestApprove, Who: Financier(r.Tenant, who), Now: t.Clock.Now(),
		PlanHash: r.Terms.PlanHash, Cluster: &n}
}
