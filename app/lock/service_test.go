package lock_test

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/lock"
)

// A lock keeps everyone but admins from what changes or enters a cluster, and no one from seeing it.
func TestALockKeepsAllButAdminsOut(t *testing.T) {
	b := harness.New(t)
	n := apptest.NewCluster(app.DefaultTenant, "web", 2, b.Clock.Now(), apptest.Chain(2))
	for i := range n.Nodes {
		n.Nodes[i].Node.Status = app.NodeReady
	}
	if _, err := b.Store.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	ada, abe := b.Actor("ada", app.RoleUser), b.Actor("abe", app.RoleAdmin)
	locks, id := b.Services.Cluster.Locks, n.Cluster.ID
	tries := map[string]func(a app.Actor) error{
		"terminal":   func(a app.Actor) error { return b.Services.NodeAccess.CheckSSHStream(t.Context(), a, id, "n2") },
		"other node": func(a app.Actor) error { return b.Services.NodeAccess.CheckSSHStream(t.Context(), a, id, "n1") },
		"certificate": func(a app.Actor) error {
			_, err := b.Services.SSHAccess.ClusterCertificate(t.Context(), a, id, "ssh-ed25519 AAAA", 0)
			return err
		},
		"key": func(a app.Actor) error { _, _, err := b.Services.SSHAccess.ClusterKey(t.Context(), a, id); return err },
		"rename": func(a app.Actor) error {
			_, err := b.Services.Ownership.RenameCluster(t.Context(), a, id, "web")
			return err
		},
		"command": func(a app.Actor) error {
			_, err := b.Services.Run.Actions(t.Context(), a, id)
			return err
		},
	}
	check := func(when string, a app.Actor, refused ...string) {
		t.Helper()
		for name, try := range tries {
			e := app.AsError(try(a)) // what isn't refused may not be possible here: there are no machines
			if is := e.Reason == app.Locked; is != slices.Contains(refused, name) || is && (e.Code != app.EForbidden || !strings.Contains(e.Message, "odd logins")) {
				t.Errorf("%s, %s by %s: %v", when, name, a.User, e)
			}
		}
		if v, err := b.Services.Cluster.Views.Cluster(t.Context(), a, id); err != nil || v.ID != id {
			t.Errorf("%s, %s doesn't see it: %v", when, a.User, err)
		}
	}
	check("at first", ada)
	if err := locks.LockCluster(t.Context(), abe, id, lock.Ask{Node: "n2", Reason: " odd logins "}); err != nil {
		t.Fatal(err)
	}
	check("a node is locked", ada, "terminal", "certificate", "key")
	check("a node is locked", abe)
	if err := locks.LockCluster(t.Context(), abe, id, lock.Ask{Reason: "odd logins"}); err != nil {
		t.Fatal(err)
	}
	check("the cluster is locked", ada, "terminal", "other node", "certificate", "key", "rename", "command")
	check("the cluster is locked", abe)
	for _, node := range []string{"", "n2"} {
		if err := locks.UnlockCluster(t.Context(), ada, id, node); app.CodeOf(err) != app.EForbidden {
			t.Errorf("its owner unlocks %q: %v", node, err)
		}
		if err := locks.UnlockCluster(t.Context(), abe, id, node); err != nil {
			t.Fatal(err)
		}
	}
	check("unlocked", ada)

	for name, c := range map[string]struct {
		actor app.Actor
		id    string
		ask   lock.Ask
		code  app.Code
	}{
		"its owner":     {ada, id, lock.Ask{Reason: "why"}, app.EForbidden},
		"an approver":   {b.Actor("eve", app.RoleApprover), id, lock.Ask{Reason: "why"}, app.EForbidden},
		"no cluster":    {abe, "nothing", lock.Ask{Reason: "why"}, app.ENotFound},
		"no node":       {abe, id, lock.Ask{Node: "n7", Reason: "why"}, app.ENotFound},
		"no such name":  {abe, id, lock.Ask{Node: "../n1", Reason: "why"}, app.ENotFound},
		"no reason":     {abe, id, lock.Ask{Reason: " \t"}, app.EInvalid},
		"a long reason": {abe, id, lock.Ask{Reason: strings.Repeat("é", lock.MaxReason+1)}, app.EInvalid},
		"two lines":     {abe, id, lock.Ask{Reason: "a\nb"}, app.EInvalid},
		"not text":      {abe, id, lock.Ask{Reason: "a\xff"}, app.EInvalid},
	} {
		if err := locks.LockCluster(t.Context(), c.actor, c.id, c.ask); app.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := locks.LockCluster(t.Context(), abe, id, lock.Ask{Reason: strings.Repeat("é", lock.MaxReason)}); err != nil {
		t.Errorf("the longest reason: %v", err)
	}
	list, err := locks.Locks(t.Context(), abe)
	if err != nil || len(list) != 1 || list[0].Cluster != id || list[0].Lock.By != "abe" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := locks.Locks(t.Context(), ada); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a user lists locks: %v", err)
	}
}
