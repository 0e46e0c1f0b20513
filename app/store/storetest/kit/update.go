package kit

import (
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/plan"
)

// Steps puts a plan together of steps one after the other: "n3.create", "n1.web.stop".
func Steps(kind app.OperationKind, ids ...string) plan.Plan {
	p := plan.Plan{Kind: kind}
	for i, id := range ids {
		part := strings.Split(id, ".")
		s := plan.Step{ID: id, Node: part[0], Action: app.Action(part[len(part)-1]), Rank: time.Duration(len(ids)-i) * time.Second}
		if len(part) == 3 {
			s.Service = part[1]
		}
		if i > 0 {
			s.Needs = []int{i - 1}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// Change is what the cluster is now, to be altered.
func (t *T) Change(cluster string) appcluster.Change {
	t.Helper()
	c, err := t.Store.Cluster(t.Ctx, Tenant, cluster)
	t.Must(err)
	d, err := t.Store.Definition(t.Ctx, Tenant, cluster)
	t.Must(err)
	return appcluster.Change{Template: c.Template, Definition: d, Size: c.Size, Services: c.Services, CostPerHour: c.CostPerHour}
}

func NewNode(cluster, name, intent string) app.NewNode {
	return app.NewNode{Intent: intent, HostKey: []byte("host key of " + name), Node: app.Node{Cluster: cluster, Name: name,
		Hostname: cluster + "-" + name + ".internal", Hardware: "small", Image: "host", Services: []string{"a"}, Status: app.NodePlanned, SSHUser: "root"}}
}

// Update asks for an update behind the cluster's latest operation.
func (t *T) Update(cluster string, p plan.Plan, c appcluster.Change) app.Operation {
	t.Helper()
	op, err := t.TryUpdate(cluster, p, c, t.Latest(cluster).ID)
	t.Must(err)
	return op
}

func (t *T) TryUpdate(cluster string, p plan.Plan, c appcluster.Change, follows int64) (app.Operation, error) {
	return t.Store.SubmitOperation(t.Ctx, appcluster.NewOperation{Plan: p, Change: &c, Follows: follows, Operation: app.Operation{Tenant: Tenant, Cluster: cluster,
		Kind: p.Kind, PlanHash: p.Hash(), Requester: "ada", CreatedAt: t.Clock.Now()}})
}

// Undo rolls the cluster's latest operation back by a plan.
func (t *T) Undo(cluster string, change func(before, after appcluster.Change) appcluster.Change, ids ...string) (app.Operation, error) {
	t.Helper()
	o := t.Latest(cluster)
	before, after, err := t.Store.ChangeOf(t.Ctx, Tenant, o.ID)
	t.Must(err)
	c := change(before, after)
	p := Steps(app.OperationRollBack, ids...)
	return t.Store.SubmitOperation(t.Ctx, appcluster.NewOperation{Plan: p, Change: &c, Follows: o.ID, Operation: app.Operation{Tenant: Tenant, Cluster: cluster,
		Kind: p.Kind, RollsBack: o.ID, PlanHash: p.Hash(), Requester: "ada", CreatedAt: t.Clock.Now()}})
}

// Back is the change of a rollback that undoes all.
func Back(before, after appcluster.Change) appcluster.Change {
	c := before
	for _, n := range after.New {
		c.Leaving = append(c.Leaving, n.Node.Name)
	}
	return c
}

func (t *T) Latest(cluster string) app.Operation {
	t.Helper()
	ops, err := t.Store.Operations(t.Ctx, Tenant, cluster)
	t.Must(err)
	return ops[0]
}

func (t *T) ReservedIs(nodes int, cost float64) {
	t.Helper()
	all, err := t.Store.Reservations(t.Ctx, Tenant)
	t.Must(err)
	if len(all) != 1 || all[0].Nodes != nodes || all[0].CostPerHour != cost {
		t.Fatalf("reserved is %+v, want %d nodes for %v", all, nodes, cost)
	}
}

// Confirm is finish for steps whose node is then what a worker would have found; machines are called after their intents.
func (t *T) Confirm(c *execution.ClaimedStep, chain bool) *execution.ClaimedStep {
	t.Helper()
	f := execution.Finish{Fence: Fence(c), Now: t.Clock.Now()}
	if chain {
		f.ClaimFor = execution.ClaimFor
	}
	switch c.Step.Action {
	case app.ActionCreate:
		m := family.Machine{ID: "m-" + c.Intent, HostKey: "public " + string(c.HostKey)}
		f.Node = &execution.NodeUpdate{Status: app.NodeCreated, Machine: &m}
		f.Seen = []app.Seen{fleet.SeenMachine(m, 0.5)}
	case app.ActionConfirm:
		f.Node = &execution.NodeUpdate{Status: app.NodeReady, Machine: &family.Machine{ID: c.Node.MachineID, Addresses: map[string]string{app.AddressBind: "at " + c.Node.MachineID}}}
	case app.ActionDelete:
		f.Node = &execution.NodeUpdate{Status: app.NodeDeleted, Deleted: true}
		if c.Node.MachineID != "" {
			f.Seen = []app.Seen{{Kind: fleet.ResourceMachine, ID: c.Node.MachineID, Deleted: true}}
		}
	}
	next, err := t.End(c.Step.Worker, f)
	t.Must(err)
	return next
}

// CarryOut does all there is, and fails for good at a step.
func (t *T) CarryOut(failing string) (done []string) {
	t.Helper()
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		for ; c != nil; c = t.Confirm(c, true) {
			done = append(done, c.Step.ID)
			if c.Step.ID == failing {
				t.FailStep(c, app.Retry{})
				break
			}
		}
	}
	return done
}
