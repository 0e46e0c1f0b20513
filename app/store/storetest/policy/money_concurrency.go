package policy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
)

// watch looks at a moment of the database again and again, and tells when a limit does not hold.
func (t *moneyTest) watch(stop <-chan struct{}, over func([]policy.Reservation) string) (looks *int, wait func()) {
	looks = new(int)
	var all sync.WaitGroup
	all.Go(func() {
		s := t.Servers[len(t.Servers)-1]
		for {
			list, err := s.Reservations(context.Background(), kit.Tenant)
			if err != nil {
				t.Error(err)
				return
			}
			*looks++
			if what := over(list); what != "" {
				t.Errorf("at a moment: %s", what)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	return looks, all.Wait
}

func sumNodes(list []policy.Reservation) (n int) {
	for _, r := range list {
		n += r.Nodes
	}
	return n
}

// crowd lets 200 people ask at the same time at all servers, and returns how many got what they wanted.
func (t *moneyTest) crowd(nodes func(i int) int) (accepted int) {
	var all sync.WaitGroup
	var got atomic.Int64
	for i := range 200 {
		all.Go(func() {
			_, err := t.ask(t.Servers[i%len(t.Servers)], fmt.Sprintf("c%d", i), fmt.Sprintf("u%d", i%7), nodes(i))
			switch {
			case err == nil:
				got.Add(1)
			case app.CodeOf(err) != app.EQuota:
				t.Error(err)
			}
		})
	}
	all.Wait()
	return int(got.Load())
}

func (t *moneyTest) oversubscribe() {
	t.limit(policy.QuotaTenant, "", policy.MeasureNodes, 50)
	stop := make(chan struct{})
	looks, wait := t.watch(stop, func(list []policy.Reservation) string {
		if n := sumNodes(list); n > 50 {
			return fmt.Sprintf("%d nodes of 50", n)
		}
		return ""
	})
	accepted := t.crowd(func(i int) int { return 1 + i%3 })
	close(stop)
	wait()
	list, err := t.Store.Reservations(t.Ctx, kit.Tenant)
	t.Must(err)
	n := sumNodes(list)
	t.Logf("%d of 200 were accepted with %d of 50 nodes, on %d servers; looked at %d times meanwhile", accepted, n, len(t.Servers), *looks)
	// Someone who wanted one node was among those who were refused, so nothing can be left.
	if n != 50 || accepted != len(list) {
		t.Errorf("%d nodes are taken of 50, by %d clusters of which %d were accepted", n, len(list), accepted)
	}
}

func (t *moneyTest) oversubscribeMoney() {
	t.limit(policy.QuotaTenant, "", policy.MeasurePerHour, 12)
	t.limit(policy.QuotaEachUser, "", policy.MeasurePerMonth, 48)
	t.crowd(func(int) int { return 1 })
	list, err := t.Store.Reservations(t.Ctx, kit.Tenant)
	t.Must(err)
	sum, of := 0.0, map[string]float64{}
	for _, r := range list {
		sum += r.CostPerHour
		of[r.Owner] += 24 * r.CostPerHour
	}
	if sum != 12 {
		t.Errorf("%g per hour are taken of 12", sum)
	}
	for owner, cost := range of {
		if cost > 48 {
			t.Errorf("%s has committed %g of 48", owner, cost)
		}
	}
}

// storm mixes creates, deletes, failures and rollbacks of many people; at every moment each limit holds, and at the end
// nothing is held by what is gone.
func (t *moneyTest) storm() {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const maxNodes, maxOfGroup, maxClusters = 24, 12, 5
	t.limit(policy.QuotaTenant, "", policy.MeasureNodes, maxNodes)
	t.limit(policy.QuotaGroup, "data", policy.MeasureNodes, maxOfGroup)
	t.limit(policy.QuotaEachUser, "", policy.MeasureClusters, maxClusters)
	stop := make(chan struct{})
	_, wait := t.watch(stop, func(list []policy.Reservation) string {
		ofGroup, ofUser := 0, map[string]int{}
		for _, r := range list {
			if r.Owner < "u3" { // those who are in the group
				ofGroup += r.Nodes
			}
			if ofUser[r.Owner]++; ofUser[r.Owner] > maxClusters {
				return "too many clusters of " + r.Owner
			}
		}
		if sumNodes(list) > maxNodes || ofGroup > maxOfGroup {
			return fmt.Sprintf("%d nodes, %d of the group", sumNodes(list), ofGroup)
		}
		return ""
	})
	var people sync.WaitGroup
	var accepted, refused, deleted atomic.Int64
	for p := range 6 {
		people.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(p)))
			owner := fmt.Sprintf("u%d", p)
			var groups []string
			if p < 3 {
				groups = []string{"data", "web"}
			}
			w := app.WorkerID{Tenant: kit.Tenant, Name: owner}
			s := t.Servers[p%len(t.Servers)]
			sizes := map[string]int{}
			for i := range 60 {
				switch random.IntN(4) {
				case 0, 1:
					name := fmt.Sprintf("%sx%d", owner, i)
					nodes := 1 + random.IntN(5)
					_, err := t.ask(s, name, owner, nodes, groups...)
					switch {
					case err == nil:
						accepted.Add(1)
						sizes[name+"-1"] = nodes
					case app.CodeOf(err) == app.EQuota:
						refused.Add(1)
					default:
						t.Error(err)
					}
				case 2:
					for id, nodes := range sizes {
						_, err := s.SubmitOperation(t.Ctx, cluster.NewOperation{Operation: app.Operation{Tenant: kit.Tenant, Cluster: id, Kind: app.OperationDelete,
							Requester: owner, CreatedAt: t.Clock.Now()}, Plan: apptest.Remove(nodes), Cancel: true})
						if err != nil {
							t.Error(err)
						}
						delete(sizes, id)
						deleted.Add(1)
						break
					}
				case 3: // some work, part of which fails
					cs, err := s.ClaimSteps(t.Ctx, execution.ClaimQuery{Worker: w, Now: t.Clock.Now(), For: execution.ClaimFor, Most: 8})
					if err != nil {
						t.Error(err)
					}
					for _, c := range cs {
						f := execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now()}
						switch {
						case c.Step.Action == app.ActionDelete:
							f.Node = &execution.NodeUpdate{Status: app.NodeDeleted, Deleted: true}
						case random.IntN(5) == 0:
							f.Err = &app.Error{Code: app.EScript, Message: "it broke"}
						case c.Step.Action == app.ActionCreate:
							f.Node = &execution.NodeUpdate{Status: app.NodeCreated, Machine: &family.Machine{ID: "m-" + c.Node.Name}}
						}
						if _, err := s.FinishSteps(t.Ctx, w, []execution.Finish{f}); err != nil {
							t.Error(err)
						}
					}
				}
			}
		})
	}
	people.Wait()
	close(stop)
	wait()
	t.Logf("%d accepted, %d refused, %d deleted", accepted.Load(), refused.Load(), deleted.Load())
	if accepted.Load() == 0 || refused.Load() == 0 || deleted.Load() == 0 {
		t.Error("not everything was tried")
	}
	live, err := t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{Limit: 1000})
	t.Must(err)
	for _, c := range live {
		_, err := t.Store.SubmitOperation(t.Ctx, cluster.NewOperation{Operation: app.Operation{Tenant: kit.Tenant, Cluster: c.ID, Kind: app.OperationDelete,
			Requester: "ada", CreatedAt: t.Clock.Now()}, Plan: apptest.Remove(c.Size), Cancel: true})
		t.Must(err)
	}
	t.Must(t.endAll())
	left, err := t.Store.Reservations(t.Ctx, kit.Tenant)
	t.Must(err)
	live, err = t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{Limit: 1000})
	t.Must(err)
	if len(left) != 0 || len(live) != 0 {
		t.Errorf("%d reservations are left of %d clusters that live", len(left), len(live))
	}
}

// endAll carries out all there is, claims of people who have gone home included.
func (t *moneyTest) endAll() error {
	if _, err := t.Store.ReleaseClaims(t.Ctx, "u", t.Clock.Now()); err != nil {
		return err
	}
	for range 10 {
		t.Drain()
		if _, err := t.Store.SweepSteps(t.Ctx, t.Clock.Now()); err != nil {
			return err
		}
	}
	return nil
}
