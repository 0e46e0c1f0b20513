package policy

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/lease"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/store"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// undoing plans deletes only.
type undoing struct{}

func (undoing) Plan(r plan.Request) (plan.Plan, error) { return apptest.Remove(len(r.Nodes)), nil }

// muster is the use cases on top of a server's store.
func (t *moneyTest) muster(s *store.Store) *appall.Services {
	return appall.New(appall.Config{Store: s, Planner: undoing{}, Now: t.Clock.Now, Catalog: template.NewCatalog})
}

// leased makes a cluster of ada with the rules of a template.
func (t *moneyTest) leased(name string, rules template.Lease, initial time.Duration) {
	t.Helper()
	n := apptest.NewCluster(kit.Tenant, name, 2, t.Clock.Now(), apptest.Chain(2))
	n.Definition.Lease = &rules
	if initial > 0 {
		n.Cluster.ExpiresAt = t.Clock.Now().Add(initial)
	}
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
}

func (t *moneyTest) extends() {
	a := t.muster(t.Store)
	const h = time.Hour
	t.leased("web", template.Lease{Initial: 8 * h, Max: 24 * h, Step: 4 * h}, 8*h)
	o, err := a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web", template.LeaseRequest{By: 4 * h})
	t.Must(err)
	if want := t.Clock.Now().Add(12 * h); !o.Until.Equal(want) || o.Offer.By != 4*h || fmt.Sprint(o.Offer.Latest) != fmt.Sprint(want.Add(4*h)) {
		t.Errorf("extended: %+v", o)
	}
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web", template.LeaseRequest{By: 5 * h})
	t.Code(err, app.EInvalid)
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web", template.LeaseRequest{By: 5 * h, Reason: "I want to"})
	t.Code(err, app.EInvalid)
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, app.Actor{Tenant: kit.Tenant, User: "eve", Role: app.RoleUser}, "web", template.LeaseRequest{By: h})
	t.Code(err, app.ENotFound)
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleViewer}, "web", template.LeaseRequest{By: h})
	t.Code(err, app.EForbidden)
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, app.Actor{Tenant: "other", User: "ada", Role: app.RoleAdmin}, "web-1", template.LeaseRequest{By: h})
	t.Code(err, app.ENotFound)
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Boss, "web", template.LeaseRequest{Forever: true})
	if e := app.AsError(err); e == nil || e.Field != "reason" {
		t.Fatalf("an admin needs a reason: %v", err)
	}
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Boss, "web", template.LeaseRequest{Forever: true, Reason: "the fair is longer"})
	t.Must(err)
	events, err := t.Store.Events(t.Ctx, kit.Tenant, "web-1", 0, 1000)
	t.Must(err)
	var notified []string
	for _, e := range events {
		if e.Kind == app.EventLease {
			notified = append(notified, e.Message)
		}
	}
	if got := strings.Join(notified, "|"); got != "ada extended the lease until 3 Jan 2026 00:00 UTC.|boss removed the lease end, beyond the template's limit: the fair is longer" {
		t.Errorf("the feed tells %s", got)
	}
	// What is reserved moves with it, and budgets have a say.
	list, err := t.Store.Reservations(t.Ctx, kit.Tenant)
	t.Must(err)
	if len(list) != 1 || !list[0].Until.IsZero() {
		t.Errorf("reserved: %+v", list)
	}
	t.limit(policy.QuotaTenant, "", policy.MeasurePerMonth, 2)
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web", template.LeaseRequest{Until: t.Clock.Now().Add(6 * h)})
	t.Must(err)                                                // nearer is always possible
	t.limit(policy.QuotaTenant, "", policy.MeasurePerMonth, 2) // 0.25 an hour
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web", template.LeaseRequest{By: 3 * h})
	t.refused(err, "This would take the tenant to $2.25 for January 2026, over the budget of $2.00", "a lease of at most 8 h")
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web", template.LeaseRequest{By: 2 * h})
	t.Must(err)
	// No one saves what is being deleted.
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1", Kind: app.OperationDelete,
		Requester: "ada", CreatedAt: t.Clock.Now()}, Plan: apptest.Remove(2), Cancel: true})
	t.Must(err)
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web", template.LeaseRequest{By: time.Minute})
	t.Code(err, app.EConflict)
	t.Drain()
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web-1", template.LeaseRequest{By: time.Minute})
	t.Code(err, app.EConflict)
}

// saved: a lease that has ended can be extended until its delete begins, and a delete that is late does not take what was
// just saved.
func (t *moneyTest) saved() {
	a := t.muster(t.Store)
	t.leased("web", template.Lease{}, time.Hour)
	t.Drain()
	t.Clock.Move(2 * time.Hour)
	late := t.Clock.Now()
	_, err := a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web", template.LeaseRequest{By: time.Hour})
	t.Must(err)
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{LeaseOver: true, Plan: apptest.Remove(2), Cancel: true,
		Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1",
			Kind: app.OperationDelete, Requester: "lease", CreatedAt: late}})
	t.Code(err, app.EConflict)
	n, err := a.Upkeep.Expire(t.Ctx)
	t.Must(err)
	if n != 0 {
		t.Error("a lease that continues was ended")
	}
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.Clock.Move(61 * time.Minute)
	n, err = a.Upkeep.Expire(t.Ctx)
	t.Must(err)
	if n != 1 {
		t.Error("a lease that is over was not ended")
	}
	t.Drain()
	t.Status("web-1", app.ClusterDeleted, app.OperationSucceeded)
	t.warned("The lease of web expires", 0)
	t.warned("The lease of web has expired.", 1)
}

// warned tells how often people were notified something of a lease.
func (t *moneyTest) warned(title string, want int) []app.Notice {
	t.Helper()
	all, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 1000)
	t.Must(err)
	var found []app.Notice
	for _, n := range all {
		if n.Kind == app.NoticeLease && strings.HasPrefix(n.Title, title) {
			found = append(found, n)
		}
	}
	if len(found) != want {
		t.Errorf("%q was said %d times, want %d: %+v", title, len(found), want, all)
	}
	return found
}

// warns: each warning comes once, whichever servers look and however often, and after a move of the end they come again.
func (t *moneyTest) warns() {
	const h = time.Hour
	t.leased("web", template.Lease{Initial: 8 * h, Max: 24 * h, Step: 4 * h}, 8*h)
	t.leased("long", template.Lease{}, 0)
	t.Drain()
	tend := func() {
		t.Helper()
		var all sync.WaitGroup
		for _, s := range t.Servers {
			for range 2 {
				all.Go(func() {
					if _, err := t.muster(s).Upkeep.Expire(t.Ctx); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
	}
	tend()
	t.Clock.Move(3*h + 59*time.Minute)
	tend()
	t.warned("The lease", 0)
	t.Clock.Move(time.Minute)
	tend()
	tend()
	n := t.warned("The lease of web expires in 4 h.", 1)
	if n[0].About != app.ClusterSubject("web-1") || n[0].ActionName != "Extend by 4 h" || n[0].Act.Kind != app.SubjectLeaseExtension ||
		n[0].Act.ID != "web-1" || !strings.HasPrefix(n[0].Act.Query, "end=") || fmt.Sprint(n[0].Users) != "[ada]" {
		t.Errorf("%+v", n[0])
	}
	// No one was there for the one of an hour before; one is enough then.
	t.Clock.Move(3*h + 50*time.Minute)
	tend()
	t.warned("The lease of web expires in 10 min.", 1)
	t.warned("The lease", 2)
	a := t.muster(t.Store)
	o, err := a.Lease.Leases.LeaseOutlook(t.Ctx, kit.Ada, "web")
	t.Must(err)
	if len(o.Warnings) != 3 || o.Warnings[0].SentAt.IsZero() || !o.Warnings[1].Skipped || o.Warnings[2].SentAt.IsZero() {
		t.Errorf("the outlook tells of warnings %+v", o.Warnings)
	}
	end, sig, _ := strings.Cut(strings.TrimPrefix(n[0].Act.Query, "end="), "&sig=")
	if _, moved, err := a.Lease.Leases.LeaseLink(t.Ctx, kit.Ada, "web-1", end, sig); err != nil || moved {
		t.Errorf("the link of the warning: moved %v (%v)", moved, err)
	}
	for _, bad := range [][2]string{{end, sig + "x"}, {end + "0", sig}, {end, ""}} {
		_, _, err := a.Lease.Leases.LeaseLink(t.Ctx, kit.Ada, "web-1", bad[0], bad[1])
		t.Code(err, app.EInvalid)
	}
	_, _, err = a.Lease.Leases.LeaseLink(t.Ctx, kit.Ada, "long-1", end, sig)
	t.Code(err, app.EInvalid)
	_, err = a.Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web", template.LeaseRequest{By: 4 * h})
	t.Must(err)
	if _, moved, err := a.Lease.Leases.LeaseLink(t.Ctx, kit.Ada, "web-1", end, sig); err != nil || !moved {
		t.Errorf("the link after the lease was moved: moved %v (%v)", moved, err)
	}
	tend()
	t.warned("The lease", 2)
	t.Clock.Move(3*h + 10*time.Minute) // an hour before, for the second time
	tend()
	t.warned("The lease of web expires in 1 h.", 1)
	t.Clock.Move(50 * time.Minute)
	tend()
	t.warned("The lease of web expires in 10 min.", 2)
	t.Clock.Move(time.Hour)
	tend()
	t.warned("The lease of web has expired.", 1)
	t.warned("The lease of long", 0)
}

// extendsAtOnce: many people press the button at the same time; each move is made from an end that they saw.
func (t *moneyTest) extendsAtOnce() {
	t.leased("web", template.Lease{}, time.Hour)
	began := t.Clock.Now().Add(time.Hour)
	var all sync.WaitGroup
	var moved atomic.Int64
	for i := range 20 {
		all.Go(func() {
			switch _, err := t.muster(t.Servers[i%len(t.Servers)]).Lease.Leases.ExtendLease(t.Ctx, kit.Ada, "web-1",
				template.LeaseRequest{By: time.Hour}); app.CodeOf(err) {
			case "":
				moved.Add(1)
			case app.EConflict:
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if got := c.ExpiresAt.Sub(began); moved.Load() == 0 || got != time.Duration(moved.Load())*time.Hour {
		t.Errorf("the lease is %s longer after %d moves by an hour", got, moved.Load())
	}
}

func (t *moneyTest) outlook() {
	a := t.muster(t.Store)
	t.leased("web", template.Lease{}, time.Hour)
	find := func(kind lease.ObstacleKind, words string, stops bool) {
		t.Helper()
		o, err := a.Lease.Leases.LeaseOutlook(t.Ctx, kit.Ada, "web")
		t.Must(err)
		for _, x := range o.Obstacles {
			if x.Kind == kind && strings.Contains(x.Text, words) && x.Stop == stops {
				return
			}
		}
		t.Errorf("no obstacle %s with %q: %+v", kind, words, o.Obstacles)
	}
	find(lease.ObstacleOperation, "Creation is running. When the lease expires, Muster stops it and then deletes the cluster.", false)
	find(lease.ObstacleProvider, `"cloud" is no longer in the catalog`, true)
	ops, err := t.Store.Operations(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	_, err = t.Store.ControlOperation(t.Ctx, app.Control{Tenant: kit.Tenant, Operation: ops[0].ID, Act: app.ControlPause, Who: "ada", Now: t.Clock.Now()})
	t.Must(err)
	find(lease.ObstacleOperation, "Creation is paused", false)
	held, err := t.Store.HoldAccount(t.Ctx, "cloud", "me", t.Clock.Now(), time.Minute)
	t.Must(err)
	if !held {
		t.Fatal("the account is not to be had")
	}
	t.Must(t.Store.EndPass(t.Ctx, "me", app.Account{Provider: "cloud", EndedAt: t.Clock.Now(), Error: "no route to host"}))
	find(lease.ObstacleAccount, "no route to host.", false)
	t.Clock.Move(2 * time.Hour)
	_, err = a.Upkeep.Expire(t.Ctx)
	t.Must(err)
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		t.FailStep(c, app.Retry{})
	}
	find(lease.ObstacleDeleteFailed, "Muster retries at least once an hour", false)
	o, err := a.Lease.Leases.LeaseOutlook(t.Ctx, kit.Ada, "web")
	t.Must(err)
	if !o.Expired || !o.Deleting || o.Offer.Refusal == "" {
		t.Errorf("%+v", o)
	}
	until, clock, known, err := t.Store.Leader(t.Ctx)
	t.Must(err)
	if known != (len(t.Servers) > 1) || known && (clock.IsZero() || clock.Sub(until) > 24*time.Hour && !until.IsZero()) {
		t.Errorf("the leader is known: %v, until %s at %s", known, until, clock)
	}
}
