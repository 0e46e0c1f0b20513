package policy

import (
	"math"
	"time"

	"muster/app/apptest"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
	"muster/app/usage"
)

// commitments: leases of different ends, of two owners, one with a machine that is gone and one of a request that only waits.
func (t *moneyTest) commitments() {
	now := t.Clock.Now()
	end := now.Add(5 * 24 * time.Hour)
	make := func(name, owner string, perHour float64, until time.Time) {
		n := apptest.NewCluster(kit.Tenant, name, 1, now, apptest.Chain(1))
		n.Cluster.Owner, n.Cluster.CostPerHour, n.Cluster.ExpiresAt = owner, perHour, until
		n.Reservation = policy.ReservationOf(n.Cluster, n.Nodes, n.Definition.Hardware, nil)
		_, err := t.Store.CreateCluster(t.Ctx, n)
		t.Must(err)
	}
	make("a", "ada", 1, time.Time{})
	make("b", "ada", 2, end.Add(time.Hour))
	make("c", "ada", 4, now.Add(49*time.Hour))
	make("d", "bob", 8, now.Add(50*time.Hour))
	make("e", "bob", 16, now.Add(3*time.Hour))
	make("f", "bob", 0, now.Add(3*time.Hour))
	for _, c := range []struct {
		tenant, owner string
		at            time.Time
		perHour, cost float64
		most          int
	}{
		{kit.Tenant, "", now, 31, 3*120 + 4*49 + 8*50 + 16*3, 3},
		{"", "", now, 31, 3*120 + 4*49 + 8*50 + 16*3, 3},
		{kit.Tenant, "ada", now, 7, 3*120 + 4*49, 2},
		{kit.Tenant, "bob", now, 24, 8*50 + 16*3, 2},
		{kit.Tenant, "", now.Add(4 * time.Hour), 15, 3*116 + 4*45 + 8*46, 2},
		{kit.Tenant, "eve", now, 0, 0, 0},
		{"other", "", now, 0, 0, 0},
	} {
		list, err := t.Store.Commitments(t.Ctx, usage.CommitmentQuery{Tenant: c.tenant, Owner: c.owner, Now: c.at, End: end})
		t.Must(err)
		got := usage.ComputeForecast(list, c.at, end)
		if math.Abs(got.PerHour-c.perHour) > 1e-6 || math.Abs(got.Cost-c.cost) > 1e-3 || len(list) > c.most {
			t.Errorf("of %q in %q: %v an hour and %v in all from %v, want %v and %v", c.owner, c.tenant, got.PerHour, got.Cost, list, c.perHour, c.cost)
		}
	}
	t.gone("b-1", 1)
	list, err := t.Store.Commitments(t.Ctx, usage.CommitmentQuery{Tenant: kit.Tenant, Owner: "ada", Now: now, End: end})
	t.Must(err)
	if got := usage.ComputeForecast(list, now, end); got.PerHour != 5 {
		t.Errorf("what is gone still costs: %+v", got)
	}
}
