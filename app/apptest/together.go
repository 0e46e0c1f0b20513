package apptest

import (
	"fmt"

	"muster/app"
)

// toMake: by kind, only what is still to be made, and none that a pool has promised.
func (t *storeTest) toMake() {
	p := t.newPool(1)
	p.fill(1)
	n := NewCluster(tenant, "web", 4, t.clock.Now(), Chain(4))
	n.Nodes[2].Node.Hardware, n.Nodes[3].Node.Zone = "large", "there"
	_, err := t.s.CreateCluster(t.ctx, n)
	t.must(err)
	ops, err := t.s.Operations(t.ctx, tenant, "web-1")
	t.must(err)
	is := func(when, want string, standing int) {
		t.Helper()
		kinds, n, err := t.s.ToMake(t.ctx, tenant, ops[0].ID)
		t.must(err)
		if got := fmt.Sprint(kinds); got != want || n != standing {
			t.Errorf("%s: %s and %d standing, want %s and %d", when, got, n, want, standing)
		}
	}
	// n1 is promised a machine of the pool.
	is("in the beginning", "[{large host here 1} {small host here 1} {small host there 1}]", 0)
	var made []*app.ClaimedStep
	for range 4 {
		c := t.claim("w")
		if c.Step.Action != app.ActionCreate {
			t.Fatalf("claimed %s", c.Step.ID)
		}
		made = append(made, c)
	}
	is("while they are made", "[{large host here 1} {small host here 1} {small host there 1}]", 1)
	for _, c := range made {
		if c.Node.Name == "n2" {
			t.finish(c, false)
		}
	}
	is("after n2 was made", "[{large host here 1} {small host there 1}]", 2)
	if kinds, n, err := t.s.ToMake(t.ctx, "another", ops[0].ID); err != nil || len(kinds) != 0 || n != 0 {
		t.Errorf("another tenant: %v, %d, %v", kinds, n, err)
	}
	o := NewCluster(tenant, "few", 3, t.clock.Now(), Chain(3))
	o.Operation.Operation.OnFailure = app.FailureGoOn
	_, err = t.s.CreateCluster(t.ctx, o)
	t.must(err)
	ops, err = t.s.Operations(t.ctx, tenant, "few-1")
	t.must(err)
	is("of one that goes on with what comes", "[]", 0)
}
