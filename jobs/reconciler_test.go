package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/template"
	"muster/jobs/reconcile"
	"muster/providers/fake"
)

// hasty is a policy that waits a moment only.
var hasty = fleet.OrphanPolicy{Mode: fleet.OrphansDelete, Settle: 50 * time.Millisecond, Most: 5, Share: 0.25}

// reconciler returns one that looks often; change alters it first.
func (e *engine) reconciler(change func(*reconcile.Reconciler)) (stop func()) {
	e.Helper()
	installation, err := e.store.Installation(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	r := &reconcile.Reconciler{Name: "r", Installation: installation, Accounts: e.store, Orphans: e.store, Clusters: e.store, Proofs: e.store, Interruptions: e.store, Providers: oneCloud{e.cloud}, Catalog: e.config.Catalog,
		Log: quiet(e.T), Policy: hasty, Every: 30 * time.Millisecond}
	if change != nil {
		change(r)
	}
	ctx, cancel := context.WithCancel(e.ctx)
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	return func() { cancel(); <-done }
}

// comesAbout waits for something to come true.
func (e *engine) comesAbout(what string, true_ func() bool) {
	e.Helper()
	for deadline := time.Now().Add(hangs); !true_(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			e.Fatalf("it does not come about that %s", what)
		}
	}
}

func (e *engine) orphans(gone bool) []fleet.Orphan {
	e.Helper()
	r, err := e.app.Fleet.Machines.Orphans(e.ctx, e.admin, gone)
	if err != nil {
		e.Fatal(err)
	}
	return r.Orphans
}

// passes waits until so many more passes over the account have ended.
func (e *engine) passes(n int) {
	e.Helper()
	var last time.Time
	for range n + 1 {
		e.comesAbout("a pass ends", func() bool {
			accounts, err := e.store.Accounts(e.ctx)
			if err != nil {
				e.Fatal(err)
			}
			if len(accounts) == 0 || !accounts[0].EndedAt.After(last) {
				return false
			}
			last = accounts[0].EndedAt
			return true
		})
	}
}

// put makes a machine in the cloud behind everyone's back.
func (e *engine) put(id string, tags map[string]string) {
	installation, err := e.store.Installation(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	all := map[string]string{family.TagInstallation: installation}
	for k, v := range tags {
		all[k] = v
	}
	e.cloud.Put(family.Machine{ID: id, State: family.MachineRunning, Tags: all})
}

func (e *engine) delete(id string) {
	e.Helper()
	if _, err := e.app.Cluster.Deletes.DeleteCluster(e.ctx, e.admin, id); err != nil {
		e.Fatal(err)
	}
	e.want(e.await(id), app.ClusterDeleted)
}

func (e *engine) receipt(id string) fleet.Receipt {
	e.Helper()
	r, err := e.app.Fleet.Machines.Receipt(e.ctx, e.admin, id)
	if err != nil {
		e.Fatal(err)
	}
	return r
}

func TestMachineThatAppearsAfterItsNodeWasDeleted(t *testing.T) {
	e := newEngine(t, nil)
	e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.ECredentials, Message: "who are you?"}, Node: "n1"})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterFailed)
	live, err := e.store.IntentsOf(e.ctx, "cloud")
	if err != nil {
		t.Fatal(err)
	}
	e.delete(v.ID)
	for id, i := range live { // only now, however long the delete took, is there what was asked for
		if i.Node == "n1" {
			e.put("late", map[string]string{family.TagIntent: id, family.TagTenant: i.Tenant, family.TagCluster: i.Cluster, family.TagNode: i.Node})
		}
	}
	if e.machines() != 1 {
		t.Fatal("the machine does not come up")
	}

	stop := e.reconciler(func(r *reconcile.Reconciler) { r.Every, r.Policy.Settle = time.Hour, time.Hour })
	e.comesAbout("it is seen", func() bool { return len(e.orphans(false)) == 1 })
	e.passes(0)
	stop()
	o := e.orphans(false)[0]
	if o.Kind != fleet.OrphanEnded || o.State != fleet.OrphanDue || o.SeenCount != 1 || o.Cluster != v.ID || o.Node != "n1" || o.Price != 0.5 || e.machines() != 1 {
		t.Errorf("at first sight: %+v, %d machines", o, e.machines())
	}
	// Another process continues from there: the first sighting is not lost.
	defer e.reconciler(nil)()
	e.comesAbout("it is deleted", func() bool { return e.machines() == 0 && len(e.orphans(false)) == 0 })
	gone := e.orphans(true)
	if len(gone) != 1 || gone[0].State != fleet.OrphanGone || gone[0].SeenCount < 2 {
		t.Errorf("what went is reported as %+v", gone)
	}
	e.comesAbout("nothing of the cluster is left", func() bool { r := e.receipt(v.ID); return r.Remaining == 0 && len(r.Lines) == 2 })
	if r := e.receipt(v.ID); r.Lines[0].Node != "n1" || r.Lines[0].Cost <= 0 {
		t.Errorf("the machine that came late is not on the receipt: %+v", r.Lines)
	}
}

func TestIgnoredOrphans(t *testing.T) {
	e := newEngine(t, nil)
	e.put("unknown", map[string]string{family.TagIntent: "unknown-intent", family.TagTenant: e.admin.Tenant})
	e.cloud.Put(family.Machine{ID: "foreign", State: family.MachineRunning, Tags: map[string]string{family.TagInstallation: "another"}})
	e.cloud.Put(family.Machine{ID: "bare", State: family.MachineRunning})
	defer e.reconciler(nil)()
	e.passes(6)
	os := e.orphans(false)
	if len(os) != 1 || os[0].Machine != "unknown" || os[0].Kind != fleet.OrphanUnknown || os[0].State != fleet.OrphanReported || os[0].SeenCount < 3 {
		t.Fatalf("orphans: %+v", os)
	}
	if n := len(e.cloud.Machines()); n != 3 {
		t.Fatalf("%d of 3 machines are left", n)
	}
	if _, err := e.app.Fleet.Machines.DecideOrphan(t.Context(), app.Actor{Tenant: e.admin.Tenant, User: "u", Role: app.RoleUser}, os[0].ID, fleet.DecideDelete); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a user decides: %v", err)
	}
	other := app.Actor{Tenant: "other", User: "boss", Role: app.RoleAdmin}
	if _, err := e.app.Fleet.Machines.DecideOrphan(t.Context(), other, os[0].ID, fleet.DecideDelete); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant's admin decides: %v", err)
	}
	if r, err := e.app.Fleet.Machines.Orphans(t.Context(), other, true); err != nil || len(r.Orphans) != 0 || len(r.Accounts) != 0 {
		t.Errorf("another tenant's admin sees %+v (%v)", r, err)
	}
	if _, err := e.app.Fleet.Machines.DecideOrphan(t.Context(), e.admin, os[0].ID, fleet.DecideDelete); err != nil {
		t.Fatal(err)
	}
	e.comesAbout("what a person ordered is done", func() bool { return len(e.cloud.Machines()) == 2 })
	if _, err := e.app.Fleet.Machines.DecideOrphan(t.Context(), e.admin, "nothing", fleet.DecideKeep); app.CodeOf(err) != app.ENotFound {
		t.Errorf("deciding on nothing: %v", err)
	}
}

// leave makes machines whose intents have ended.
func (e *engine) leave(n int) {
	e.Helper()
	v := e.await(e.create(n).ID)
	e.want(v, app.ClusterActive)
	made := e.cloud.Machines()
	e.delete(v.ID)
	for _, m := range made {
		e.cloud.Put(m)
	}
}

func TestModesAndBounds(t *testing.T) {
	e := newEngine(t, nil)
	e.leave(8)
	mode := func(m fleet.OrphanMode) {
		if err := e.app.Fleet.Machines.SetOrphanMode(t.Context(), e.admin, m); err != nil {
			t.Fatal(err)
		}
	}
	mode(fleet.OrphansReport)
	stop := e.reconciler(nil)
	e.passes(5)
	if os := e.orphans(false); e.machines() != 8 || len(os) != 8 || os[0].State != fleet.OrphanReported {
		t.Errorf("%d of 8 machines are left; %+v", e.machines(), os)
	}
	keep := e.orphans(false)[0]
	if _, err := e.app.Fleet.Machines.DecideOrphan(t.Context(), e.admin, keep.ID, fleet.DecideKeep); err != nil {
		t.Fatal(err)
	}
	stop()
	mode(fleet.OrphansOff)
	lists := e.cloud.Count(fake.List)
	stop = e.reconciler(nil)
	time.Sleep(100 * time.Millisecond)
	stop()
	if n := e.cloud.Count(fake.List); n > lists+1 { // one proves that the cluster is gone, which is no comparison
		t.Errorf("the account was asked %d times although that is off", n-lists)
	}
	mode(fleet.OrphansDelete)
	stop = e.reconciler(func(r *reconcile.Reconciler) { r.Every = time.Hour })
	var accounts []app.Account
	e.comesAbout("a pass deletes", func() bool {
		var err error
		if accounts, err = e.store.Accounts(t.Context()); err != nil || len(accounts) != 1 {
			t.Fatal(accounts, err)
		}
		return accounts[0].Deleted > 0
	})
	stop()
	// A quarter of eight.
	if a := accounts[0]; e.machines() != 6 || a.Deleted != 2 || a.HeldBack != 5 || a.Orphans != 6 || a.Machines != 8 || a.Error != "" {
		t.Errorf("%d machines are left of 8 after one pass: %+v", e.machines(), a)
	}
	defer e.reconciler(nil)()
	e.comesAbout("all but the kept one are deleted", func() bool { return e.machines() == 1 })
	e.passes(2)
	if os := e.orphans(false); len(os) != 1 || os[0].ID != keep.ID || os[0].State != fleet.OrphanKept {
		t.Errorf("the kept one: %+v", os)
	}
	if err := e.app.Fleet.Machines.SetOrphanMode(t.Context(), e.admin, "everything"); app.CodeOf(err) != app.EInvalid {
		t.Errorf("a mode that does not exist: %v", err)
	}
}

func TestDuplicateOfALiveMachineIsDeleted(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	twin := e.cloud.Machines()[1]
	known := twin.ID
	twin.ID = "a-twin"
	e.cloud.Put(twin)
	e.cloud.Stop(known)
	stop := e.reconciler(nil)
	e.passes(5)
	if len(e.cloud.Machines()) != 3 {
		t.Errorf("a machine was deleted although the one that the ledger knows does not run")
	}
	stop()
	m := twin
	m.ID, m.State = known, family.MachineRunning
	e.cloud.Put(m)
	defer e.reconciler(nil)()
	e.comesAbout("the twin is deleted", func() bool { return len(e.cloud.Machines()) == 2 })
	for _, m := range e.cloud.Machines() {
		if m.ID == "a-twin" {
			t.Error("the wrong one was deleted")
		}
	}
	e.comesAbout("the cluster counts as active again", func() bool {
		v, err := e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID)
		return err == nil && v.Status == app.ClusterActive
	})
}

func TestLostMachinesCanReturn(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	machine, err := e.cloud.Describe(t.Context(), v.Nodes[1].MachineID)
	if err != nil {
		t.Fatal(err)
	}
	e.cloud.Stop(machine.ID)
	defer e.reconciler(nil)()
	status := func(want app.ClusterStatus) func() bool {
		return func() bool {
			var err error
			if v, err = e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID); err != nil {
				t.Fatal(err)
			}
			return v.Status == want
		}
	}
	e.comesAbout("it is marked", status(app.ClusterFailed))
	if !strings.Contains(v.Message, "n2") {
		t.Errorf("the message does not name n2: %s", v.Message)
	}
	e.cloud.Put(machine)
	e.comesAbout("it heals", status(app.ClusterActive))
	if v.Message != "" {
		t.Errorf("healed, but: %s", v.Message)
	}
	e.cloud.Vanish(machine.ID)
	e.comesAbout("it is marked again", status(app.ClusterFailed))
	e.delete(v.ID)
}

// A machine that starts again is away for a moment, which is no reason to call its cluster failed.
func TestMachineMissingOnceIsNotLost(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	machine, err := e.cloud.Describe(t.Context(), v.Nodes[1].MachineID)
	if err != nil {
		t.Fatal(err)
	}
	e.cloud.Stop(machine.ID)
	stop := e.reconciler(func(r *reconcile.Reconciler) { r.Every = time.Hour })
	e.passes(0)
	if v, err = e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID); err != nil || v.Status != app.ClusterActive {
		t.Errorf("after one look it is %s (%v)", v.Status, err)
	}
	stop()
}

// Accounts are compared with the ledger now and then, and looked at for lost machines in between; that this is within a minute is the compiler's
// to say, beside the constants. A list that fails marks nothing, and one that shows a machine late neither.
func TestLostMachineIsDetectedWithinAMinute(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	status := func() app.ClusterStatus {
		now, err := e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		v = now
		return now.Status
	}
	e.put("stray", map[string]string{family.TagIntent: "unheard-of"})
	defer e.reconciler(func(r *reconcile.Reconciler) { r.Every, r.Watch = time.Hour, 20*time.Millisecond })()
	e.passes(0)
	e.cloud.SetListLag(time.Hour)
	e.passes(3)
	if got := status(); got != app.ClusterActive {
		t.Fatalf("where the list shows machines late, the cluster is %s", got)
	}
	e.cloud.SetListLag(0)
	e.cloud.Vanish(v.Nodes[1].MachineID)
	e.comesAbout("the loss is noticed between two comparisons", func() bool { return status() == app.ClusterFailed })
	if !strings.Contains(v.Message, "n2") || strings.Contains(v.Message, "n1") {
		t.Errorf("the message: %s", v.Message)
	}
	if o := e.orphans(false); len(o) != 1 || o[0].SeenCount != 1 {
		t.Errorf("looks for lost machines count as comparisons: %+v", o)
	}
	e.comesAbout("the account says so, and knows its orphan still", func() bool {
		a, err := e.store.Accounts(t.Context())
		return err == nil && len(a) == 1 && a[0].Orphans == 1 && a[0].Lost == 1
	})
}

// An account that cannot be listed says nothing about its machines.
func TestFailedListLosesNoMachine(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	broken := fake.Outcome{Err: &app.Error{Code: app.ECredentials, Message: "who are you?"}}
	e.cloud.Vanish(v.Nodes[1].MachineID)
	e.cloud.Order(fake.List, broken, broken, broken)
	defer e.reconciler(nil)()
	e.passes(1)
	if now, err := e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID); err != nil || now.Status != app.ClusterActive {
		t.Errorf("it is %s (%v)", now.Status, err)
	}
	e.comesAbout("the loss is noticed once the account can be listed", func() bool {
		now, err := e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID)
		return err == nil && now.Status == app.ClusterFailed
	})
}

func TestIncompleteListLosesNoCluster(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	e.cloud.SetListLag(time.Hour)
	stop := e.reconciler(nil)
	e.passes(3)
	stop()
	v, err := e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	e.want(v, app.ClusterActive)
}

func TestDeletedClusterHasAReceipt(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	v := e.await(e.create(3).ID)
	if r := e.receipt(v.ID); r.Remaining != 3 || len(r.Lines) != 3 || r.Lines[2].Price != 0.5 || !r.Proof.At.IsZero() {
		t.Errorf("while it exists: %+v", r)
	}
	e.cloud.Order(fake.List, fake.Outcome{Err: &app.Error{Code: app.ETransient, Message: "the line is dead"}})
	e.delete(v.ID)
	if r := e.receipt(v.ID); r.Remaining != 0 || r.Proof.State != fleet.ProofPending || !r.Proof.NextAt.Equal(r.DeletedAt.Add(fleet.ProofGap)) {
		t.Errorf("before the account was checked: %+v", r)
	}
	down := fake.New("down")
	down.Order(fake.List, fake.Outcome{Err: app.Errorf(app.ETransient, "no route to host"), Times: -1})
	stop := e.reconciler(func(r *reconcile.Reconciler) { r.Providers = manyClouds{"cloud": down} })
	e.comesAbout("it is said that the account can't be listed, and when it is checked again", func() bool {
		p := e.receipt(v.ID).Proof
		return p.State == fleet.ProofFailed && p.How == "Account cloud can't be listed from here: no route to host" && p.NextAt.After(p.CheckedAt)
	})
	stop()
	twin := family.Machine{ID: "late", State: family.MachineRunning, Tags: map[string]string{family.TagCluster: v.ID, family.TagTenant: v.Tenant}}
	e.put(twin.ID, twin.Tags)
	stop = e.reconciler(nil)
	e.comesAbout("it is said that something is left", func() bool { return strings.Contains(e.receipt(v.ID).Proof.How, "late") })
	if p := e.receipt(v.ID).Proof; p.State != fleet.ProofFailed || p.CheckedAt.IsZero() || !p.NextAt.Equal(p.CheckedAt.Add(fleet.ProofGap)) {
		t.Errorf("while a machine is left: %+v", p)
	}
	stop()
	e.cloud.Vanish("late")
	defer e.reconciler(nil)()
	e.comesAbout("it is proven", func() bool { return !e.receipt(v.ID).Proof.At.IsZero() })
	r := e.receipt(v.ID)
	if r.Remaining != 0 || len(r.Lines) != 3 || r.Cost <= 0 || r.Lifetime <= 0 || r.Unpriced != 0 || r.Proof.State != fleet.ProofProven || r.Proof.At.Before(r.DeletedAt) || !strings.Contains(r.Proof.How, family.TagCluster+"="+v.ID) {
		t.Errorf("the receipt: %+v", r)
	}
	for _, l := range r.Lines {
		if l.ID == "" || l.DeletedAt.IsZero() || l.DeletedAt.Before(l.CreatedAt) || l.Provider != "cloud" || l.Kind != fleet.ResourceMachine {
			t.Errorf("a line: %+v", l)
		}
	}
}

// manyClouds returns accounts by name, and an error for the others.
type manyClouds map[string]family.Provider

func (m manyClouds) Provider(_ context.Context, spec template.ProviderSpec) (family.Provider, error) {
	if p := m[spec.Name]; p != nil {
		return p, nil
	}
	return nil, app.Errorf(app.ECredentials, "account %s is shut", spec.Name)
}

func TestFailingAccountBlocksNoOther(t *testing.T) {
	hangs := fake.New("a-hangs")
	hangs.Order(fake.List, fake.Outcome{Hangs: true, Times: -1})
	e := newEngine(t, func(_ *engine, c *template.Catalog) {
		for _, name := range []string{"a-hangs", "b-shut", "c-far"} {
			c.Providers[name] = &template.ProviderSpec{About: template.About{Name: name}, Type: "fake"}
		}
		c.Providers["b-shut"].Provisioner = map[string]string{"region": "eu"}
	})
	e.leave(2)
	defer e.reconciler(func(r *reconcile.Reconciler) {
		r.Providers = manyClouds{"a-hangs": hangs, "c-far": fake.New("c-far"), "cloud": e.cloud}
		r.Elsewhere = func(p template.ProviderSpec) bool { return p.Name == "c-far" }
	})()
	e.comesAbout("orphans of the good account are deleted", func() bool { return e.machines() == 0 })
	e.comesAbout("the trouble of the others is reported", func() bool {
		accounts, err := e.store.Accounts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		reported := 0
		for _, a := range accounts {
			for name, text := range map[string]string{
				"b-shut": "can't be listed from here: account b-shut is shut (its provider is reached through provisioners with region=eu, but this server has no tags",
				"c-far":  "can't be listed from here: its machines run on provisioners' hosts",
			} {
				if a.Provider == name && a.Unlisted() && strings.Contains(a.Error, text) {
					reported++
				}
			}
		}
		return reported == 2
	})
}

func TestNoDuplicatesWithLateLists(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.cloud.SetForgetful(true)
	e.cloud.SetListLag(1500 * time.Millisecond)
	e.cloud.LoseReply(fake.Create, &app.Error{Code: app.ETransient, Message: "connection reset"})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	if n := len(e.cloud.Machines()); n != 2 {
		t.Errorf("%d machines, want 2", n)
	}
}

func TestDuplicateMachinesAreReducedToOne(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.cloud.SetForgetful(true)
	e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.ETransient, Message: "connection reset"}, Happens: true, Node: "n1"})
	v := e.create(2)
	e.comesAbout("the first one is made", func() bool { return len(e.cloud.Machines()) > 0 })
	first, found := family.Machine{}, false
	for !found {
		for _, m := range e.cloud.Machines() {
			if m.Tags[family.TagNode] == "n1" {
				first, found = m, true
			}
		}
	}
	twin := first
	twin.ID = "a-younger-twin"
	e.cloud.Put(twin)
	v = e.await(v.ID)
	e.want(v, app.ClusterActive)
	if len(e.cloud.Machines()) != 2 || v.Nodes[0].MachineID != first.ID {
		t.Errorf("n1 is %s, want the oldest, %s; machines: %v", v.Nodes[0].MachineID, first.ID, e.cloud.Machines())
	}
	lines, err := e.app.Cluster.Activity.Logs(t.Context(), e.admin, v.ID, cluster.LogFilter{Node: "n1"})
	if err != nil || !strings.Contains(fmt.Sprint(lines), "a-younger-twin was deleted: another machine of this node") {
		t.Errorf("the log does not say so: %v %v", lines, err)
	}
	if r := e.receipt(v.ID); len(r.Lines) != 3 || r.Remaining != 2 {
		t.Errorf("the receipt lacks the twin: %+v", r.Lines)
	}
}

func TestFullZoneFallsBackToAnother(t *testing.T) {
	e := newEngine(t, func(_ *engine, c *template.Catalog) { c.Providers["cloud"].Zones = []string{"a", "b"} })
	e.cloud.SetRoom("", 0)
	e.cloud.SetRoom("a", 1)
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	in := map[string]int{}
	for _, m := range e.cloud.Machines() {
		in[m.Zone]++
	}
	if in["a"] != 1 || in["b"] != 2 {
		t.Errorf("machines by zone: %v", in)
	}
	if r := e.receipt(v.ID); len(r.Lines) != 3 || r.Lines[0].Zone == "" {
		t.Errorf("the receipt lacks the zones: %+v", r.Lines)
	}
}

// counted is a provider whose calls are refused by a budget so many times first.
type counted struct {
	family.Provider
	left chan struct{}
}

func (c counted) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	select {
	case <-c.left:
		return family.Machine{}, &app.Error{Code: app.ERateLimit, Reason: "budget", Message: "The rate budget of account cloud is empty for 1 s.",
			RetryAfter: time.Millisecond}
	default:
		return c.Provider.Create(ctx, spec)
	}
}

func TestWaitingForTheBudgetIsNoAttempt(t *testing.T) {
	t.Parallel()
	const refusals = 4
	left := make(chan struct{}, refusals)
	for range refusals {
		left <- struct{}{}
	}
	e := newEngine(t, nil)
	_ = e.worker.Close()
	e.startWorkerWith("w2", manyClouds{"cloud": counted{e.cloud, left}})
	lists := e.cloud.Count(fake.List)
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	if n := e.cloud.Count(fake.List) - lists; n != 0 {
		t.Errorf("%d lists: nothing was asked for before, so there was nothing to look for", n)
	}
	steps, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	attempts, tries := 0, 0
	for _, s := range steps {
		if s.Action == app.ActionCreate {
			attempts, tries = attempts+s.Attempt, tries+s.Tries
		}
	}
	if attempts != 2+refusals || tries != 2 {
		t.Errorf("%d attempts that count as %d tries, want %d and 2", attempts, tries, 2+refusals)
	}
}

// takenOver is a store in which another server takes each account over during a pass.
type takenOver struct {
	reconcile.AccountStore
	asked int
}

func (s *takenOver) HoldAccount(ctx context.Context, provider, holder string, now time.Time, hold time.Duration) (bool, error) {
	if s.asked++; s.asked%2 == 0 {
		return false, nil
	}
	return s.AccountStore.HoldAccount(ctx, provider, holder, now, hold)
}

func TestSupersededPassDeletesNothing(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.leave(4)
	stop := e.reconciler(func(r *reconcile.Reconciler) { r.Accounts = &takenOver{AccountStore: e.store} })
	e.passes(6)
	accounts, err := e.store.Accounts(t.Context()) // before the stop, which may cut a pass short
	stop()
	if n := e.machines(); n != 4 {
		t.Errorf("%d of 4 machines are left", n)
	}
	if err != nil || len(accounts) != 1 || !strings.Contains(accounts[0].Error, "another server") {
		t.Errorf("accounts: %+v, %v", accounts, err)
	}
	defer e.reconciler(nil)()
	e.comesAbout("they are deleted", func() bool { return e.machines() == 0 })
}
