package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/apptest"
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/policy/cel"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/planner"
	"muster/solver"
	"muster/solver/change"
)

type testKeys struct{}

func (testKeys) SignCertificate([]byte, app.CertificateOrder) (app.SignedCertificate, error) {
	return app.SignedCertificate{}, app.Errorf(app.EInternal, "no certificates here")
}

func (testKeys) NewKey(string) ([]byte, string, error) {
	return []byte("private"), "ssh-ed25519 AAAA test", nil
}

// bureau is an app with solver, planner and policies on a store on disk.
type bureau struct {
	testing.TB
	app     *appall.App
	store   *store.Store
	clock   *apptest.Clock
	catalog *app.Catalog
	file    string
}

func newBureau(t testing.TB) *bureau {
	t.Helper()
	b := &bureau{TB: t, clock: apptest.NewClock(), file: storetest.File(t)}
	s, err := store.Open(t.Context(), b.file, make([]byte, store.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := app.NewCatalog()
	c.Providers["cloud"] = &app.ProviderSpec{About: app.About{Name: "cloud"}, Type: "fake"}
	c.Hardware["small"] = &app.HardwareType{About: app.About{Name: "small"}, Providers: map[string]app.Flavor{"cloud": {Flavor: "s", CostPerHour: 0.5, CPU: 2}}}
	c.Images["linux"] = &app.ImageType{About: app.About{Name: "linux"}, Providers: map[string]app.Image{"cloud": {Image: "i", SSHUser: "ubuntu"}}}
	act := &app.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}}
	c.Services["web"] = &app.Service{About: app.About{Name: "web"}, Actions: map[app.Action]*app.ServiceAction{app.ActionInstall: act, app.ActionStart: act}}
	c.Templates["web"] = &app.Template{About: app.About{Name: "web"}, Constraints: app.Constraints{Size: app.SizeRange{Min: 1, Max: 50}},
		Defaults: app.TemplateDefaults{Provider: "cloud", Services: []string{"web"}, Config: map[string]any{"port": 8080, "peers": "%join(host.service.web,' ')%"}}}
	for _, name := range []string{"ada", "bob", "cy", "p0", "p1", "p2", "p3", "p4", "p5"} {
		if err := s.CreateUser(t.Context(), app.User{Tenant: app.DefaultTenant, Name: name, Role: app.RoleUser, CreatedAt: b.clock.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	b.store, b.catalog = s, c
	b.app = appall.New(appall.Deps{Store: s, Solver: solver.New(), Changer: change.New(), Planner: planner.New(), Keys: testKeys{}, Policies: cel.New(),
		Catalog: func() *app.Catalog { return b.catalog }, Now: b.clock.Now})
	return b
}

func (b *bureau) actor(name string, role app.Role, groups ...string) app.Actor {
	return app.Actor{Tenant: app.DefaultTenant, User: name, Role: role, Groups: groups, ProvenAt: b.clock.Now(), Via: app.ViaPortal}
}

func (b *bureau) rules(all ...policy.Policy) {
	b.Helper()
	for _, p := range all {
		p.Version = 0
		if _, err := b.app.SavePolicy(b.Context(), b.actor("root", app.RoleAdmin), p); err != nil {
			b.Fatal(err)
		}
	}
}

func asks(name string, size int, lease time.Duration) app.ClusterRequest {
	return app.ClusterRequest{Name: name, LayoutRequest: app.LayoutRequest{Template: "web", Size: size}, Lease: &lease, Config: map[string]any{"deep": map[string]any{"n": 7}}}
}

func (b *bureau) ask(who app.Actor, r app.ClusterRequest) app.Answer {
	b.Helper()
	answer, err := b.app.Ask(b.Context(), who, r)
	if err != nil {
		b.Fatal(err)
	}
	return answer
}

// wait asks for a cluster that has to wait.
func (b *bureau) wait(who app.Actor, name string, size int) app.Request {
	b.Helper()
	answer := b.ask(who, asks(name, size, 8*time.Hour))
	if answer.Cluster != nil || answer.Request.Status != app.RequestWaiting {
		b.Fatalf("it does not wait: %+v", answer.Request)
	}
	return answer.Request
}

func (b *bureau) approve(who app.Actor, r app.Request) (app.Request, error) {
	return b.app.Review(b.Context(), who, r.ID, operation.ReviewRequest{Verdict: app.VerdictApprove, PlanHash: r.Terms.PlanHash})
}

func (b *bureau) clusters() int {
	b.Helper()
	all, err := b.store.Clusters(b.Context(), app.DefaultTenant, app.ClusterFilter{Deleted: true})
	if err != nil {
		b.Fatal(err)
	}
	return len(all)
}

func (b *bureau) sql(query string, args ...any) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+b.file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		b.Fatal(err)
	}
}

// reads gives a number out of the database.
func (b *bureau) number(query string, args ...any) (n int) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+b.file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}

func (b *bureau) titles() (all []string) {
	b.Helper()
	notices, err := b.store.Notices(b.Context(), app.DefaultTenant, 0, 1000)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range notices {
		all = append(all, n.Title)
	}
	return all
}

func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	if app.AsError(err).Reason != reason || err == nil {
		t.Fatalf("gives %v, want the reason %q", err, reason)
	}
}

var fourEyes = policy.Policy{Name: "four-eyes", Order: 20, Enabled: true, When: "nodes > 3", Effect: policy.PolicyApprove, Reason: "${nodes} nodes are many.",
	Approval: &app.Approval{Count: 2, Group: "finance"}}

func TestWhatNoPolicyIsAboutIsMadeAtOnce(t *testing.T) {
	b := newBureau(t)
	answer := b.ask(b.actor("ada", app.RoleUser), asks("web", 3, 0))
	r, err := b.app.Request(t.Context(), b.actor("ada", app.RoleUser), answer.Request.ID)
	if err != nil || answer.Cluster == nil || r.Status != app.RequestAccepted || r.Cluster != answer.Cluster.ID || r.Facts.Nodes != 3 || r.Facts.CPU != 6 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Asked.Config != nil {
		t.Error("the request shows the configuration, which may hold secrets")
	}
	if _, err := b.app.Request(t.Context(), b.actor("vic", app.RoleViewer), answer.Request.ID); app.CodeOf(err) != app.ENotFound {
		t.Error("the request for another user's private cluster:", err)
	}
	other := b.actor("eve", app.RoleAdmin)
	other.Tenant = "other"
	if _, err := b.app.Request(t.Context(), other, r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant sees it: %v", err)
	}
}

func TestARefusalSaysWhyAndIsKept(t *testing.T) {
	b := newBureau(t)
	b.rules(policy.Policy{Name: "small", Order: 1, Enabled: true, When: "nodes > 10", Effect: policy.PolicyRefuse, Reason: "At most 10 nodes; you asked for ${nodes}."})
	ada := b.actor("ada", app.RoleUser)
	p, err := b.app.Preview(t.Context(), ada, asks("web", 12, 0))
	if err != nil || p.Decision == nil || p.Decision.Outcome != app.OutcomeRefuse || p.Decision.Reason != "At most 10 nodes; you asked for 12." {
		t.Fatalf("the preview says %+v, %v", p.Decision, err)
	}
	_, err = b.app.Ask(t.Context(), ada, asks("web", 12, 0))
	wantReason(t, err, "policy")
	if app.AsError(err).Message != "At most 10 nodes; you asked for 12." || app.CodeOf(err) != app.EForbidden {
		t.Errorf("it says %v", err)
	}
	list, err := b.app.Requests(t.Context(), ada, app.RequestFilter{View: app.RequestsMine})
	if err != nil || len(list) != 1 || list[0].Status != app.RequestRefused || list[0].Message != "At most 10 nodes; you asked for 12." || b.clusters() != 0 {
		t.Errorf("kept: %+v, %v", list, err)
	}
}

func TestALeaseThatIsCappedIsToldWithItsReason(t *testing.T) {
	b := newBureau(t)
	b.rules(policy.Policy{Name: "short", Order: 1, Enabled: true, When: `!("ops" in groups)`, Effect: policy.PolicyRewrite, LeaseCap: `duration("4h")`, Reason: "Only ops keep things longer."})
	ada := b.actor("ada", app.RoleUser)
	p, err := b.app.Preview(t.Context(), ada, asks("web", 2, 0))
	if err != nil || p.Lease != 4*time.Hour || p.Cost != 4 || p.Decision == nil || len(p.Decision.Changes) != 1 {
		t.Fatalf("the preview has a lease of %s for %v: %+v, %v", p.Lease, p.Cost, p.Decision, err)
	}
	r := asks("web", 2, 0)
	r.PlanHash = p.PlanHash
	answer := b.ask(ada, r)
	change := answer.Request.Decision.Changes
	if answer.Cluster == nil || !answer.Cluster.ExpiresAt.Equal(b.clock.Now().Add(4*time.Hour)) || len(change) != 1 || change[0].Reason != "Only ops keep things longer." || change[0].From != 0 {
		t.Errorf("%+v of %+v", change, answer.Cluster)
	}
	if answer := b.ask(b.actor("bob", app.RoleUser, "ops"), asks("web2", 2, 0)); !answer.Cluster.ExpiresAt.IsZero() {
		t.Errorf("ops are capped, too")
	}
}

func TestARequestWaitsAndThenRunsJustWhatWasShown(t *testing.T) {
	b := newBureau(t)
	b.rules(fourEyes)
	ada, bob, cy := b.actor("ada", app.RoleUser, "dev"), b.actor("bob", app.RoleUser, "finance"), b.actor("cy", app.RoleApprover, "finance")
	r := b.wait(ada, "web", 4)
	if b.clusters() != 0 || b.number(`SELECT count(*) FROM operations`)+b.number(`SELECT count(*) FROM intents`) != 0 {
		t.Fatal("what waits is in the ledger")
	}
	if b.number(`SELECT nodes FROM reservations WHERE request = ? AND ended_at = 0`, r.ID) != 4 {
		t.Error("it reserves nothing")
	}
	if inbox, err := b.app.Requests(t.Context(), bob, app.RequestFilter{View: app.RequestsInbox}); err != nil || len(inbox) != 1 {
		t.Errorf("bob's inbox has %d, %v", len(inbox), err)
	}
	if inbox, err := b.app.Requests(t.Context(), ada, app.RequestFilter{View: app.RequestsInbox}); err != nil || len(inbox) != 0 {
		t.Errorf("ada's inbox has %d, %v", len(inbox), err)
	}
	r, err := b.approve(bob, r)
	if err != nil || r.Status != app.RequestWaiting || !slices.Equal(r.Needs[0].Approved, []string{"bob"}) {
		t.Fatalf("after one: %+v, %v", r, err)
	}
	_, err = b.approve(bob, r)
	wantReason(t, err, "reviewed")
	// The catalog changes meanwhile: dearer machines, another script. What was approved is what runs.
	b.catalog.Hardware["small"] = &app.HardwareType{About: app.About{Name: "small"}, Providers: map[string]app.Flavor{"cloud": {Flavor: "xxl", CostPerHour: 99}}}
	b.clock.Move(time.Hour)
	r, err = b.approve(cy, r)
	if err != nil || r.Status != app.RequestAccepted || r.Cluster == "" {
		t.Fatalf("after two: %+v, %v", r, err)
	}
	v, err := b.app.Cluster(t.Context(), ada, r.Cluster)
	if err != nil || v.Owner != "ada" || v.Size != 4 || v.CostPerHour != 2 || v.Operations[0].PlanHash != r.Terms.PlanHash || !v.ExpiresAt.Equal(b.clock.Now().Add(8*time.Hour)) {
		t.Errorf("made: %+v, %v", v, err)
	}
	d, err := b.store.Definition(t.Context(), app.DefaultTenant, r.Cluster)
	if err != nil || d.Hardware["small"].Flavor != "s" || d.Config["deep"].(map[string]any)["n"] != 7.0 {
		t.Errorf("its definition: %+v, %v", d, err)
	}
	if b.number(`SELECT count(*) FROM reservations WHERE ended_at = 0`) != 1 || b.number(`SELECT nodes FROM reservations WHERE cluster = ?`, r.Cluster) != 4 {
		t.Error("the reservation did not become the cluster's")
	}
	if _, err := b.store.KeptRequest(t.Context(), app.DefaultTenant, r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("what was kept is still there: %v", err)
	}
	titles := strings.Join(b.titles(), "; ")
	for _, want := range []string{"A request waits for approval", "One approval more", "Approved: web"} {
		if !strings.Contains(titles, want) {
			t.Errorf("nobody is told %q: %s", want, titles)
		}
	}
	if b.number(`SELECT count(*) FROM audit WHERE act IN ('request.wait', 'request.approve')`) != 3 {
		t.Error("the audit lacks something")
	}
}

// changedKept changes kept requests as an attacker who has the keys could.
type changedKept struct {
	appall.Store
	old, new string
}

func (c changedKept) KeptRequest(ctx context.Context, tenant string, id int64) (k app.Kept, err error) {
	was, err := c.Store.KeptRequest(ctx, tenant, id)
	if err != nil {
		return k, err
	}
	text, err := json.Marshal(was)
	if err != nil {
		return k, err
	}
	return k, json.Unmarshal([]byte(strings.ReplaceAll(string(text), c.old, c.new)), &k)
}

func TestNothingRunsThatIsNotWhatWasKept(t *testing.T) {
	keeps := func(old, with string) func(*bureau, int64) {
		return func(b *bureau, _ int64) {
			deps := b.app.Given
			deps.Store = changedKept{deps.Store, old, with}
			b.app = appall.New(deps)
		}
	}
	for name, change := range map[string]func(b *bureau, id int64){
		"another service":          keeps(`"install"`, `"configure"`),
		"dearer machines":          keeps(`"flavor":"s"`, `"flavor":"xxl"`),
		"a longer lease":           keeps(`"lease":28800000000000`, `"lease":99800000000000`),
		"a provider that has left": func(b *bureau, _ int64) { delete(b.catalog.Providers, "cloud") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBureau(t)
			one := fourEyes
			one.Approval = &app.Approval{Count: 1, Group: "finance"}
			b.rules(one)
			r := b.wait(b.actor("ada", app.RoleUser), "web", 4)
			change(b, r.ID)
			_, err := b.approve(b.actor("bob", app.RoleUser, "finance"), r)
			wantReason(t, err, "plan_changed")
			if after, err := b.app.Request(t.Context(), root, r.ID); err != nil || after.Status != app.RequestWaiting || len(after.Reviews) != 0 || b.clusters() != 0 {
				t.Errorf("afterwards: %+v, %v", after, err)
			}
		})
	}
}

// A failure in the middle of an approval leaves all as it was: request, review, reservation, notices and cluster are one
// transaction.
func TestAnApprovalAndItsClusterAreOneTransaction(t *testing.T) {
	b := newBureau(t)
	one := fourEyes
	one.Approval = &app.Approval{Count: 1, Group: "finance"}
	b.rules(one)
	r := b.wait(b.actor("ada", app.RoleUser), "web", 4)
	before := b.number(`SELECT count(*) FROM notices`) + b.number(`SELECT count(*) FROM audit`)
	b.sql(`CREATE TRIGGER power_cut BEFORE INSERT ON reviews BEGIN SELECT RAISE(ABORT, 'the power went'); END`)
	if _, err := b.approve(b.actor("bob", app.RoleUser, "finance"), r); err == nil {
		t.Fatal("it went through")
	}
	for _, table := range []string{"clusters", "operations", "steps", "intents", "nodes", "reviews"} {
		if n := b.number(`SELECT count(*) FROM ` + table); n != 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
	if after := b.number(`SELECT count(*) FROM notices`) + b.number(`SELECT count(*) FROM audit`); after != before {
		t.Errorf("%d notices and deeds more", after-before)
	}
	b.sql(`DROP TRIGGER power_cut`)
	if r, err := b.approve(b.actor("bob", app.RoleUser, "finance"), r); err != nil || r.Status != app.RequestAccepted || b.clusters() != 1 {
		t.Errorf("after the power is back: %+v, %v", r, err)
	}
}

func TestNothingIsMadeForSomebodyWhoIsGone(t *testing.T) {
	b := newBureau(t)
	one := fourEyes
	one.Approval = &app.Approval{Count: 1, Group: "finance"}
	b.rules(one)
	r := b.wait(b.actor("ada", app.RoleUser), "web", 4)
	b.sql(`DELETE FROM users WHERE name = 'ada'`)
	_, err := b.approve(b.actor("bob", app.RoleUser, "finance"), r)
	wantReason(t, err, "requester_gone")
	if _, err := b.app.Review(t.Context(), b.actor("bob", app.RoleUser, "finance"), r.ID, operation.ReviewRequest{Verdict: app.VerdictDeny, Reason: "she has left"}); err != nil {
		t.Error(err)
	}
}

func TestConditionsAreOfferedAndConfirmed(t *testing.T) {
	b := newBureau(t)
	b.rules(fourEyes, policy.Policy{Name: "least", Order: 1, Enabled: true, When: "nodes < 2", Effect: policy.PolicyRefuse, Reason: "At least two."})
	ada, bob, cy := b.actor("ada", app.RoleUser), b.actor("bob", app.RoleUser, "finance"), b.actor("cy", app.RoleUser, "finance")
	r := b.wait(ada, "web", 8)
	offer := func(c operation.Conditions) (app.Request, error) {
		return b.app.Review(t.Context(), bob, r.ID, operation.ReviewRequest{Verdict: app.VerdictConditions, PlanHash: r.Terms.PlanHash, Reason: "less will do", Conditions: c})
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
	if err != nil || offered.Status != app.RequestOffered || offered.Offer.Layout.Size() != 5 || offered.Offer.Cost != 5 || offered.Offer.PlanHash == r.Terms.PlanHash {
		t.Fatalf("offered: %+v, %v", offered, err)
	}
	if inbox, _ := b.app.Requests(t.Context(), ada, app.RequestFilter{View: app.RequestsInbox}); len(inbox) != 1 {
		t.Error("the offer is not in ada's inbox")
	}
	_, err = b.app.Confirm(t.Context(), ada, r.ID, r.Terms.PlanHash)
	wantReason(t, err, "plan_changed")
	_, err = b.app.Confirm(t.Context(), bob, r.ID, offered.Offer.PlanHash)
	wantReason(t, err, "not_requester")
	confirmed, err := b.app.Confirm(t.Context(), ada, r.ID, offered.Offer.PlanHash)
	if err != nil || confirmed.Status != app.RequestWaiting || confirmed.Terms.Layout.Size() != 5 || !slices.Equal(confirmed.Needs[0].Approved, []string{"bob"}) {
		t.Fatalf("confirmed: %+v, %v", confirmed, err)
	}
	if b.number(`SELECT nodes FROM reservations WHERE request = ?`, r.ID) != 5 {
		t.Error("it still reserves as much as before")
	}
	_, err = b.approve(cy, r)
	wantReason(t, err, "plan_changed")
	done, err := b.approve(cy, confirmed)
	if err != nil || done.Status != app.RequestAccepted {
		t.Fatalf("approved: %+v, %v", done, err)
	}
	v, err := b.app.Cluster(t.Context(), ada, done.Cluster)
	if err != nil || v.Size != 5 || !v.ExpiresAt.Equal(b.clock.Now().Add(2*time.Hour)) {
		t.Errorf("made: %+v, %v", v, err)
	}
}

func TestBreakingTheGlassRunsAtOnceAndRaisesAnAlarm(t *testing.T) {
	b := newBureau(t)
	b.rules(fourEyes)
	r := b.wait(b.actor("ada", app.RoleUser), "web", 4)
	boss := b.actor("boss", app.RoleAdmin)
	stale := boss
	stale.ProvenAt = time.Time{}
	_, err := b.app.BreakGlass(t.Context(), stale, r.ID, r.Terms.PlanHash, "the shop is down")
	wantReason(t, err, app.StepUpReason)
	done, err := b.app.BreakGlass(t.Context(), boss, r.ID, r.Terms.PlanHash, "the shop is down")
	if err != nil || done.Status != app.RequestAccepted || !done.Broken || b.clusters() != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if b.number(`SELECT count(*) FROM notices WHERE kind = 'alarm' AND request = ? AND cluster = ?`, r.ID, done.Cluster) != 1 ||
		b.number(`SELECT count(*) FROM audit WHERE act = 'request.break_glass' AND detail LIKE '%the shop is down%'`) != 1 {
		t.Error("no alarm, or no trace in the audit")
	}
}

func TestTimeEndsWhatNobodyDecidesOn(t *testing.T) {
	b := newBureau(t)
	p := fourEyes
	p.Approval = &app.Approval{Count: 1, Group: "finance", RemindAfter: time.Hour, EscalateAfter: 2 * time.Hour, EscalateTo: "heads", ExpireAfter: 3 * time.Hour}
	b.rules(p)
	r := b.wait(b.actor("ada", app.RoleUser), "web", 4)
	for i, want := range []string{"A request waits", "Still waiting", "Nobody has decided", "Expired"} {
		if i > 0 {
			b.clock.Move(time.Hour)
		}
		for range 2 { // twice without harm
			if _, err := b.app.Expire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if titles := b.titles(); len(titles) != i+1 || !strings.HasPrefix(titles[i], want) {
			t.Fatalf("after %d hours people are told %q", i, titles)
		}
	}
	if r, err := b.app.Request(t.Context(), root, r.ID); err != nil || r.Status != app.RequestExpired {
		t.Errorf("%+v, %v", r, err)
	}
	if b.number(`SELECT count(*) FROM reservations WHERE ended_at = 0`) != 0 {
		t.Error("what has expired still reserves")
	}
	b.wait(b.actor("ada", app.RoleUser), "web", 4) // the name is free again
}

func TestANameIsAskedForOnce(t *testing.T) {
	b := newBureau(t)
	b.rules(fourEyes)
	r := b.wait(b.actor("ada", app.RoleUser), "web", 4)
	if _, err := b.app.Ask(t.Context(), b.actor("bob", app.RoleUser), asks("web", 5, 0)); app.AsError(err).Field != "name" {
		t.Errorf("asked for twice: %v", err)
	}
	b.ask(b.actor("bob", app.RoleUser), asks("shop", 2, 0))
	if _, err := b.app.Ask(t.Context(), b.actor("bob", app.RoleUser), asks("shop", 5, 0)); app.AsError(err).Field != "name" {
		t.Errorf("asked for although it is there: %v", err)
	}
	if _, err := b.app.Withdraw(t.Context(), b.actor("ada", app.RoleUser), r.ID, ""); err != nil {
		t.Fatal(err)
	}
	b.wait(b.actor("bob", app.RoleUser), "web", 4)
}

// Everybody reviews everything at the same time, again and again: each request runs once at most, and those that run have two
// approvals of different people, none of whom asked.
func TestParallelReviewsRunARequestOnce(t *testing.T) {
	b := newBureau(t)
	b.rules(fourEyes)
	const requests, people = 12, 6
	var all []app.Request
	for i := range requests {
		all = append(all, b.wait(b.actor(fmt.Sprintf("p%d", i%people), app.RoleUser, "finance"), fmt.Sprintf("web%d", i), 4))
	}
	var wg sync.WaitGroup
	for p := range people {
		for range 2 {
			wg.Go(func() {
				who := b.actor(fmt.Sprintf("p%d", p), app.RoleUser, "finance")
				for i := range all {
					r := all[(i+p)%requests]
					var err error
					switch {
					case r.ID%5 == 0 && p == 1:
						_, err = b.app.Review(t.Context(), who, r.ID, operation.ReviewRequest{Verdict: app.VerdictDeny, Reason: "too dear", PlanHash: r.Terms.PlanHash})
					default:
						_, err = b.approve(who, r)
					}
					if err != nil && !errors.Is(err, app.ErrNotReady) && app.CodeOf(err) != app.EConflict && app.CodeOf(err) != app.EForbidden {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	ran := 0
	for _, r := range all {
		r, err := b.app.Request(t.Context(), root, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		switch r.Status {
		case app.RequestAccepted:
			ran++
			approved := r.Needs[0].Approved
			if len(approved) != 2 || approved[0] == approved[1] || slices.Contains(approved, r.Requester) {
				t.Errorf("request %d ran with %v", r.ID, approved)
			}
			if n := b.number(`SELECT count(*) FROM clusters WHERE name = ?`, r.Asked.Name); n != 1 {
				t.Errorf("request %d made %d clusters", r.ID, n)
			}
		case app.RequestDenied:
			if n := b.number(`SELECT count(*) FROM clusters WHERE name = ?`, r.Asked.Name); n != 0 {
				t.Errorf("request %d was denied and made %d clusters", r.ID, n)
			}
		default:
			t.Errorf("request %d is %s", r.ID, r.Status)
		}
	}
	if ran != b.clusters() || ran < requests/2 {
		t.Errorf("%d ran, %d clusters", ran, b.clusters())
	}
}

func TestAPolicyIsTriedOnThePast(t *testing.T) {
	b := newBureau(t)
	ada := b.actor("ada", app.RoleUser)
	for i := range 6 {
		b.ask(ada, asks(fmt.Sprintf("web%d", i), i+1, time.Hour))
	}
	draft := policy.Policy{Name: "small", Order: 1, Enabled: true, When: "nodes > 4", Effect: policy.PolicyRefuse, Reason: "Too many."}
	admin := b.actor("boss", app.RoleAdmin)
	made := app.Facts{User: "eve", Nodes: 9}
	trial, err := b.app.TryPolicy(t.Context(), admin, policy.Try{Policy: draft, Facts: &made})
	if err != nil || trial.Looked != 6 || trial.Otherwise != 2 || len(trial.Cases) != 2 || trial.Cases[0].Old.Words() != "accept" || trial.Cases[0].New.Words() != "refuse: Too many." {
		t.Fatalf("%+v, %v", trial, err)
	}
	if trial.Now.Outcome != app.OutcomeAccept || trial.Then.Outcome != app.OutcomeRefuse {
		t.Errorf("the one that was made up: %+v, then %+v", trial.Now, trial.Then)
	}
	b.rules(draft)
	if trial, err = b.app.TryPolicy(t.Context(), admin, policy.Try{Policy: draft, Remove: true, Past: 3}); err != nil || trial.Looked != 3 || trial.Otherwise != 2 {
		t.Errorf("without it: %+v, %v", trial, err)
	}
	draft.When = "nodes >"
	if _, err = b.app.TryPolicy(t.Context(), admin, policy.Try{Policy: draft}); app.AsError(err).Field != "when" {
		t.Errorf("half an expression: %v", err)
	}
	if _, err = b.app.TryPolicy(t.Context(), ada, policy.Try{Policy: draft}); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a user tries: %v", err)
	}
}

func TestPoliciesKeepTheirVersions(t *testing.T) {
	b := newBureau(t)
	admin := b.actor("boss", app.RoleAdmin)
	save := func(p policy.Policy) (policy.Policy, error) { return b.app.SavePolicy(t.Context(), admin, p) }
	one, err := save(fourEyes)
	if err != nil || one.Version != 1 || one.SavedBy != "boss" {
		t.Fatalf("%+v, %v", one, err)
	}
	two := one
	two.When = "nodes > 5"
	if two, err = save(two); err != nil || two.Version != 2 {
		t.Fatalf("%+v, %v", two, err)
	}
	if _, err := save(one); app.AsError(err).Reason != "version" {
		t.Errorf("an old version is saved: %v", err)
	}
	if err := b.app.DeletePolicy(t.Context(), admin, one.Name); err != nil {
		t.Fatal(err)
	}
	if err := b.app.DeletePolicy(t.Context(), admin, one.Name); app.CodeOf(err) != app.ENotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if list, err := b.app.PolicyList(t.Context(), admin); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if four, err := save(fourEyes); err != nil || four.Version != 4 {
		t.Errorf("%+v, %v", four, err)
	}
	all, err := b.app.Policy(t.Context(), admin, one.Name)
	if err != nil || len(all) != 4 || !all[1].Deleted || all[2].When != "nodes > 5" || all[3].When != "nodes > 3" {
		t.Errorf("%+v, %v", all, err)
	}
	for name, p := range map[string]policy.Policy{
		"name":                  {Name: "Not So", When: "true", Effect: policy.PolicyAllow},
		"when":                  {Name: "a", Effect: policy.PolicyAllow},
		"effect":                {Name: "a", When: "true", Effect: "bless"},
		"reason":                {Name: "a", When: "true", Effect: policy.PolicyRefuse},
		"lease_cap":             {Name: "a", When: "true", Effect: policy.PolicyRewrite},
		"approval":              {Name: "a", When: "true", Effect: policy.PolicyApprove},
		"approval.count":        {Name: "a", When: "true", Effect: policy.PolicyApprove, Approval: &app.Approval{}},
		"approval.role":         {Name: "a", When: "true", Effect: policy.PolicyApprove, Approval: &app.Approval{Count: 1, Role: app.RoleViewer}},
		"approval.escalate_to":  {Name: "a", When: "true", Effect: policy.PolicyApprove, Approval: &app.Approval{Count: 1, EscalateAfter: time.Hour}},
		"approval.expire_after": {Name: "a", When: "true", Effect: policy.PolicyApprove, Approval: &app.Approval{Count: 1, ExpireAfter: time.Second}},
	} {
		if _, err := save(p); app.AsError(err).Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWeekdaysGoByTheTenantsZone(t *testing.T) {
	b := newBureau(t)
	admin := b.actor("boss", app.RoleAdmin)
	if err := b.app.SetPolicyZone(t.Context(), admin, "Mars/Olympus"); app.AsError(err).Field != "time_zone" {
		t.Errorf("a zone of nobody: %v", err)
	}
	if err := b.app.SetPolicyZone(t.Context(), admin, "Pacific/Kiritimati"); err != nil {
		t.Fatal(err)
	}
	hour := b.clock.Now().In(must(time.LoadLocation("Pacific/Kiritimati"))).Hour()
	b.rules(policy.Policy{Name: "now", Order: 1, Enabled: true, When: fmt.Sprintf(`hour == %d`, hour), Effect: policy.PolicyRefuse, Reason: "Not at ${hour}."})
	if _, err := b.app.Ask(t.Context(), admin, asks("web", 1, 0)); app.AsError(err).Reason != "policy" {
		t.Errorf("%v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
