package fleet

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// fails ends an attempt, as one that is to be tried again.
func (t *storeTest) fails(c *execution.ClaimedStep, unasked bool) {
	t.Helper()
	_, err := t.End(c.Step.Worker, execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now(), Err: &app.Error{Code: app.ETransient, Message: "not now"},
		Retry: app.Retry{Again: true}, Unasked: unasked})
	t.Must(err)
}

// asked: a create is reported whether an attempt before it may have asked for the machine.
func (t *storeTest) asked() {
	t.Create("web", 1)
	c := t.Claim("w")
	if !c.Unasked || c.Intent == "" {
		t.Fatalf("the first attempt: unasked %v, intent %q", c.Unasked, c.Intent)
	}
	intent := c.Intent
	t.fails(c, true)
	if c = t.Claim("w"); !c.Unasked {
		t.Fatal("an attempt that asked for nothing counts")
	}
	t.fails(c, false)
	for range 2 {
		if c = t.Claim("w"); c.Unasked || c.Intent != intent {
			t.Fatalf("after an unclear answer: unasked %v, intent %q, want %q", c.Unasked, c.Intent, intent)
		}
		t.fails(c, true)
	}
	t.Claim("w")
	t.Clock.Move(2 * execution.ClaimFor)
	_, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now())
	t.Must(err)
	if c = t.Claim("w2"); c == nil || c.Unasked {
		t.Fatalf("after a worker that died: %+v", c)
	}
	if live := t.Intents(); len(live) != 1 || live[intent].Node != "n1" || live[intent].Machine != "" || live[intent].Over {
		t.Fatalf("live intents: %+v", live)
	}
}

// receipts: what was made for a cluster is kept from the answer that named it until it is proven gone.
func (t *storeTest) receipts() {
	t.Create("web", 1)
	c := t.Claim("w")
	made := t.Clock.Now().Add(-time.Second)
	seen := []app.Seen{{Kind: fleet.ResourceMachine, ID: "m-n1", Zone: "a", Price: 0.5, CreatedAt: made},
		{Kind: fleet.ResourceMachine, ID: "twin", Price: 0.5, Deleted: true}}
	_, err := t.End("w", execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now(), Seen: seen,
		Node: &execution.NodeUpdate{Status: app.NodeCreated, Machine: &family.Machine{ID: "m-n1"}}})
	t.Must(err)
	all, err := t.Store.Resources(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if len(all) != 2 || all[0].ID != "m-n1" || !all[0].CreatedAt.Equal(made) || all[0].Zone != "a" || all[0].Price != 0.5 || !all[0].DeletedAt.IsZero() ||
		all[0].Provider != kit.Cloud || all[0].Node != "n1" || all[0].Intent != c.Intent || all[1].DeletedAt.IsZero() {
		t.Fatalf("resources: %+v", all)
	}
	if other, err := t.Store.Resources(t.Ctx, "other", "web-1"); err != nil || len(other) != 0 {
		t.Fatalf("another tenant sees %+v (%v)", other, err)
	}
	t.Drain()
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1", Kind: app.OperationDelete,
		PlanHash: "h", Requester: "ada", CreatedAt: t.Clock.Now()}, Plan: apptest.Remove(1)})
	t.Must(err)
	t.Clock.Move(time.Hour)
	t.Drain()
	all, err = t.Store.Resources(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if !all[0].DeletedAt.Equal(t.Clock.Now()) || all[1].DeletedAt.Equal(t.Clock.Now()) {
		t.Fatalf("after deletion: %+v", all)
	}
	left, err := t.Store.Unproven(t.Ctx, 10)
	t.Must(err)
	if len(left) != 1 || left[0].ID != "web-1" {
		t.Fatalf("unproven: %+v", left)
	}
	t.Must(t.Store.SetProof(t.Ctx, kit.Tenant, "web-1", fleet.Proof{How: "no answer"}, t.Clock.Now()))
	if p, err := t.Store.Proof(t.Ctx, kit.Tenant, "web-1"); err != nil || !p.At.IsZero() || p.How != "no answer" || !p.CheckedAt.Equal(t.Clock.Now()) {
		t.Fatalf("no proof yet: %+v (%v)", p, err)
	}
	t.Must(t.Store.NoteResources(t.Ctx, kit.Cloud, c.Intent, t.Clock.Now(), []app.Seen{{Kind: fleet.ResourceMachine, ID: "late"}}))
	t.Must(t.Store.SetProof(t.Ctx, kit.Tenant, "web-1", fleet.Proof{At: t.Clock.Now(), How: "a list"}, t.Clock.Now()))
	t.Must(t.Store.SetProof(t.Ctx, kit.Tenant, "web-1", fleet.Proof{How: "too late"}, t.Clock.Now()))
	p, err := t.Store.Proof(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if left, err = t.Store.Unproven(t.Ctx, 10); err != nil || len(left) != 0 || p.How != "a list" || !p.At.Equal(t.Clock.Now()) {
		t.Fatalf("proven: %+v, left %+v (%v)", p, left, err)
	}
	all, err = t.Store.Resources(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if slices.ContainsFunc(all, func(r fleet.CloudResource) bool { return r.DeletedAt.IsZero() }) || len(all) != 3 {
		t.Fatalf("a proof leaves %+v", all)
	}
	if ended, known, err := t.Store.IntentKnown(t.Ctx, kit.Cloud, c.Intent); err != nil || !ended || !known {
		t.Fatalf("the intent has ended %v, is known %v (%v)", ended, known, err)
	}
	if _, known, err := t.Store.IntentKnown(t.Ctx, "elsewhere", c.Intent); err != nil || known {
		t.Fatalf("another provider knows the intent (%v)", err)
	}
}

// orphans: sightings are counted, and start again when a machine was gone in between.
func (t *storeTest) orphans() {
	see := func(ids ...string) []fleet.Orphan {
		var seen []fleet.Orphan
		for _, id := range ids {
			seen = append(seen, fleet.Orphan{Machine: id, Tenant: kit.Tenant, Cluster: "c", Node: "n1", Kind: fleet.OrphanEnded, Price: 0.5,
				CreatedAt: t.Clock.Now().Add(-time.Hour)})
		}
		t.Clock.Move(time.Minute)
		list, err := t.Store.SeeOrphans(t.Ctx, kit.Cloud, t.Clock.Now(), seen)
		t.Must(err)
		return list
	}
	first := see("a", "b")
	list := see("a", "b")
	if len(first) != 2 || len(list) != 2 || list[0].SeenCount != 2 || !list[0].FirstSeen.Equal(first[0].FirstSeen) || !list[0].LastSeen.Equal(t.Clock.Now()) ||
		list[0].Price != 0.5 || list[0].ID != fleet.OrphanID(kit.Cloud, list[0].Machine) {
		t.Fatalf("seen twice: %+v", list)
	}
	id := fleet.OrphanID(kit.Cloud, "a")
	who := app.Actor{Tenant: kit.Tenant, User: "ada", Role: app.RoleAdmin}
	_, err := t.Store.DecideOrphan(t.Ctx, "other", id, fleet.DecideDelete, who, t.Clock.Now())
	t.Code(err, app.ENotFound)
	o, err := t.Store.DecideOrphan(t.Ctx, kit.Tenant, id, fleet.DecideDelete, who, t.Clock.Now())
	t.Must(err)
	if names, err := t.Store.OrderedAccounts(t.Ctx); err != nil || !slices.Equal(names, []string{kit.Cloud}) || o.Decided != "ada" {
		t.Fatalf("ordered in %v (%v): %+v", names, err, o)
	}
	t.Must(t.Store.OrphanDeleted(t.Ctx, id, t.Clock.Now(), "it does not go"))
	if names, err := t.Store.OrderedAccounts(t.Ctx); err != nil || len(names) != 0 {
		t.Fatalf("tried already, but still ordered in %v (%v)", names, err)
	}
	t.Must(t.Store.OrphanDeleted(t.Ctx, id, t.Clock.Now(), ""))
	_, err = t.Store.DecideOrphan(t.Ctx, kit.Tenant, id, fleet.DecideKeep, who, t.Clock.Now())
	t.Code(err, app.EConflict)
	if list = see("a"); len(list) != 1 || list[0].SeenCount != 1 || list[0].Decision != "" || list[0].Error != "" {
		t.Fatalf("seen again after it was gone: %+v", list)
	}
	stand, err := t.Store.Orphans(t.Ctx, kit.Tenant, false)
	t.Must(err)
	all, err := t.Store.Orphans(t.Ctx, "", true)
	t.Must(err)
	other, err := t.Store.Orphans(t.Ctx, "other", true)
	t.Must(err)
	if len(stand) != 1 || len(all) != 2 || len(other) != 0 {
		t.Fatalf("%d stand, %d in all, %d of another tenant", len(stand), len(all), len(other))
	}
	t.Clock.Move(31 * 24 * time.Hour)
	see("a")
	if all, err = t.Store.Orphans(t.Ctx, "", true); err != nil || len(all) != 1 {
		t.Fatalf("after a month: %+v (%v)", all, err)
	}
	if m, err := t.Store.OrphanMode(t.Ctx); err != nil || m != fleet.OrphansDelete {
		t.Fatalf("mode %q (%v)", m, err)
	}
	for _, m := range fleet.OrphanModes {
		t.Must(t.Store.SetOrphanMode(t.Ctx, m, who, t.Clock.Now()))
	}
	t.Must(t.Store.SetOrphanMode(t.Ctx, fleet.OrphansReport, who, t.Clock.Now()))
	if m, err := t.Store.OrphanMode(t.Ctx); err != nil || m != fleet.OrphansReport {
		t.Fatalf("mode %q (%v)", m, err)
	}
}

// accounts: servers take turns.
func (t *storeTest) accounts() {
	hold := func(who string, want bool) {
		t.Helper()
		held, err := t.Store.HoldAccount(t.Ctx, kit.Cloud, who, t.Clock.Now(), time.Minute)
		t.Must(err)
		if held != want {
			t.Fatalf("%s holds the account: %v, want %v", who, held, want)
		}
	}
	hold("one", true)
	hold("one", true)
	hold("two", false)
	t.Must(t.Store.EndPass(t.Ctx, "two", app.Account{Provider: kit.Cloud, Machines: 9}))
	hold("two", false)
	t.Must(t.Store.EndPass(t.Ctx, "one", app.Account{Provider: kit.Cloud, Machines: 7, Orphans: 3, Deleted: 2, HeldBack: 1, Lost: 4, Error: "x",
		EndedAt: t.Clock.Now()}))
	all, err := t.Store.Accounts(t.Ctx)
	t.Must(err)
	if len(all) != 1 || all[0].Machines != 7 || all[0].Orphans != 3 || all[0].Deleted != 2 || all[0].HeldBack != 1 || all[0].Lost != 4 || all[0].Error != "x" ||
		!all[0].EndedAt.Equal(t.Clock.Now()) {
		t.Fatalf("accounts: %+v", all)
	}
	hold("two", true)
	t.Clock.Move(2 * time.Minute)
	hold("one", true)
	t.Clock.Move(-48 * time.Hour)
	hold("two", true)

	// A tenant's own account is listed for as long as there is the tenant.
	root := app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin}
	for _, name := range []string{"closing", "closing-2"} {
		t.Must(t.Store.CreateTenant(t.Ctx, root, identity.Tenant{Name: name, CreatedAt: t.Clock.Now(), CreatedBy: "root"}, nil))
		_, err := t.Store.HoldAccount(t.Ctx, template.AccountName(name, "cloud"), "one", t.Clock.Now(), time.Minute)
		t.Must(err)
	}
	names := func() (out []string) {
		all, err := t.Store.Accounts(t.Ctx)
		t.Must(err)
		for _, a := range all {
			out = append(out, a.Provider)
		}
		return out
	}
	if got := names(); !slices.Equal(got, []string{"closing-2/cloud", "closing/cloud", kit.Cloud}) && !slices.Equal(got,
		[]string{"closing/cloud", "closing-2/cloud", kit.Cloud}) {
		t.Fatalf("accounts: %v", got)
	}
	t.Must(t.Store.DeleteTenant(t.Ctx, root, "closing", t.Clock.Now()))
	if got := names(); !slices.Equal(got, []string{"closing-2/cloud", kit.Cloud}) {
		t.Fatalf("accounts without the tenant closing: %v", got)
	}
}

// lost: a cluster that lost machines heals, unless something was done to it.
func (t *storeTest) lost() {
	t.Create("web", 1)
	t.Drain()
	t.Must(t.Store.MarkLost(t.Ctx, kit.Tenant, "web-1", "n1 is gone", t.Clock.Now()))
	lost := func() []fleet.ComparedCluster {
		all, err := t.Store.ComparedClusters(t.Ctx, []string{"web-1", "nothing"})
		t.Must(err)
		return slices.DeleteFunc(all, func(c fleet.ComparedCluster) bool { return !c.Lost })
	}
	if l := lost(); len(l) != 1 || l[0].Status != app.ClusterFailed || l[0].Message != "n1 is gone" || len(l[0].Nodes) != 1 || l[0].Nodes[0].MachineID == "" {
		t.Fatalf("lost: %+v", l)
	}
	t.Must(t.Store.MarkLost(t.Ctx, kit.Tenant, "web-1", "n1 is still gone", t.Clock.Now()))
	notified, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 1000)
	t.Must(err)
	notified = slices.DeleteFunc(notified, func(n app.Notice) bool { return n.Kind != app.NoticeLost })
	if len(notified) != 2 || !notified[1].At.Equal(t.Clock.Now()) || notified[1].About != app.ClusterSubject("web-1") {
		t.Fatalf("at %v people are notified %+v", t.Clock.Now(), notified)
	}
	t.Must(t.Store.MarkFound(t.Ctx, kit.Tenant, "web-1", t.Clock.Now()))
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if l := lost(); len(l) != 0 || c.Status != app.ClusterActive || c.Message != "" {
		t.Fatalf("healed: %+v, lost %+v", c, l)
	}
	mark := func(tenant string, lost, found []string, now time.Time, want int) {
		t.Helper()
		if newly, err := t.Store.MarkNodes(t.Ctx, tenant, "web-1", lost, found, now); err != nil || newly != want {
			t.Fatalf("%d nodes are newly lost, want %d (%v)", newly, want, err)
		}
	}
	mark(kit.Tenant, []string{"n1"}, nil, t.Clock.Now(), 1)
	mark("another", nil, []string{"n1"}, t.Clock.Now(), 0)
	mark(kit.Tenant, []string{"n1"}, nil, t.Clock.Now().Add(time.Hour), 0)
	if nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1"); err != nil || !nodes[0].Lost() || !nodes[0].LostAt.Equal(t.Clock.Now()) {
		t.Fatalf("lost since %v, not since it was first said (%v)", nodes[0].LostAt, err)
	}
	mark(kit.Tenant, nil, []string{"n1"}, t.Clock.Now(), 0)
	if nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1"); err != nil || nodes[0].Lost() {
		t.Fatalf("found, it is lost since %v (%v)", nodes[0].LostAt, err)
	}
	t.Must(t.Store.MarkLost(t.Ctx, kit.Tenant, "web-1", "n1 is gone", t.Clock.Now()))
	if l := lost(); len(l) != 1 {
		t.Fatalf("what has only lost machines counts as failed: %+v", l)
	}
	_, err = t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Operation: app.Operation{Tenant: kit.Tenant, Cluster: "web-1", Kind: app.OperationDelete,
		PlanHash: "h", Requester: "ada", CreatedAt: time.Now()}, Plan: apptest.Remove(1)})
	t.Must(err)
	t.Must(t.Store.MarkFound(t.Ctx, kit.Tenant, "web-1", t.Clock.Now()))
	if c, err = t.Store.Cluster(t.Ctx, kit.Tenant, "web-1"); err != nil || c.Status == app.ClusterActive {
		t.Fatalf("a cluster that is being deleted counts as %s (%v)", c.Status, err)
	}
}

// expects: what accounts should have is known by machine, and what has changed of it by event.
func (t *storeTest) expects() {
	t.Create("web", 2)
	have := func(provider, tenant string, clusters []string) (list []string) {
		t.Must(t.Store.ExpectedMachines(t.Ctx, provider, tenant, clusters, func(m fleet.ExpectedMachine) error {
			list = append(list, fmt.Sprintf("%s %s %s lost=%v marked=%v", m.Tenant, m.Cluster, m.Status, m.Lost, m.Marked))
			return nil
		}))
		slices.Sort(list)
		return list
	}
	same := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %q, want %q", what, got, want)
		}
	}
	changed := func(after int64) ([]string, int64) {
		clusters, latest, err := t.Store.ClustersChanged(t.Ctx, after)
		t.Must(err)
		return clusters, latest
	}
	same("while an operation runs", have(kit.Cloud, "", nil))
	_, at := changed(-1)
	t.CarryOut("")
	clusters, at := changed(at)
	same("changed", clusters, "web-1")
	clusters, _ = changed(at)
	same("since then", clusters)
	well := kit.Tenant + " web-1 active lost=false marked=false"
	same("of the account", have(kit.Cloud, "", nil), well, well)
	same("of a tenant", have(kit.Cloud, kit.Tenant, nil), well, well)
	same("of another tenant", have(kit.Cloud, "other", nil))
	same("of another account", have("elsewhere", "", nil))
	same("of a cluster", have(kit.Cloud, "", []string{"nothing", "web-1"}), well, well)
	same("of no cluster", have(kit.Cloud, "", []string{}))
	_, err := t.Store.MarkNodes(t.Ctx, kit.Tenant, "web-1", []string{"n2"}, nil, t.Clock.Now())
	t.Must(err)
	clusters, at = changed(at)
	same("with a lost node", clusters, "web-1")
	t.Must(t.Store.MarkLost(t.Ctx, kit.Tenant, "web-1", "n2 is gone", t.Clock.Now()))
	clusters, at = changed(at)
	same("marked", clusters, "web-1")
	same("of the marked one", have(kit.Cloud, "", nil), kit.Tenant+" web-1 failed lost=false marked=true", kit.Tenant+" web-1 failed lost=true marked=true")
	t.Must(t.Store.MarkFound(t.Ctx, kit.Tenant, "web-1", t.Clock.Now()))
	clusters, _ = changed(at)
	same("found", clusters, "web-1")
	same("of the one that was found", have(kit.Cloud, "", nil), well, well)
}
