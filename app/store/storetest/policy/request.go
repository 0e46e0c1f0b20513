package policy

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/policy"
)

func (t *storeTest) requests() {
	n := t.Waiting("t", "web")
	r := t.SaveRequest(n)
	if r.ID == 0 {
		t.Fatal("it has no number")
	}
	got, err := t.Store.Request(t.Ctx, "t", r.ID)
	if err != nil || got.Status != cluster.RequestWaiting || !got.RequestedAt.Equal(r.RequestedAt) || got.Facts.Nodes != 2 || got.Decision.Said[0].Text != "dear" ||
		got.Terms.Layout.Size() != 2 || got.Approvals[0].Group != "finance" || got.Groups[0] != "dev" || !got.ExpiresAt.Equal(r.ExpiresAt) || got.Spec.Name != "web" {
		t.Fatalf("read again: %+v, %v", got, err)
	}
	if _, err := t.Store.Request(t.Ctx, "other", r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant reads it: %v", err)
	}
	if _, err := t.Store.RequestPayload(t.Ctx, "other", r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant reads what was kept: %v", err)
	}
	if k, err := t.Store.RequestPayload(t.Ctx, "t", r.ID); err != nil || k.Definition.Config["port"] != "80" || k.Lease != time.Hour {
		t.Errorf("what was kept: %+v, %v", k, err)
	}
	if _, err := t.Store.SaveRequest(t.Ctx, t.Waiting("t", "web")); app.CodeOf(err) != app.EConflict {
		t.Errorf("the name is asked for twice: %v", err)
	}
	other := t.Approval(r, "bob")
	other.Tenant, other.Who.Tenant = "other", "other"
	if _, err := t.Store.MoveRequest(t.Ctx, other); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant approves: %v", err)
	}

	if r, err = t.Store.MoveRequest(t.Ctx, t.Approval(r, "bob")); err != nil || r.Status != cluster.RequestWaiting || !slices.Equal(r.Approvals[0].Approved,
		[]string{"bob"}) {
		t.Fatalf("one approval: %+v, %v", r, err)
	}
	if _, err := t.Store.MoveRequest(t.Ctx, t.Approval(r, "bob")); app.AsError(err).Reason != "reviewed" {
		t.Errorf("bob counts twice: %v", err)
	}
	unready := t.Approval(r, "cy")
	unready.Cluster = nil
	if _, err := t.Store.MoveRequest(t.Ctx, unready); !errors.Is(err, cluster.ErrNotReady) {
		t.Errorf("nothing was made ready, and it says %v", err)
	}
	// What cannot be made leaves no approval behind.
	taken := apptest.NewCluster("t", "web", 1, t.Clock.Now(), apptest.Chain(1))
	taken.Cluster.ID = "web-0"
	taken.Operation.Operation.Cluster, taken.Nodes[0].Node.Cluster = "web-0", "web-0"
	if _, err := t.Store.CreateCluster(t.Ctx, taken); err != nil {
		t.Fatal(err)
	}
	if _, err := t.Store.MoveRequest(t.Ctx, t.Approval(r, "cy")); app.CodeOf(err) != app.EConflict {
		t.Errorf("the name is taken, and it says %v", err)
	}
	if got, err := t.Store.Request(t.Ctx, "t", r.ID); err != nil || len(got.Reviews) != 1 || got.Status != cluster.RequestWaiting {
		t.Errorf("after that: %+v, %v", got, err)
	}
	second := t.SaveRequest(t.Waiting("t", "shop"))
	for _, who := range []string{"bob", "cy"} {
		if second, err = t.Store.MoveRequest(t.Ctx, t.Approval(second, who)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := t.Store.Request(t.Ctx, "t", second.ID); err != nil || got.Status != cluster.RequestAccepted || got.Cluster != "shop-1" || len(got.Reviews) != 2 || got.EndedAt.IsZero() || !got.DueAt.IsZero() {
		t.Errorf("run: %+v, %v", got, err)
	}
	if v, err := t.Store.View(t.Ctx, "t", "shop-1"); err != nil || len(v.Nodes) != 2 || len(v.Operations) != 1 {
		t.Errorf("made: %+v, %v", v, err)
	}
	if _, err := t.Store.RequestPayload(t.Ctx, "t", second.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("what was kept is still there: %v", err)
	}
}

func (t *storeTest) reviews() {
	const requests, people = 6, 5
	var all []cluster.Request
	for i := range requests {
		all = append(all, t.SaveRequest(t.Waiting("t", fmt.Sprintf("web%d", i))))
	}
	var wg sync.WaitGroup
	for p := range people {
		wg.Go(func() {
			for i := range all {
				r := all[(i+p)%requests]
				_, err := t.Store.MoveRequest(t.Ctx, t.Approval(r, fmt.Sprintf("p%d", p)))
				if err != nil && app.CodeOf(err) != app.EConflict {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, r := range all {
		got, err := t.Store.Request(t.Ctx, "t", r.ID)
		if err != nil || got.Status != cluster.RequestAccepted || len(got.Reviews) != 2 || got.Reviews[0].Reviewer == got.Reviews[1].Reviewer {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if made, err := t.Store.Clusters(t.Ctx, "t", app.ClusterFilter{}); err != nil || len(made) != requests {
		t.Errorf("%d clusters, %v", len(made), err)
	}
}

func (t *storeTest) requestLists() {
	for i := range 5 {
		n := t.Waiting("t", fmt.Sprintf("web%d", i))
		if i%2 == 1 {
			n.Request.Status, n.Request.Requester, n.Kept, n.Request.DueAt = cluster.RequestRefused, "eve", nil, time.Time{}
		}
		t.SaveRequest(n)
	}
	t.SaveRequest(t.Waiting("other", "web"))
	names := func(list []cluster.Request, err error) (all []string) {
		if err != nil {
			t.Error(err)
		}
		for _, r := range list {
			all = append(all, r.Spec.Name)
		}
		return all
	}
	for _, c := range []struct {
		f    cluster.RequestFilter
		want []string
	}{
		{cluster.RequestFilter{}, []string{"web4", "web3", "web2", "web1", "web0"}},
		{cluster.RequestFilter{Limit: 2}, []string{"web4", "web3"}},
		{cluster.RequestFilter{Requester: "eve"}, []string{"web3", "web1"}},
		{cluster.RequestFilter{Status: cluster.RequestWaiting}, []string{"web4", "web2", "web0"}},
		{cluster.RequestFilter{Status: cluster.RequestDenied}, nil},
		{cluster.RequestFilter{Open: true, Limit: 2}, []string{"web4", "web2"}},
		{cluster.RequestFilter{Open: true, Requester: "eve"}, nil},
	} {
		if got := names(t.Store.Requests(t.Ctx, "t", c.f)); !slices.Equal(got, c.want) {
			t.Errorf("%+v returns %v, want %v", c.f, got, c.want)
		}
	}
	if got := names(t.Store.OpenRequests(t.Ctx, "t", 10)); !slices.Equal(got, []string{"web0", "web2", "web4"}) {
		t.Errorf("open: %v", got)
	}
	if past, err := t.Store.PastFacts(t.Ctx, "t", 3); err != nil || len(past) != 3 || past[0].Facts.Nodes != 2 || past[0].ID < past[1].ID {
		t.Errorf("past: %+v, %v", past, err)
	}
	if due, err := t.Store.RequestsDue(t.Ctx, t.Clock.Now(), 10); err != nil || len(due) != 0 {
		t.Errorf("due at once: %d, %v", len(due), err)
	}
	t.Clock.Move(time.Hour)
	due, err := t.Store.RequestsDue(t.Ctx, t.Clock.Now(), 10)
	if err != nil || len(due) != 4 {
		t.Fatalf("due after an hour: %d, %v", len(due), err)
	}
	tend := func(r cluster.Request) cluster.Request {
		r, err := t.Store.MoveRequest(t.Ctx, cluster.RequestMove{Tenant: r.Tenant, ID: r.ID, Act: cluster.RequestReconcile, Now: t.Clock.Now(),
			Who: app.Actor{Tenant: r.Tenant, User: "muster"}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for range 2 {
		if r := tend(due[0]); r.Approvals[0].RemindedAt.IsZero() || r.Status != cluster.RequestWaiting {
			t.Errorf("reminded: %+v", r)
		}
	}
	t.Clock.Move(2 * time.Hour)
	if r := tend(due[0]); r.Status != cluster.RequestExpired {
		t.Errorf("expired: %+v", r)
	}
	notices, err := t.Store.Notices(t.Ctx, due[0].Tenant, 0, 100)
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
	save := func(p policy.Policy) (policy.Policy, error) {
		return t.Store.SavePolicy(t.Ctx, p, admin, t.Clock.Now())
	}
	p := policy.Policy{Name: "b", Order: 10, Enabled: true, When: "true", Effect: policy.EffectApprove, Approval: &policy.Approval{Count: 2, Group: "finance", High: true}}
	one, err := save(p)
	if err != nil || one.Version != 1 {
		t.Fatalf("%+v, %v", one, err)
	}
	if _, err := save(policy.Policy{Name: "a", Order: 10, When: "true", Effect: policy.EffectAllow}); err != nil {
		t.Fatal(err)
	}
	if _, err := save(policy.Policy{Name: "c", Order: 5, When: "true", Effect: policy.EffectAllow}); err != nil {
		t.Fatal(err)
	}
	one.When = "false"
	if two, err := save(one); err != nil || two.Version != 2 {
		t.Errorf("%+v, %v", two, err)
	}
	if _, err := save(one); app.AsError(err).Reason != "version" {
		t.Errorf("an old version is saved: %v", err)
	}
	list, err := t.Store.Policies(t.Ctx, "t")
	if err != nil || len(list) != 3 || list[0].Name != "c" || list[1].Name != "a" || list[2].Name != "b" || list[2].When != "false" || !list[2].Approval.High || list[2].SavedBy != "boss" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := t.Store.Policies(t.Ctx, "other"); err != nil || len(list) != 0 {
		t.Errorf("of another tenant: %+v, %v", list, err)
	}
	if err := t.Store.DeletePolicy(t.Ctx, "b", app.Actor{Tenant: "other", User: "eve"}, t.Clock.Now()); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant deletes it: %v", err)
	}
	if err := t.Store.DeletePolicy(t.Ctx, "b", admin, t.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	versions, err := t.Store.PolicyVersions(t.Ctx, "t", "b")
	if err != nil || len(versions) != 3 || !versions[0].Deleted || versions[2].When != "true" {
		t.Errorf("%+v, %v", versions, err)
	}
	if zone, err := t.Store.TimeZone(t.Ctx, "t"); err != nil || zone != "UTC" {
		t.Errorf("zone %q, %v", zone, err)
	}
	for _, zone := range []string{"Europe/Berlin", "Asia/Tokyo"} {
		if err := t.Store.SetTimeZone(t.Ctx, admin, zone, t.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		if got, err := t.Store.TimeZone(t.Ctx, "t"); err != nil || got != zone {
			t.Errorf("zone %q, %v", got, err)
		}
	}
}
