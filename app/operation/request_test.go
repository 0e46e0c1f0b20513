package operation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/cluster"
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/store"
	"muster/app/template"
)

func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	if app.AsError(err).Reason != reason || err == nil {
		t.Fatalf("got %v, want the reason %q", err, reason)
	}
}

func TestRequestsWithoutPoliciesRunImmediately(t *testing.T) {
	b := harness.New(t)
	answer := b.Ask(b.Actor("ada", app.RoleUser), harness.Asks("web", 3, 0))
	r, err := b.Services.Operation.Requests.Request(t.Context(), b.Actor("ada", app.RoleUser), answer.Request.ID)
	if err != nil || answer.Cluster == nil || r.Status != cluster.RequestAccepted || r.Cluster != answer.Cluster.ID || r.Facts.Nodes != 3 || r.Facts.CPU != 6 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Spec.Config != nil {
		t.Error("the request shows the configuration, which may hold secrets")
	}
	if _, err := b.Services.Operation.Requests.Request(t.Context(), b.Actor("vic", app.RoleViewer), answer.Request.ID); app.CodeOf(err) != app.ENotFound {
		t.Error("the request for another user's private cluster:", err)
	}
	other := b.Actor("eve", app.RoleAdmin)
	other.Tenant = "other"
	if _, err := b.Services.Operation.Requests.Request(t.Context(), other, r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant sees it: %v", err)
	}
}

func TestRefusalsAreStoredWithTheirReason(t *testing.T) {
	b := harness.New(t)
	b.Rules(policy.Policy{Name: "small", Order: 1, Enabled: true, When: "nodes > 10", Effect: policy.EffectRefuse, Reason: "At most 10 nodes; you asked for ${nodes}."})
	ada := b.Actor("ada", app.RoleUser)
	p, err := b.Services.Cluster.Creates.Preview(t.Context(), ada, harness.Asks("web", 12, 0))
	if err != nil || p.Decision == nil || p.Decision.Outcome != policy.OutcomeRefuse || p.Decision.Reason != "At most 10 nodes; you asked for 12." {
		t.Fatalf("the preview says %+v, %v", p.Decision, err)
	}
	_, err = b.Services.Cluster.Creates.Ask(t.Context(), ada, harness.Asks("web", 12, 0))
	wantReason(t, err, "policy")
	if app.AsError(err).Message != "At most 10 nodes; you asked for 12." || app.CodeOf(err) != app.EForbidden {
		t.Errorf("it says %v", err)
	}
	list, err := b.Services.Operation.Requests.Requests(t.Context(), ada, cluster.RequestFilter{View: cluster.RequestsMine})
	if err != nil || len(list) != 1 || list[0].Status != cluster.RequestRefused || list[0].Message != "At most 10 nodes; you asked for 12." || b.Clusters() != 0 {
		t.Errorf("kept: %+v, %v", list, err)
	}
}

func TestCappedLeasesStateTheReason(t *testing.T) {
	b := harness.New(t)
	b.Rules(policy.Policy{Name: "short", Order: 1, Enabled: true, When: `!("ops" in groups)`, Effect: policy.EffectRewrite, LeaseCap: `duration("4h")`, Reason: "Only ops keep things longer."})
	ada := b.Actor("ada", app.RoleUser)
	p, err := b.Services.Cluster.Creates.Preview(t.Context(), ada, harness.Asks("web", 2, 0))
	if err != nil || p.Lease != 4*time.Hour || p.Cost != 4 || p.Decision == nil || len(p.Decision.Changes) != 1 {
		t.Fatalf("the preview has a lease of %s for %v: %+v, %v", p.Lease, p.Cost, p.Decision, err)
	}
	r := harness.Asks("web", 2, 0)
	r.PlanHash = p.PlanHash
	answer := b.Ask(ada, r)
	change := answer.Request.Decision.Changes
	if answer.Cluster == nil || !answer.Cluster.ExpiresAt.Equal(b.Clock.Now().Add(4*time.Hour)) || len(change) != 1 ||
		change[0].Reason != "Only ops keep things longer." || change[0].From != time.Duration(0) {
		t.Errorf("%+v of %+v", change, answer.Cluster)
	}
	if answer := b.Ask(b.Actor("bob", app.RoleUser, "ops"), harness.Asks("web2", 2, 0)); !answer.Cluster.ExpiresAt.IsZero() {
		t.Errorf("ops are capped, too")
	}
}

func TestApprovedRequestsRunExactlyWhatWasShown(t *testing.T) {
	b := harness.New(t)
	b.Rules(harness.FourEyes)
	ada, bob, cy := b.Actor("ada", app.RoleUser, "dev"), b.Actor("bob", app.RoleUser, "finance"), b.Actor("cy", app.RoleApprover, "finance")
	r := b.Wait(ada, "web", 4)
	if b.Clusters() != 0 || b.Number(`SELECT count(*) FROM operations`)+b.Number(`SELECT count(*) FROM intents`) != 0 {
		t.Fatal("what waits is in the ledger")
	}
	if b.Number(`SELECT nodes FROM reservations WHERE request = ? AND ended_at = 0`, r.ID) != 4 {
		t.Error("it reserves nothing")
	}
	if inbox, err := b.Services.Operation.Requests.Requests(t.Context(), bob, cluster.RequestFilter{View: cluster.RequestsInbox}); err != nil || len(inbox) != 1 {
		t.Errorf("bob's inbox has %d, %v", len(inbox), err)
	}
	if inbox, err := b.Services.Operation.Requests.Requests(t.Context(), ada, cluster.RequestFilter{View: cluster.RequestsInbox}); err != nil || len(inbox) != 0 {
		t.Errorf("ada's inbox has %d, %v", len(inbox), err)
	}
	r, err := b.Approve(bob, r)
	if err != nil || r.Status != cluster.RequestWaiting || !slices.Equal(r.Approvals[0].Approved, []string{"bob"}) {
		t.Fatalf("after one: %+v, %v", r, err)
	}
	_, err = b.Approve(bob, r)
	wantReason(t, err, "reviewed")
	// The catalog changes meanwhile: dearer machines, another script. What was approved is what runs.
	b.Catalog.Hardware["small"] = &template.HardwareType{About: template.About{Name: "small"}, Providers: map[string]template.Flavor{"cloud": {Flavor: "xxl", CostPerHour: 99}}}
	b.Clock.Move(time.Hour)
	r, err = b.Approve(cy, r)
	if err != nil || r.Status != cluster.RequestAccepted || r.Cluster == "" {
		t.Fatalf("after two: %+v, %v", r, err)
	}
	v, err := b.Services.Cluster.Views.Cluster(t.Context(), ada, r.Cluster)
	if err != nil || v.Owner != "ada" || v.Size != 4 || v.CostPerHour != 2 || v.Operations[0].PlanHash != r.Terms.PlanHash || !v.ExpiresAt.Equal(b.Clock.Now().Add(8*time.Hour)) {
		t.Errorf("made: %+v, %v", v, err)
	}
	d, err := b.Store.Definition(t.Context(), app.DefaultTenant, r.Cluster)
	if err != nil || d.Hardware["small"].Flavor != "s" || d.Config["deep"].(map[string]any)["n"] != 7.0 {
		t.Errorf("its definition: %+v, %v", d, err)
	}
	if b.Number(`SELECT count(*) FROM reservations WHERE ended_at = 0`) != 1 || b.Number(`SELECT nodes FROM reservations WHERE cluster = ?`, r.Cluster) != 4 {
		t.Error("the reservation did not become the cluster's")
	}
	if _, err := b.Store.RequestPayload(t.Context(), app.DefaultTenant, r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("what was kept is still there: %v", err)
	}
	titles := strings.Join(b.Titles(), "; ")
	for _, want := range []string{"Approval required", "Partly approved", "Approved for web"} {
		if !strings.Contains(titles, want) {
			t.Errorf("no one is notified of %q: %s", want, titles)
		}
	}
	if b.Number(`SELECT count(*) FROM audit WHERE act IN ('request.wait', 'request.approve')`) != 3 {
		t.Error("the audit lacks something")
	}
}

// changedKept changes kept requests as an attacker who has the keys could.
type changedKept struct {
	*store.Store
	old, new string
}

func (c changedKept) RequestPayload(ctx context.Context, tenant string, id int64) (k cluster.RequestPayload, err error) {
	was, err := c.Store.RequestPayload(ctx, tenant, id)
	if err != nil {
		return k, err
	}
	text, err := json.Marshal(was)
	if err != nil {
		return k, err
	}
	return k, json.Unmarshal([]byte(strings.ReplaceAll(string(text), c.old, c.new)), &k)
}

func TestOnlyTheStoredRequestRuns(t *testing.T) {
	keeps := func(old, with string) func(*harness.Harness, int64) {
		return func(b *harness.Harness, _ int64) {
			b.Services.Operation.Requests.Store = changedKept{b.Store, old, with}
		}
	}
	for name, change := range map[string]func(b *harness.Harness, id int64){
		"another service":          keeps(`"install"`, `"configure"`),
		"dearer machines":          keeps(`"flavor":"s"`, `"flavor":"xxl"`),
		"a longer lease":           keeps(`"lease":28800000000000`, `"lease":99800000000000`),
		"a provider that has left": func(b *harness.Harness, _ int64) { delete(b.Catalog.Providers, "cloud") },
	} {
		t.Run(name, func(t *testing.T) {
			b := harness.New(t)
			one := harness.FourEyes
			one.Approval = &policy.Approval{Count: 1, Group: "finance"}
			b.Rules(one)
			r := b.Wait(b.Actor("ada", app.RoleUser), "web", 4)
			change(b, r.ID)
			_, err := b.Approve(b.Actor("bob", app.RoleUser, "finance"), r)
			wantReason(t, err, "plan_changed")
			if after, err := b.Services.Operation.Requests.Request(t.Context(), harness.Root, r.ID); err != nil || after.Status != cluster.RequestWaiting || len(after.Reviews) != 0 || b.Clusters() != 0 {
				t.Errorf("afterwards: %+v, %v", after, err)
			}
		})
	}
}

// A failure in the middle of an approval leaves all as it was: request, review, reservation, notices and cluster are one
// transaction.
func TestAnApprovalAndItsClusterAreOneTransaction(t *testing.T) {
	b := harness.New(t)
	one := harness.FourEyes
	one.Approval = &policy.Approval{Count: 1, Group: "finance"}
	b.Rules(one)
	r := b.Wait(b.Actor("ada", app.RoleUser), "web", 4)
	before := b.Number(`SELECT count(*) FROM notifications`) + b.Number(`SELECT count(*) FROM audit`)
	b.SQL(`CREATE TRIGGER power_cut BEFORE INSERT ON reviews BEGIN SELECT RAISE(ABORT, 'the power went'); END`)
	if _, err := b.Approve(b.Actor("bob", app.RoleUser, "finance"), r); err == nil {
		t.Fatal("it went through")
	}
	for _, table := range []string{"clusters", "operations", "steps", "intents", "nodes", "reviews"} {
		if n := b.Number(`SELECT count(*) FROM ` + table); n != 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
	if after := b.Number(`SELECT count(*) FROM notifications`) + b.Number(`SELECT count(*) FROM audit`); after != before {
		t.Errorf("%d notices and audit entries more", after-before)
	}
	b.SQL(`DROP TRIGGER power_cut`)
	if r, err := b.Approve(b.Actor("bob", app.RoleUser, "finance"), r); err != nil || r.Status != cluster.RequestAccepted || b.Clusters() != 1 {
		t.Errorf("after the power is back: %+v, %v", r, err)
	}
}

func TestNothingIsCreatedForDeletedUsers(t *testing.T) {
	b := harness.New(t)
	one := harness.FourEyes
	one.Approval = &policy.Approval{Count: 1, Group: "finance"}
	b.Rules(one)
	r := b.Wait(b.Actor("ada", app.RoleUser), "web", 4)
	b.SQL(`DELETE FROM users WHERE name = 'ada'`)
	_, err := b.Approve(b.Actor("bob", app.RoleUser, "finance"), r)
	wantReason(t, err, "requester_gone")
	if _, err := b.Services.Operation.Requests.Review(t.Context(), b.Actor("bob", app.RoleUser, "finance"), r.ID, operation.ReviewRequest{Verdict: cluster.VerdictDeny, Reason: "she has left"}); err != nil {
		t.Error(err)
	}
}

func TestConditionsAreOfferedAndConfirmed(t *testing.T) {
	b := harness.New(t)
	b.Rules(harness.FourEyes, policy.Policy{Name: "least", Order: 1, Enabled: true, When: "nodes < 2", Effect: policy.EffectRefuse, Reason: "At least two."})
	ada, bob, cy := b.Actor("ada", app.RoleUser), b.Actor("bob", app.RoleUser, "finance"), b.Actor("cy", app.RoleUser, "finance")
	r := b.Wait(ada, "web", 8)
	offer := func(c operation.Conditions) (cluster.Request, error) {
		return b.Services.Operation.Requests.Review(t.Context(), bob, r.ID, operation.ReviewRequest{Verdict: cluster.VerdictConditions, PlanHash: r.Terms.PlanHash, Reason: "less will do", Conditions: c})
	}
	for name, c := range map[string]operation.Conditions{"none": {}, "more nodes": {Size: 9}, "a longer lease": {Lease: 9 * time.Hour}, "as it is": {Size: 8}, "less than nothing": {Size: -1}} {
		if _, err := offer(c); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := offer(operation.Conditions{Size: 1}); app.AsError(err).Reason != "policy" {
		t.Errorf("an offer that policies refuse: %v", err)
	}
	if _, err := offer(operation.Conditions{Size: 51}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("more than there may be: %v", err)
	}
	offered, err := offer(operation.Conditions{Size: 5, Lease: 2 * time.Hour})
	if err != nil || offered.Status != cluster.RequestOffered || offered.Offer.Layout.Size() != 5 || offered.Offer.Cost != 5 || offered.Offer.PlanHash == r.Terms.PlanHash {
		t.Fatalf("offered: %+v, %v", offered, err)
	}
	if inbox, _ := b.Services.Operation.Requests.Requests(t.Context(), ada, cluster.RequestFilter{View: cluster.RequestsInbox}); len(inbox) != 1 {
		t.Error("the offer is not in ada's inbox")
	}
	_, err = b.Services.Operation.Requests.Confirm(t.Context(), ada, r.ID, r.Terms.PlanHash)
	wantReason(t, err, "plan_changed")
	_, err = b.Services.Operation.Requests.Confirm(t.Context(), bob, r.ID, offered.Offer.PlanHash)
	wantReason(t, err, "not_requester")
	confirmed, err := b.Services.Operation.Requests.Confirm(t.Context(), ada, r.ID, offered.Offer.PlanHash)
	if err != nil || confirmed.Status != cluster.RequestWaiting || confirmed.Terms.Layout.Size() != 5 || !slices.Equal(confirmed.Approvals[0].Approved, []string{"bob"}) {
		t.Fatalf("confirmed: %+v, %v", confirmed, err)
	}
	if b.Number(`SELECT nodes FROM reservations WHERE request = ?`, r.ID) != 5 {
		t.Error("it still reserves as much as before")
	}
	_, err = b.Approve(cy, r)
	wantReason(t, err, "plan_changed")
	done, err := b.Approve(cy, confirmed)
	if err != nil || done.Status != cluster.RequestAccepted {
		t.Fatalf("approved: %+v, %v", done, err)
	}
	v, err := b.Services.Cluster.Views.Cluster(t.Context(), ada, done.Cluster)
	if err != nil || v.Size != 5 || !v.ExpiresAt.Equal(b.Clock.Now().Add(2*time.Hour)) {
		t.Errorf("made: %+v, %v", v, err)
	}
}

func TestBreakingTheGlassRunsAtOnceAndRaisesAnAlarm(t *testing.T) {
	b := harness.New(t)
	b.Rules(harness.FourEyes)
	r := b.Wait(b.Actor("ada", app.RoleUser), "web", 4)
	boss := b.Actor("boss", app.RoleAdmin)
	stale := boss
	stale.ProvenAt = time.Time{}
	_, err := b.Services.Operation.Requests.BreakGlass(t.Context(), stale, r.ID, r.Terms.PlanHash, "the shop is down")
	wantReason(t, err, app.StepUpReason)
	done, err := b.Services.Operation.Requests.BreakGlass(t.Context(), boss, r.ID, r.Terms.PlanHash, "the shop is down")
	if err != nil || done.Status != cluster.RequestAccepted || !done.Override || b.Clusters() != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if b.Number(`SELECT count(*) FROM notifications WHERE kind = 'alarm' AND request = ? AND cluster = ?`, r.ID, done.Cluster) != 1 ||
		b.Number(`SELECT count(*) FROM audit WHERE act = 'request.break_glass' AND detail LIKE '%the shop is down%'`) != 1 {
		t.Error("no alarm, or no trace in the audit")
	}
}

func TestUndecidedRequestsExpire(t *testing.T) {
	b := harness.New(t)
	p := harness.FourEyes
	p.Approval = &policy.Approval{Count: 1, Group: "finance", RemindAfter: time.Hour, EscalateAfter: 2 * time.Hour, EscalateTo: "heads", ExpireAfter: 3 * time.Hour}
	b.Rules(p)
	r := b.Wait(b.Actor("ada", app.RoleUser), "web", 4)
	for i, want := range []string{"Approval required", "Still waiting", "Escalated", "Expired"} {
		if i > 0 {
			b.Clock.Move(time.Hour)
		}
		for range 2 { // twice without harm
			if _, err := b.Services.Upkeep.Expire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if titles := b.Titles(); len(titles) != i+1 || !strings.HasPrefix(titles[i], want) {
			t.Fatalf("after %d hours people get the notices %q", i, titles)
		}
	}
	if r, err := b.Services.Operation.Requests.Request(t.Context(), harness.Root, r.ID); err != nil || r.Status != cluster.RequestExpired {
		t.Errorf("%+v, %v", r, err)
	}
	if b.Number(`SELECT count(*) FROM reservations WHERE ended_at = 0`) != 0 {
		t.Error("what has expired still reserves")
	}
	b.Wait(b.Actor("ada", app.RoleUser), "web", 4) // the name is free again
}

func TestNamesAreReservedByOpenRequests(t *testing.T) {
	b := harness.New(t)
	b.Rules(harness.FourEyes)
	r := b.Wait(b.Actor("ada", app.RoleUser), "web", 4)
	if _, err := b.Services.Cluster.Creates.Ask(t.Context(), b.Actor("bob", app.RoleUser), harness.Asks("web", 5, 0)); app.AsError(err).Field != "name" {
		t.Errorf("asked for twice: %v", err)
	}
	b.Ask(b.Actor("bob", app.RoleUser), harness.Asks("shop", 2, 0))
	if _, err := b.Services.Cluster.Creates.Ask(t.Context(), b.Actor("bob", app.RoleUser), harness.Asks("shop", 5, 0)); app.AsError(err).Field != "name" {
		t.Errorf("asked for although it is there: %v", err)
	}
	if _, err := b.Services.Operation.Requests.Withdraw(t.Context(), b.Actor("ada", app.RoleUser), r.ID, ""); err != nil {
		t.Fatal(err)
	}
	b.Wait(b.Actor("bob", app.RoleUser), "web", 4)
}

// Everyone reviews everything at the same time, again and again: each request runs once at most, and those that run have two
// approvals of different people, none of whom asked.
func TestParallelReviewsRunARequestOnce(t *testing.T) {
	b := harness.New(t)
	b.Rules(harness.FourEyes)
	const requests, people = 12, 6
	var all []cluster.Request
	for i := range requests {
		all = append(all, b.Wait(b.Actor(fmt.Sprintf("p%d", i%people), app.RoleUser, "finance"), fmt.Sprintf("web%d", i), 4))
	}
	var wg sync.WaitGroup
	for p := range people {
		for range 2 {
			wg.Go(func() {
				who := b.Actor(fmt.Sprintf("p%d", p), app.RoleUser, "finance")
				for i := range all {
					r := all[(i+p)%requests]
					var err error
					switch {
					case r.ID%5 == 0 && p == 1:
						_, err = b.Services.Operation.Requests.Review(t.Context(), who, r.ID, operation.ReviewRequest{Verdict: cluster.VerdictDeny, Reason: "too dear", PlanHash: r.Terms.PlanHash})
					default:
						_, err = b.Approve(who, r)
					}
					if err != nil && !errors.Is(err, cluster.ErrNotReady) && app.CodeOf(err) != app.EConflict && app.CodeOf(err) != app.EForbidden {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	ran := 0
	for _, r := range all {
		r, err := b.Services.Operation.Requests.Request(t.Context(), harness.Root, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		switch r.Status {
		case cluster.RequestAccepted:
			ran++
			approved := r.Approvals[0].Approved
			if len(approved) != 2 || approved[0] == approved[1] || slices.Contains(approved, r.Requester) {
				t.Errorf("request %d ran with %v", r.ID, approved)
			}
			if n := b.Number(`SELECT count(*) FROM clusters WHERE name = ?`, r.Spec.Name); n != 1 {
				t.Errorf("request %d made %d clusters", r.ID, n)
			}
		case cluster.RequestDenied:
			if n := b.Number(`SELECT count(*) FROM clusters WHERE name = ?`, r.Spec.Name); n != 0 {
				t.Errorf("request %d was denied and made %d clusters", r.ID, n)
			}
		default:
			t.Errorf("request %d is %s", r.ID, r.Status)
		}
	}
	if ran != b.Clusters() || ran < requests/2 {
		t.Errorf("%d ran, %d clusters", ran, b.Clusters())
	}
}
