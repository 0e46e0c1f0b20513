package pool

import (
	"fmt"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/store/storetest/kit"
)

// pendingCreates: by kind, only what is still to be made, and none that a pool has promised.
func (t *storeTest) pendingCreates() {
	p := t.newPool(1)
	p.fill(1)
	n := apptest.NewCluster(kit.Tenant, "web", 4, t.Clock.Now(), apptest.Chain(4))
	n.Nodes[2].Node.Hardware, n.Nodes[3].Node.Zone = "large", "there"
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	ops, err := t.Store.Operations(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	is := func(when, want string, standing int) {
		t.Helper()
		kinds, n, err := t.Store.MachinesToCreate(t.Ctx, kit.Tenant, ops[0].ID)
		t.Must(err)
		if got := fmt.Sprint(kinds); got != want || n != standing {
			t.Errorf("%s: %s and %d standing, want %s and %d", when, got, n, want, standing)
		}
	}
	// n1 is promised a machine of the pool.
	is("in the beginning", "[{large host here 1} {small host here 1} {small host there 1}]", 0)
	var made []*execution.ClaimedStep
	for range 4 {
		c := t.Claim("w")
		if c.Step.Action != app.ActionCreate {
			t.Fatalf("claimed %s", c.Step.ID)
		}
		made = append(made, c)
	}
	is("while they are made", "[{large host here 1} {small host here 1} {small host there 1}]", 1)
	for _, c := range made {
		if c.Node.Name == "n2" {
			t.Finish(c, false)
		}
	}
	is("after n2 was made", "[{large host here 1} {small host there 1}]", 2)
	if kinds, n, err := t.Store.MachinesToCreate(t.Ctx, "another", ops[0].ID); err != nil || len(kinds) != 0 || n != 0 {
		t.Errorf("another tenant: %v, %d, %v", kinds, n, err)
	}
	o := apptest.NewCluster(kit.Tenant, "few", 3, t.Clock.Now(), apptest.Chain(3))
	o.Operation.Operation.OnFailure = app.FailureAcceptPartial
	_, err = t.Store.CreateCluster(t.Ctx, o)
	t.Must(err)
	ops, err = t.Store.Operations(t.Ctx, kit.Tenant, "few-1")
	t.Must(err)
	is("of one that accepts what comes", "[]", 0)
}
