package apptest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/policy"
)

// waiting is a request of ada's that waits for two of the group finance, with what is needed to run it.
func (t *storeTest) waiting(tenant, name string) app.NewRequest {
	plan := Chain(2)
	at := t.clock.Now()
	layout := app.Layout{Provider: "cloud", CostPerHour: 0.5, Groups: []app.NodeGroup{{Count: 2, Hardware: "small", Image: "host", Services: []string{"a", "b"}}}}
	asked := app.ClusterRequest{Name: name, LayoutRequest: app.LayoutRequest{Template: "web", Size: 2}}
	who := app.Actor{Tenant: tenant, User: "ada", Role: app.RoleUser, Groups: []string{"dev"}}
	r := app.Request{Tenant: tenant, Kind: app.OperationCreate, Requester: "ada", Owner: "ada", Groups: who.Groups, Via: app.ViaAPI, AskedAt: at,
		Status: app.RequestWaiting, Asked: asked, Facts: app.Facts{Tenant: tenant, User: "ada", Nodes: 2, Now: at, Services: []string{"a", "b"}},
		Decision:  app.Decision{Outcome: app.OutcomeApprove, Said: []app.Said{{Policy: "money", Version: 3, Effect: policy.PolicyApprove, Text: "dear"}}},
		Terms:     app.Terms{PlanHash: plan.Hash(), Layout: layout, Steps: plan.Acts(), Lease: time.Hour, Cost: 0.5, CPU: 4, Seal: "seal"},
		Needs:     []app.Need{{Policy: "money", Approval: app.Approval{Count: 2, Group: "finance", RemindAfter: time.Hour}}},
		ExpiresAt: at.Add(3 * time.Hour), DueAt: at.Add(time.Hour)}
	return app.NewRequest{Who: who, Request: r, Kept: &app.Kept{Request: asked, Layout: layout, Lease: time.Hour, PlanHash: plan.Hash(), DNSSuffix: "internal",
		Definition: app.Definition{Config: map[string]any{"port": "80"}}}}
}

func (t *storeTest) keepRequest(n app.NewRequest) app.Request {
	t.Helper()
	r, err := t.s.KeepRequest(t.ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func financier(tenant, name string) app.Actor {
	return app.Actor{Tenant: tenant, User: name, Role: app.RoleUser, Groups: []string{"finance"}}
}

// approval is a move with all that is needed to run what is approved.
func (t *storeTest) approval(r app.Request, who string) app.RequestMove {
	n := NewCluster(r.Tenant, r.Asked.Name, 2, t.clock.Now(), Chain(2))
	return app.RequestMove{Tenant: r.Tenant, ID: r.ID, Act: app.RequestApprove, Who: financier(r.Tenant, who), Now: t.clock.Now(), PlanHash: r.Terms.PlanHash, Cluster: &n}
}

func (t *storeTest) requests() {
	n := t.waiting("t", "web")
	r := t.keepRequest(n)
	if r.ID == 0 {
		t.Fatal("it has no number")
	}
	got, err := t.s.Request(t.ctx, "t", r.ID)
	if err != nil || got.Status != app.RequestWaiting || !got.AskedAt.Equal(r.AskedAt) || got.Facts.Nodes != 2 || got.Decision.Said[0].Text != "dear" ||
		got.Terms.Layout.Size() != 2 || got.Needs[0].Group != "finance" || got.Groups[0] != "dev" || !got.ExpiresAt.Equal(r.ExpiresAt) || got.Asked.Name != "web" {
		t.Fatalf("read again: %+v, %v", got, err)
	}
	if _, err := t.s.Request(t.ctx, "other", r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant reads it: %v", err)
	}
	if _, err := t.s.KeptRequest(t.ctx, "other", r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant reads what was kept: %v", err)
	}
	if k, err := t.s.KeptRequest(t.ctx, "t", r.ID); err != nil || k.Definition.Config["port"] != "80" || k.Lease != time.Hour {
		t.Errorf("what was kept: %+v, %v", k, err)
	}
	if _, err := t.s.KeepRequest(t.ctx, t.waiting("t", "web")); app.CodeOf(err) != app.EConflict {
		t.Errorf("the name is asked for twice: %v", err)
	}
	other := t.approval(r, "bob")
	other.Tenant, other.Who.Tenant = "other", "other"
	if _, err := t.s.MoveRequest(t.ctx, other); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant approves: %v", err)
	}

	if r, err = t.s.MoveRequest(t.ctx, t.approval(r, "bob")); err != nil || r.Status != app.RequestWaiting || !slices.Equal(r.Needs[0].Approved, []string{"bob"}) {
		t.Fatalf("one approval: %+v, %v", r, err)
	}
	if _, err := t.s.MoveRequest(t.ctx, t.approval(r, "bob")); app.AsError(err).Reason != "reviewed" {
		t.Errorf("bob counts twice: %v", err)
	}
	unready := t.approval(r, "cy")
	unready.Cluster = nil
	if _, err := t.s.MoveRequest(t.ctx, unready); !errors.Is(err, app.ErrNotReady) {
		t.Errorf("nothing was made ready, and it says %v", err)
	}
	// What cannot be made leaves no approval behind.
	taken := NewCluster("t", "web", 1, t.clock.Now(), Chain(1))
	taken.Cluster.ID = "web-0"
	taken.Operation.Operation.Cluster, taken.Nodes[0].Node.Cluster = "web-0", "web-0"
	if _, err := t.s.CreateCluster(t.ctx, taken); err != nil {
		t.Fatal(err)
	}
	if _, err := t.s.MoveRequest(t.ctx, t.approval(r, "cy")); app.CodeOf(err) != app.EConflict {
		t.Errorf("the name is taken, and it says %v", err)
	}
	if got, err := t.s.Request(t.ctx, "t", r.ID); err != nil || len(got.Reviews) != 1 || got.Status != app.RequestWaiting {
		t.Errorf("after that: %+v, %v", got, err)
	}
	second := t.keepRequest(t.waiting("t", "shop"))
	for _, who := range []string{"bob", "cy"} {
		if second, err = t.s.MoveRequest(t.ctx, t.approval(second, who)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := t.s.Request(t.ctx, "t", second.ID); err != nil || got.Status != app.RequestAccepted || got.Cluster != "shop-1" || len(got.Reviews) != 2 || got.EndedAt.IsZero() || !got.DueAt.IsZero() {
		t.Errorf("run: %+v, %v", got, err)
	}
	if v, err := t.s.View(t.ctx, "t", "shop-1"); err != nil || len(v.Nodes) != 2 || len(v.Operations) != 1 {
		t.Errorf("made: %+v, %v", v, err)
	}
	if _, err := t.s.KeptRequest(t.ctx, "t", second.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("what was kept is still there: %v", err)
	}
}

func (t *storeTest) reviews() {
	const requests, people = 6, 5
	var all []app.Request
	for i := range requests {
		all = append(all, t.keepRequest(t.waiting("t", fmt.Sprintf("web%d", i))))
	}
	var wg sync.WaitGroup
	for p := range people {
		wg.Go(func() {
			for i := range all {
				r := all[(i+p)%requests]
				_, err := t.s.MoveRequest(t.ctx, t.approval(r, fmt.Sprintf("p%d", p)))
				if err != nil && app.CodeOf(err) != app.EConflict {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, r := range all {
		got, err := t.s.Request(t.ctx, "t", r.ID)
		if err != nil || got.Status != app.RequestAccepted || len(got.Reviews) != 2 || got.Reviews[0].Who == got.Reviews[1].Who {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if made, err := t.s.Clusters(t.ctx, "t", app.ClusterFilter{}); err != nil || len(made) != requests {
		t.Errorf("%d clusters, %v", len(made), err)
	}
}

func (t *storeTest) requestLists() {
	for i := range 5 {
		n := t.waiting("t", fmt.Sprintf("web%d", i))
		if i%2 == 1 {
			n.Request.Status, n.Request.Requester, n.Kept, n.Request.DueAt = app.RequestRefused, "eve", nil, time.Time{}
		}
		t.keepRequest(n)
	}
	t.keepRequest(t.waiting("other", "web"))
	names := func(list []app.Request, err error) (all []string) {
		if err != nil {
			t.Error(err)
		}
		for _, r := range list {
			all = append(all, r.Asked.Name)
		}
		return all
	}
	for _, c := range []struct {
		f    app.RequestFilter
		want []string
	}{
		{app.RequestFilter{}, []string{"web4", "web3", "web2", "web1", "web0"}},
		{app.RequestFilter{Limit: 2}, []string{"web4", "web3"}},
		{app.RequestFilter{Requester: "eve"}, []string{"web3", "web1"}},
		{app.RequestFilter{Status: app.RequestWaiting}, []string{"web4", "web2", "web0"}},
		{app.RequestFilter{Status: app.RequestDenied}, nil},
		{app.RequestFilter{Open: true, Limit: 2}, []string{"web4", "web2"}},
		{app.RequestFilter{Open: true, Requester: "eve"}, nil},
	} {
		if got := names(t.s.Requests(t.ctx, "t", c.f)); !slices.Equal(got, c.want) {
			t.Errorf("%+v gives %v, want %v", c.f, got, c.want)
		}
	}
	if got := names(t.s.OpenRequests(t.ctx, "t", 10)); !slices.Equal(got, []string{"web0", "web2", "web4"}) {
		t.Errorf("open: %v", got)
	}
	if past, err := t.s.PastFacts(t.ctx, "t", 3); err != nil || len(past) != 3 || past[0].Facts.Nodes != 2 || past[0].ID < past[1].ID {
		t.Errorf("past: %+v, %v", past, err)
	}
	if due, err := t.s.RequestsDue(t.ctx, t.clock.Now(), 10); err != nil || len(due) != 0 {
		t.Errorf("due at once: %d, %v", len(due), err)
	}
	t.clock.Move(time.Hour)
	due, err := t.s.RequestsDue(t.ctx, t.clock.Now(), 10)
	if err != nil || len(due) != 4 {
		t.Fatalf("due after an hour: %d, %v", len(due), err)
	}
	tend := func(r app.Request) app.Request {
		r, err := t.s.MoveRequest(t.ctx, app.RequestMove{Tenant: r.Tenant, ID: r.ID, Act: app.RequestTend, Now: t.clock.Now(), Who: app.Actor{Tenant: r.Tenant, User: "muster"}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for range 2 {
		if r := tend(due[0]); r.Needs[0].RemindedAt.IsZero() || r.Status != app.RequestWaiting {
			t.Errorf("reminded: %+v", r)
		}
	}
	t.clock.Move(2 * time.Hour)
	if r := tend(due[0]); r.Status != app.RequestExpired {
		t.Errorf("expired: %+v", r)
	}
	notices, err := t.s.Notices(t.ctx, due[0].Tenant, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	of := 0
	for _, n := range notices {
		if n.Request == due[0].ID {
			of++
		}
	}
	if of != 3 { // it waits, it still waits, it has expired
		t.Errorf("%d notices: %+v", of, notices)
	}
}

func (t *storeTest) policies() {
	admin := app.Actor{Tenant: "t", User: "boss", Role: app.RoleAdmin}
	save := func(p policy.Policy) (policy.Policy, error) { return t.s.SavePolicy(t.ctx, p, admin, t.clock.Now()) }
	p := policy.Policy{Name: "b", Order: 10, Enabled: true, When: "true", Effect: policy.PolicyApprove, Approval: &app.Approval{Count: 2, Group: "finance", High: true}}
	one, err := save(p)
	if err != nil || one.Version != 1 {
		t.Fatalf("%+v, %v", one, err)
	}
	if _, err := save(policy.Policy{Name: "a", Order: 10, When: "true", Effect: policy.PolicyAllow}); err != nil {
		t.Fatal(err)
	}
	if _, err := save(policy.Policy{Name: "c", Order: 5, When: "true", Effect: policy.PolicyAllow}); err != nil {
		t.Fatal(err)
	}
	one.When = "false"
	if two, err := save(one); err != nil || two.Version != 2 {
		t.Errorf("%+v, %v", two, err)
	}
	if _, err := save(one); app.AsError(err).Reason != "version" {
		t.Errorf("an old version is saved: %v", err)
	}
	list, err := t.s.Policies(t.ctx, "t")
	if err != nil || len(list) != 3 || list[0].Name != "c" || list[1].Name != "a" || list[2].Name != "b" || list[2].When != "false" || !list[2].Approval.High || list[2].SavedBy != "boss" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := t.s.Policies(t.ctx, "other"); err != nil || len(list) != 0 {
		t.Errorf("of another tenant: %+v, %v", list, err)
	}
	if err := t.s.DeletePolicy(t.ctx, "b", app.Actor{Tenant: "other", User: "eve"}, t.clock.Now()); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant deletes it: %v", err)
	}
	if err := t.s.DeletePolicy(t.ctx, "b", admin, t.clock.Now()); err != nil {
		t.Fatal(err)
	}
	versions, err := t.s.PolicyVersions(t.ctx, "t", "b")
	if err != nil || len(versions) != 3 || !versions[0].Deleted || versions[2].When != "true" {
		t.Errorf("%+v, %v", versions, err)
	}
	if zone, err := t.s.TimeZone(t.ctx, "t"); err != nil || zone != "UTC" {
		t.Errorf("zone %q, %v", zone, err)
	}
	for _, zone := range []string{"Europe/Berlin", "Asia/Tokyo"} {
		if err := t.s.SetTimeZone(t.ctx, admin, zone, t.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if got, err := t.s.TimeZone(t.ctx, "t"); err != nil || got != zone {
			t.Errorf("zone %q, %v", got, err)
		}
	}
}
