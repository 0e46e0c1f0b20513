package cluster

import (
	"muster/app"
	"muster/app/lock"
	"muster/app/store/storetest/kit"
)

// locks: clusters and nodes are locked and unlocked, in their own tenant only, and everyone reads it.
func (t *storeTest) locks() {
	t.Create("web", 2)
	t.Create("db", 1)
	at := t.Clock.Now()
	who := app.Actor{Tenant: kit.Tenant, User: "abe", Role: app.RoleAdmin, Via: app.ViaAPI}
	set := func(cluster, node, reason string, most int) error {
		c := lock.Change{Tenant: kit.Tenant, Cluster: cluster, Node: node, Who: who, Now: at}
		if reason != "" {
			c.Lock = &app.Lock{At: at.UTC(), By: "abe", Reason: reason}
		}
		return t.Store.SetLock(t.Ctx, c, most)
	}
	listed := func(want ...string) {
		t.Helper()
		all, err := t.Store.Locks(t.Ctx, kit.Tenant)
		t.Must(err)
		got := []string{}
		for _, i := range all {
			got = append(got, i.Name+" "+i.Node+" "+i.Lock.Reason)
		}
		if len(got) != len(want) {
			t.Errorf("locked: %q, want %q", got, want)
			return
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("locked: %q, want %q", got, want)
			}
		}
	}
	listed()
	t.Must(set("web-1", "", "", 9)) // isn't locked
	t.Code(set("nothing-1", "", "why", 9), app.ENotFound)
	t.Code(set("web-1", "n9", "why", 9), app.ENotFound)
	t.Code(t.Store.SetLock(t.Ctx, lock.Change{Tenant: "t2", Cluster: "web-1", Who: who, Now: at, Lock: &app.Lock{Reason: "why"}}, 9), app.ENotFound)
	t.Must(set("web-1", "n2", "a copy is made", 9))
	t.Must(set("web-1", "", "odd logins", 9))
	t.Must(set("web-1", "", "odd logins; ask ops", 2)) // another reason is no other lock
	t.Code(set("db-1", "", "why", 2), app.EConflict)
	listed("web  odd logins; ask ops", "web n2 a copy is made")
	v, err := t.Store.View(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	first, second := v.Nodes[0].Lock, v.Nodes[1].Lock
	if l := v.Lock; l == nil || l.By != "abe" || !l.At.Equal(at) || first != nil || second == nil || second.Reason != "a copy is made" {
		t.Errorf("the cluster reads %+v, %+v", v.Lock, v.Nodes)
	}
	if others, err := t.Store.Locks(t.Ctx, "t2"); err != nil || len(others) != 0 {
		t.Errorf("another tenant's: %+v, %v", others, err)
	}
	t.Must(set("web-1", "", "", 2))
	listed("web n2 a copy is made")
	t.Must(set("web-1", "n2", "", 2))
	listed()
	for act, want := range map[string]int{"cluster.lock": 3, "cluster.unlock": 2} {
		entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: act, Limit: 10})
		t.Must(err)
		if len(entries) != want || entries[0].Object != "web-1" || entries[0].Who != "abe" {
			t.Errorf("%s: %+v", act, entries)
		}
	}
	events, err := t.Store.Events(t.Ctx, kit.Tenant, "web-1", 0, 1000)
	t.Must(err)
	if got := events[len(events)-1]; got.Message != "abe unlocked node n2 of cluster web." {
		t.Errorf("the feed tells %+v", got)
	}
}
