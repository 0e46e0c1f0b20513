package update

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	appplan "muster/app/plan"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
)

// updatesAtRandom plays people who update a cluster, workers that fail or vanish, and a cloud, and looks at the end of each operation
// that ledger, cloud and quota tell the same.
func (t *storeTest) updatesAtRandom() {
	for seed := range uint64(4) {
		r := &randomUpdates{storeTest: t, rand: rand.New(rand.NewPCG(seed, 24)), cluster: fmt.Sprintf("web%d-1", seed), made: map[string]bool{}}
		r.play()
	}
}

type randomUpdates struct {
	*storeTest
	rand    *rand.Rand
	cluster string
	made    map[string]bool // by intent: machines that stand
	count   int
}

func (r *randomUpdates) play() {
	r.Create(strings.TrimSuffix(r.cluster, "-1"), 3)
	r.work(0)
	for range 12 {
		if r.Latest(r.cluster).Status == app.OperationSucceeded {
			r.ask()
		} else if r.rand.IntN(2) == 0 {
			r.Control(r.Latest(r.cluster).ID, app.ControlResume, "")
		} else if o := r.Latest(r.cluster); o.Kind != app.OperationRollBack {
			r.rollBack()
		}
		r.work(0.15)
		r.check()
	}
	plan := appplan.Plan{Kind: app.OperationDelete}
	nodes, err := r.Store.Nodes(r.Ctx, kit.Tenant, r.cluster)
	r.Must(err)
	for _, n := range nodes {
		if n.Status != app.NodeDeleted {
			plan.Steps = append(plan.Steps, appplan.Step{ID: n.Name + ".delete", Node: n.Name, Action: app.ActionDelete})
		}
	}
	r.Submit(app.OperationDelete, r.cluster, plan, true)
	r.work(0)
	r.Status(r.cluster, app.ClusterDeleted, app.OperationSucceeded)
	if live := r.Intents(); len(live)+len(r.made) > 0 {
		r.Fatalf("after the end the machines %v and the intents %v are left", r.made, live)
	}
	if all, err := r.Store.Reservations(r.Ctx, kit.Tenant); err != nil || len(all) != 0 {
		r.Fatalf("after the end %+v is reserved (%v)", all, err)
	}
}

// ask updates at random: more nodes, fewer, other machines, or nothing but work.
func (r *randomUpdates) ask() {
	nodes, err := r.Store.Nodes(r.Ctx, kit.Tenant, r.cluster)
	r.Must(err)
	c := r.Change(r.cluster)
	var ids []string
	kind := app.OperationReconfigure
	for _, n := range nodes {
		switch {
		case n.Leaving: // of a rollback that could not give it back: nothing to do with it
		case r.rand.IntN(4) == 0 && len(nodes)-len(c.Leaving) > 1:
			kind, c.Leaving = app.OperationResize, append(c.Leaving, n.Name)
			ids = append(ids, n.Name+".a.stop", n.Name+".delete")
		case r.rand.IntN(4) == 0:
			kind = app.OperationRepair
			ids = append(ids, n.Name+".delete", n.Name+".create", n.Name+".confirm")
		default:
			ids = append(ids, n.Name+".a.configure")
		}
	}
	for i := range r.rand.IntN(3) {
		r.count++
		name := app.NodeName(app.NodeNumber(nodes[len(nodes)-1].Name) + 1 + i)
		kind, c.New = app.OperationResize, append(c.New, kit.NewNode(r.cluster, name, fmt.Sprintf("%s-%d", r.cluster, r.count)))
		ids = append(ids, name+".create", name+".confirm")
	}
	c.Size = len(nodes) + len(c.New) - len(c.Leaving)
	c.Reservation = policy.Reservation{Nodes: c.Size, CostPerHour: float64(c.Size)}
	p := kit.Steps(kind, ids...)
	r.Update(r.cluster, p, c)
}

// rollBack undoes the latest operation, whose machines are given back and whose nodes that are gone are made again.
func (r *randomUpdates) rollBack() {
	o := r.Latest(r.cluster)
	if o.Kind == app.OperationCreate {
		return
	}
	before, after, err := r.Store.ChangeOf(r.Ctx, kit.Tenant, o.ID)
	r.Must(err)
	done, err := r.Store.Steps(r.Ctx, kit.Tenant, o.ID)
	r.Must(err)
	begun := map[string]bool{}
	for _, s := range done {
		if s.Attempt > 0 {
			begun[s.ID] = true
		}
	}
	fresh := map[string]bool{}
	for _, n := range after.New {
		fresh[n.Node.Name] = true
	}
	nodes, err := r.Store.Nodes(r.Ctx, kit.Tenant, r.cluster)
	r.Must(err)
	var ids []string
	for _, n := range nodes {
		if begun[n.Name+".create"] || !fresh[n.Name] && n.Status == app.NodePlanned {
			ids = append(ids, n.Name+".delete")
		}
		if _, stays := before.Nodes[n.Name]; !fresh[n.Name] && (begun[n.Name+".delete"] || stays && n.Status == app.NodeDeleted) {
			if !begun[n.Name+".create"] && n.Status != app.NodeDeleted {
				ids = append(ids, n.Name+".delete") // begun, and perhaps not done
			}
			ids = append(ids, n.Name+".create", n.Name+".confirm")
		}
	}
	seen := map[string]bool{}
	ids = slices.DeleteFunc(ids, func(id string) bool { again := seen[id]; seen[id] = true; return again })
	c, p := kit.Back(before, after), kit.Steps(app.OperationRollBack, ids...)
	_, err = r.Store.SubmitOperation(r.Ctx, appcluster.NewOperation{Plan: p, Change: &c, Follows: o.ID, Operation: app.Operation{Tenant: kit.Tenant, Cluster: r.cluster,
		Kind: p.Kind, RollsBack: o.ID, PlanHash: p.Hash(), Requester: "ada", CreatedAt: r.Clock.Now()}})
	r.Must(err)
}

// work carries out what there is; some attempts fail for good, and of some the worker vanishes after it has done its act.
func (r *randomUpdates) work(failing float64) {
	for {
		c := r.Claim("w")
		for ; c != nil; c = r.next(c, failing) {
		}
		r.Clock.Move(2 * execution.ClaimFor)
		n, err := r.Store.SweepSteps(r.Ctx, r.Clock.Now())
		r.Must(err)
		if n == 0 {
			dispatches, err := r.Store.Undispatched(r.Ctx, 10)
			r.Must(err)
			if len(dispatches) == 0 {
				return
			}
		}
	}
}

func (r *randomUpdates) next(c *execution.ClaimedStep, failing float64) *execution.ClaimedStep {
	acts := r.rand.Float64() >= failing
	if acts {
		switch c.Step.Action {
		case app.ActionCreate:
			if c.Unasked && r.made[c.Intent] {
				r.Fatalf("%s of attempt %d is reported that no one has asked for %s", c.Step.ID, c.Step.Attempt, c.Intent)
			}
			r.made[c.Intent] = true
		case app.ActionDelete:
			delete(r.made, c.Intent)
		}
	}
	switch {
	case acts && r.rand.Float64() >= failing:
		return r.Confirm(c, true)
	case r.rand.IntN(2) == 0:
		r.FailStep(c, app.Retry{})
	} // or is never heard of again
	return nil
}

// check holds an operation's end to the cloud and the quota.
func (r *randomUpdates) check() {
	r.Helper()
	live := r.Intents()
	for intent := range r.made {
		if live[intent].Cluster != r.cluster {
			r.Fatalf("the machine of %s exists and no one knows it; known are %v", intent, live)
		}
	}
	o := r.Latest(r.cluster)
	if !o.Status.Ended() {
		r.Fatalf("operation %+v does not end", o)
	}
	if o.Status != app.OperationSucceeded {
		return
	}
	cluster, err := r.Store.Cluster(r.Ctx, kit.Tenant, r.cluster)
	r.Must(err)
	nodes, err := r.Store.Nodes(r.Ctx, kit.Tenant, r.cluster)
	r.Must(err)
	stand := 0
	for _, n := range nodes {
		if n.Status == app.NodeReady && !n.Leaving {
			stand++
		}
	}
	if cluster.Status != app.ClusterActive || stand != len(nodes) || stand != cluster.Size || stand != len(r.made) || len(live) != stand {
		r.Fatalf("after operation %d (%s) the cluster is %s with size %d, %d machines, %d intents and the nodes %s", o.ID, o.Kind, cluster.Status,
			cluster.Size, len(r.made), len(live), r.nodeWords(r.cluster))
	}
	all, err := r.Store.Reservations(r.Ctx, kit.Tenant)
	r.Must(err)
	if len(all) != 1 || all[0].Nodes != cluster.Size {
		r.Fatalf("reserved is %+v of a cluster of %d nodes", all, cluster.Size)
	}
}
