package operation

import (
	"muster/app"
	"muster/app/lock"
	"muster/app/store/storetest/kit"
)

// keptStaysLocked: the machine of a locked node stays locked when it's kept, and is locked with the cluster that it was in, whose key opens it.
func (t *storeTest) keptStaysLocked() {
	who := app.Actor{Tenant: kit.Tenant, User: "abe", Role: app.RoleAdmin}
	set := func(cluster, node, reason string) error {
		c := lock.Change{Tenant: kit.Tenant, Cluster: cluster, Node: node, Who: who, Now: t.Clock.Now()}
		if reason != "" {
			c.Lock = &app.Lock{At: t.Clock.Now(), By: "abe", Reason: reason}
		}
		return t.Store.SetLock(t.Ctx, c, lock.Most)
	}
	locked := func(cluster, node, want string) {
		t.Helper()
		l, err := t.Store.LockOn(t.Ctx, kit.Tenant, cluster, node)
		t.Must(err)
		got := ""
		if l != nil {
			got = l.Reason
		}
		if got != want {
			t.Errorf("%s %s is locked for %q, want %q", cluster, node, got, want)
		}
	}
	const kept = "web-n2-kept-7"
	t.keptN2(func() { t.Must(set("web-1", "n2", "odd logins")) })
	locked(kept, "n1", "odd logins")
	locked("web-1", "n2", "odd logins") // the machine that replaces it
	locked("web-1", "n1", "")
	locked("web-1", "", "")
	locked("nothing-1", "n1", "")
	if l, err := t.Store.LockOn(t.Ctx, "t2", "web-1", "n2"); l != nil || err != nil {
		t.Errorf("another tenant's: %v, %v", l, err)
	}
	t.Must(set(kept, "", ""))
	t.Must(set("web-1", "n2", ""))
	locked(kept, "", "")
	t.Must(set("web-1", "", "all of it"))
	locked(kept, "", "all of it")
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, kept)
	t.Must(err)
	if c.Lock == nil || c.Lock.Reason != "all of it" {
		t.Errorf("the kept machine reads %+v", c.Lock)
	}
	t.Code(set(kept, "", ""), app.EConflict) // it's the other one that is locked
	t.Must(set(kept, "", "its own"))
	t.Must(set("web-1", "", ""))
	locked(kept, "", "its own")
	t.Must(set(kept, "", ""))
	locked(kept, "", "")
}
