package apptest

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
)

const cloud = "cloud" // the provider of every cluster of the suite

func (t *storeTest) intents() map[string]app.LiveIntent {
	t.Helper()
	live, err := t.s.IntentsOf(t.ctx, cloud)
	t.must(err)
	return live
}

// fails ends an attempt, as one that is to be tried again.
func (t *storeTest) fails(c *app.ClaimedStep, unasked bool) {
	t.Helper()
	_, err := t.end(c.Step.Worker, app.Finish{Fence: fence(c), Now: t.clock.Now(), Err: &app.Error{Code: app.ETransient, Message: "not now"},
		Retry: app.Retry{Again: true}, Unasked: unasked})
	t.must(err)
}

// asked: a create is told whether an attempt before it may have asked for the machine.
func (t *storeTest) asked() {
	t.create("web", 1)
	c := t.claim("w")
	if !c.Unasked || c.Intent == "" {
		t.Fatalf("the first attempt: unasked %v, intent %q", c.Unasked, c.Intent)
	}
	intent := c.Intent
	t.fails(c, true)
	if c = t.claim("w"); !c.Unasked {
		t.Fatal("an attempt that asked for nothing counts")
	}
	t.fails(c, false)
	for range 2 {
		if c = t.claim("w"); c.Unasked || c.Intent != intent {
			t.Fatalf("after an unclear answer: unasked %v, intent %q, want %q", c.Unasked, c.Intent, intent)
		}
		t.fails(c, true)
	}
	c = t.claim("w")
	t.clock.Move(2 * execution.ClaimFor)
	_, err := t.s.SweepSteps(t.ctx, t.clock.Now())
	t.must(err)
	if c = t.claim("w2"); c == nil || c.Unasked {
		t.Fatalf("after a worker that died: %+v", c)
	}
	if live := t.intents(); len(live) != 1 || live[intent].Node != "n1" || live[intent].Machine != "" || live[intent].Over {
		t.Fatalf("live intents: %+v", live)
	}
}

// receipts: what was made for a cluster is kept from the answer that named it until it is proven gone.
func (t *storeTest) receipts() {
	t.create("web", 1)
	c := t.claim("w")
	made := t.clock.Now().Add(-time.Second)
	seen := []app.Seen{{Kind: fleet.ResourceMachine, ID: "m-n1", Zone: "a", Price: 0.5, MadeAt: made},
		{Kind: fleet.ResourceMachine, ID: "twin", Price: 0.5, Gone: true}}
	_, err := t.end("w", app.Finish{Fence: fence(c), Now: t.clock.Now(), Seen: seen,
		Node: &app.NodeUpdate{Status: app.NodeCreated, Machine: &app.Machine{ID: "m-n1"}}})
	t.must(err)
	all, err := t.s.Resources(t.ctx, tenant, "web-1")
	t.must(err)
	if len(all) != 2 || all[0].ID != "m-n1" || !all[0].MadeAt.Equal(made) || all[0].Zone != "a" || all[0].Price != 0.5 || !all[0].GoneAt.IsZero() ||
		all[0].Provider != cloud || all[0].Node != "n1" || all[0].Intent != c.Intent || all[1].GoneAt.IsZero() {
		t.Fatalf("resources: %+v", all)
	}
	if other, err := t.s.Resources(t.ctx, "other", "web-1"); err != nil || len(other) != 0 {
		t.Fatalf("another tenant sees %+v (%v)", other, err)
	}
	t.drain()
	_, err = t.s.SubmitOperation(t.ctx, app.NewOperation{Operation: app.Operation{Tenant: tenant, Cluster: "web-1", Kind: app.OperationDelete,
		PlanHash: "h", Requester: "ada", CreatedAt: t.clock.Now()}, Plan: Remove(1)})
	t.must(err)
	t.clock.Move(time.Hour)
	t.drain()
	all, err = t.s.Resources(t.ctx, tenant, "web-1")
	t.must(err)
	if !all[0].GoneAt.Equal(t.clock.Now()) || all[1].GoneAt.Equal(t.clock.Now()) {
		t.Fatalf("after the delete: %+v", all)
	}
	left, err := t.s.Unproven(t.ctx, 10)
	t.must(err)
	if len(left) != 1 || left[0].ID != "web-1" {
		t.Fatalf("unproven: %+v", left)
	}
	t.must(t.s.SetProof(t.ctx, tenant, "web-1", app.Proof{How: "no answer"}, t.clock.Now()))
	if p, err := t.s.Proof(t.ctx, tenant, "web-1"); err != nil || !p.At.IsZero() || p.How != "no answer" || !p.CheckedAt.Equal(t.clock.Now()) {
		t.Fatalf("no proof yet: %+v (%v)", p, err)
	}
	t.must(t.s.NoteResources(t.ctx, cloud, c.Intent, t.clock.Now(), []app.Seen{{Kind: fleet.ResourceMachine, ID: "late"}}))
	t.must(t.s.SetProof(t.ctx, tenant, "web-1", app.Proof{At: t.clock.Now(), How: "a list"}, t.clock.Now()))
	t.must(t.s.SetProof(t.ctx, tenant, "web-1", app.Proof{How: "too late"}, t.clock.Now()))
	p, err := t.s.Proof(t.ctx, tenant, "web-1")
	t.must(err)
	if left, err = t.s.Unproven(t.ctx, 10); err != nil || len(left) != 0 || p.How != "a list" || !p.At.Equal(t.clock.Now()) {
		t.Fatalf("proven: %+v, left %+v (%v)", p, left, err)
	}
	all, err = t.s.Resources(t.ctx, tenant, "web-1")
	t.must(err)
	if slices.ContainsFunc(all, func(r app.Resource) bool { return r.GoneAt.IsZero() }) || len(all) != 3 {
		t.Fatalf("a proof leaves %+v", all)
	}
	if ended, known, err := t.s.IntentKnown(t.ctx, cloud, c.Intent); err != nil || !ended || !known {
		t.Fatalf("the intent has ended %v, is known %v (%v)", ended, known, err)
	}
	if _, known, err := t.s.IntentKnown(t.ctx, "elsewhere", c.Intent); err != nil || known {
		t.Fatalf("another provider knows the intent (%v)", err)
	}
}

// orphans: sightings are counted, and start anew when a machine was gone in between.
func (t *storeTest) orphans() {
	see := func(ids ...string) []app.Orphan {
		var seen []app.Orphan
		for _, id := range ids {
			seen = append(seen, app.Orphan{Machine: id, Tenant: tenant, Cluster: "c", Node: "n1", Kind: app.OrphanEnded, Price: 0.5, MadeAt: t.clock.Now().Add(-time.Hour)})
		}
		t.clock.Move(time.Minute)
		list, err := t.s.SeeOrphans(t.ctx, cloud, t.clock.Now(), seen)
		t.must(err)
		return list
	}
	first := see("a", "b")
	list := see("a", "b")
	if len(first) != 2 || len(list) != 2 || list[0].Sightings != 2 || !list[0].FirstSeen.Equal(first[0].FirstSeen) || !list[0].LastSeen.Equal(t.clock.Now()) ||
		list[0].Price != 0.5 || list[0].ID != fleet.OrphanID(cloud, list[0].Machine) {
		t.Fatalf("seen twice: %+v", list)
	}
	id := fleet.OrphanID(cloud, "a")
	who := app.Actor{Tenant: tenant, User: "ada", Role: app.RoleAdmin}
	_, err := t.s.DecideOrphan(t.ctx, "other", id, app.DecideDelete, who, t.clock.Now())
	t.code(err, app.ENotFound)
	o, err := t.s.DecideOrphan(t.ctx, tenant, id, app.DecideDelete, who, t.clock.Now())
	t.must(err)
	if names, err := t.s.OrderedAccounts(t.ctx); err != nil || !slices.Equal(names, []string{cloud}) || o.Decided != "ada" {
		t.Fatalf("ordered in %v (%v): %+v", names, err, o)
	}
	t.must(t.s.OrphanDeleted(t.ctx, id, t.clock.Now(), "it does not go"))
	if names, err := t.s.OrderedAccounts(t.ctx); err != nil || len(names) != 0 {
		t.Fatalf("tried already, but still ordered in %v (%v)", names, err)
	}
	t.must(t.s.OrphanDeleted(t.ctx, id, t.clock.Now(), ""))
	_, err = t.s.DecideOrphan(t.ctx, tenant, id, app.DecideKeep, who, t.clock.Now())
	t.code(err, app.EConflict)
	if list = see("a"); len(list) != 1 || list[0].Sightings != 1 || list[0].Decision != "" || list[0].Error != "" {
		t.Fatalf("seen again after it was gone: %+v", list)
	}
	stand, err := t.s.Orphans(t.ctx, tenant, false)
	t.must(err)
	all, err := t.s.Orphans(t.ctx, "", true)
	t.must(err)
	other, err := t.s.Orphans(t.ctx, "other", true)
	t.must(err)
	if len(stand) != 1 || len(all) != 2 || len(other) != 0 {
		t.Fatalf("%d stand, %d in all, %d of another tenant", len(stand), len(all), len(other))
	}
	t.clock.Move(31 * 24 * time.Hour)
	see("a")
	if all, err = t.s.Orphans(t.ctx, "", true); err != nil || len(all) != 1 {
		t.Fatalf("after a month: %+v (%v)", all, err)
	}
	if m, err := t.s.OrphanMode(t.ctx); err != nil || m != app.OrphansDelete {
		t.Fatalf("mode %q (%v)", m, err)
	}
	for _, m := range fleet.OrphanModes {
		t.must(t.s.SetOrphanMode(t.ctx, m, who, t.clock.Now()))
	}
	t.must(t.s.SetOrphanMode(t.ctx, app.OrphansReport, who, t.clock.Now()))
	if m, err := t.s.OrphanMode(t.ctx); err != nil || m != app.OrphansReport {
		t.Fatalf("mode %q (%v)", m, err)
	}
}

// accounts: servers take turns.
func (t *storeTest) accounts() {
	hold := func(who string, want bool) {
		t.Helper()
		held, err := t.s.HoldAccount(t.ctx, cloud, who, t.clock.Now(), time.Minute)
		t.must(err)
		if held != want {
			t.Fatalf("%s holds the account: %v, want %v", who, held, want)
		}
	}
	hold("one", true)
	hold("one", true)
	hold("two", false)
	t.must(t.s.EndPass(t.ctx, "two", app.Account{Provider: cloud, Machines: 9}))
	hold("two", false)
	t.must(t.s.EndPass(t.ctx, "one", app.Account{Provider: cloud, Machines: 7, Orphans: 3, Deleted: 2, HeldBack: 1, Lost: 4, Error: "x", EndedAt: t.clock.Now()}))
	all, err := t.s.Accounts(t.ctx)
	t.must(err)
	if len(all) != 1 || all[0].Machines != 7 || all[0].Orphans != 3 || all[0].Deleted != 2 || all[0].HeldBack != 1 || all[0].Lost != 4 || all[0].Error != "x" ||
		!all[0].EndedAt.Equal(t.clock.Now()) {
		t.Fatalf("accounts: %+v", all)
	}
	hold("two", true)
	t.clock.Move(2 * time.Minute)
	hold("one", true)
	t.clock.Move(-48 * time.Hour)
	hold("two", true)

	// A tenant's own account is listed for as long as there is the tenant.
	root := app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin}
	for _, name := range []string{"closing", "closing-2"} {
		t.must(t.s.CreateTenant(t.ctx, root, app.Tenant{Name: name, CreatedAt: t.clock.Now(), CreatedBy: "root"}, nil))
		_, err := t.s.HoldAccount(t.ctx, app.AccountName(name, "cloud"), "one", t.clock.Now(), time.Minute)
		t.must(err)
	}
	names := func() (out []string) {
		all, err := t.s.Accounts(t.ctx)
		t.must(err)
		for _, a := range all {
			out = append(out, a.Provider)
		}
		return out
	}
	if got := names(); !slices.Equal(got, []string{"closing-2/cloud", "closing/cloud", cloud}) && !slices.Equal(got, []string{"closing/cloud", "closing-2/cloud", cloud}) {
		t.Fatalf("accounts: %v", got)
	}
	t.must(t.s.DeleteTenant(t.ctx, root, "closing", t.clock.Now()))
	if got := names(); !slices.Equal(got, []string{"closing-2/cloud", cloud}) {
		t.Fatalf("accounts without the tenant closing: %v", got)
	}
}

// lost: a cluster that lost machines heals, unless something was done to it.
func (t *storeTest) lost() {
	t.create("web", 1)
	t.drain()
	t.must(t.s.MarkLost(t.ctx, tenant, "web-1", "n1 is gone", t.clock.Now()))
	lost := func() []app.ComparedCluster {
		all, err := t.s.ComparedClusters(t.ctx, []string{"web-1", "nothing"})
		t.must(err)
		return slices.DeleteFunc(all, func(c app.ComparedCluster) bool { return !c.Lost })
	}
	if l := lost(); len(l) != 1 || l[0].Status != app.ClusterFailed || l[0].Message != "n1 is gone" || len(l[0].Nodes) != 1 || l[0].Nodes[0].MachineID == "" {
		t.Fatalf("lost: %+v", l)
	}
	t.must(t.s.MarkLost(t.ctx, tenant, "web-1", "n1 is still gone", t.clock.Now()))
	told, err := t.s.Notices(t.ctx, tenant, 0, 1000)
	t.must(err)
	told = slices.DeleteFunc(told, func(n app.Notice) bool { return n.Kind != app.NoticeLost })
	if len(told) != 2 || !told[1].At.Equal(t.clock.Now()) || told[1].About != app.ClusterSubject("web-1") {
		t.Fatalf("at %v people are told %+v", t.clock.Now(), told)
	}
	t.must(t.s.MarkFound(t.ctx, tenant, "web-1", t.clock.Now()))
	c, err := t.s.Cluster(t.ctx, tenant, "web-1")
	t.must(err)
	if l := lost(); len(l) != 0 || c.Status != app.ClusterActive || c.Message != "" {
		t.Fatalf("healed: %+v, lost %+v", c, l)
	}
	mark := func(tenant string, lost, found []string, now time.Time, want int) {
		t.Helper()
		if newly, err := t.s.MarkNodes(t.ctx, tenant, "web-1", lost, found, now); err != nil || newly != want {
			t.Fatalf("%d nodes are newly lost, want %d (%v)", newly, want, err)
		}
	}
	mark(tenant, []string{"n1"}, nil, t.clock.Now(), 1)
	mark("another", nil, []string{"n1"}, t.clock.Now(), 0)
	mark(tenant, []string{"n1"}, nil, t.clock.Now().Add(time.Hour), 0)
	if nodes, err := t.s.Nodes(t.ctx, tenant, "web-1"); err != nil || !nodes[0].Lost() || !nodes[0].LostAt.Equal(t.clock.Now()) {
		t.Fatalf("lost since %v, not since it was first said (%v)", nodes[0].LostAt, err)
	}
	mark(tenant, nil, []string{"n1"}, t.clock.Now(), 0)
	if nodes, err := t.s.Nodes(t.ctx, tenant, "web-1"); err != nil || nodes[0].Lost() {
		t.Fatalf("found, it is lost since %v (%v)", nodes[0].LostAt, err)
	}
	t.must(t.s.MarkLost(t.ctx, tenant, "web-1", "n1 is gone", t.clock.Now()))
	if l := lost(); len(l) != 1 {
		t.Fatalf("what has only lost machines counts as failed: %+v", l)
	}
	_, err = t.s.SubmitOperation(t.ctx, app.NewOperation{Operation: app.Operation{Tenant: tenant, Cluster: "web-1", Kind: app.OperationDelete,
		PlanHash: "h", Requester: "ada", CreatedAt: time.Now()}, Plan: Remove(1)})
	t.must(err)
	t.must(t.s.MarkFound(t.ctx, tenant, "web-1", t.clock.Now()))
	if c, err = t.s.Cluster(t.ctx, tenant, "web-1"); err != nil || c.Status == app.ClusterActive {
		t.Fatalf("a cluster that is being deleted counts as %s (%v)", c.Status, err)
	}
}

// expects: what accounts should have is known by machine, and what has changed of it by event.
func (t *storeTest) expects() {
	t.create("web", 2)
	have := func(provider, tenant string, clusters []string) (list []string) {
		t.must(t.s.ExpectedMachines(t.ctx, provider, tenant, clusters, func(m app.ExpectedMachine) error {
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
		clusters, latest, err := t.s.ClustersChanged(t.ctx, after)
		t.must(err)
		return clusters, latest
	}
	same("while an operation runs", have(cloud, "", nil))
	_, at := changed(-1)
	t.carryOut("")
	clusters, at := changed(at)
	same("changed", clusters, "web-1")
	clusters, _ = changed(at)
	same("since then", clusters)
	well := tenant + " web-1 active lost=false marked=false"
	same("of the account", have(cloud, "", nil), well, well)
	same("of a tenant", have(cloud, tenant, nil), well, well)
	same("of another tenant", have(cloud, "other", nil))
	same("of another account", have("elsewhere", "", nil))
	same("of a cluster", have(cloud, "", []string{"nothing", "web-1"}), well, well)
	same("of no cluster", have(cloud, "", []string{}))
	_, err := t.s.MarkNodes(t.ctx, tenant, "web-1", []string{"n2"}, nil, t.clock.Now())
	t.must(err)
	clusters, at = changed(at)
	same("with a lost node", clusters, "web-1")
	t.must(t.s.MarkLost(t.ctx, tenant, "web-1", "n2 is gone", t.clock.Now()))
	clusters, at = changed(at)
	same("marked", clusters, "web-1")
	same("of the marked one", have(cloud, "", nil), tenant+" web-1 failed lost=false marked=true", tenant+" web-1 failed lost=true marked=true")
	t.must(t.s.MarkFound(t.ctx, tenant, "web-1", t.clock.Now()))
	clusters, _ = changed(at)
	same("found", clusters, "web-1")
	same("of the one that was found", have(cloud, "", nil), well, well)
}
