package apptest

import (
	"reflect"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
)

// steps puts a plan together of steps one after the other: "n3.create", "n1.web.stop".
func steps(kind app.OperationKind, ids ...string) app.Plan {
	p := app.Plan{Kind: kind}
	for i, id := range ids {
		part := strings.Split(id, ".")
		s := app.PlanStep{ID: id, Node: part[0], Action: app.Action(part[len(part)-1]), Rank: time.Duration(len(ids)-i) * time.Second}
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

// change is what the cluster is now, to be altered.
func (t *storeTest) change(cluster string) app.ClusterChange {
	t.Helper()
	c, err := t.s.Cluster(t.ctx, tenant, cluster)
	t.must(err)
	d, err := t.s.Definition(t.ctx, tenant, cluster)
	t.must(err)
	return app.ClusterChange{Template: c.Template, Definition: d, Size: c.Size, Services: c.Services, CostPerHour: c.CostPerHour}
}

func newNode(cluster, name, intent string) app.NewNode {
	return app.NewNode{Intent: intent, HostKey: []byte("host key of " + name), Node: app.Node{Cluster: cluster, Name: name,
		Hostname: cluster + "-" + name + ".internal", Hardware: "small", Image: "host", Services: []string{"a"}, Status: app.NodePlanned, SSHUser: "root"}}
}

// amend asks for an amendment behind the cluster's latest operation.
func (t *storeTest) amend(cluster string, p app.Plan, c app.ClusterChange) app.Operation {
	t.Helper()
	op, err := t.tryAmend(cluster, p, c, t.latest(cluster).ID)
	t.must(err)
	return op
}

func (t *storeTest) tryAmend(cluster string, p app.Plan, c app.ClusterChange, follows int64) (app.Operation, error) {
	return t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: p, Change: &c, Follows: follows, Operation: app.Operation{Tenant: tenant, Cluster: cluster,
		Kind: p.Kind, PlanHash: p.Hash(), Requester: "ada", CreatedAt: t.clock.Now()}})
}

// undo rolls the cluster's latest operation back by a plan.
func (t *storeTest) undo(cluster string, change func(before, after app.ClusterChange) app.ClusterChange, ids ...string) (app.Operation, error) {
	t.Helper()
	o := t.latest(cluster)
	before, after, err := t.s.ChangeOf(t.ctx, tenant, o.ID)
	t.must(err)
	c := change(before, after)
	p := steps(app.OperationRollBack, ids...)
	return t.s.SubmitOperation(t.ctx, app.NewOperation{Plan: p, Change: &c, Follows: o.ID, Operation: app.Operation{Tenant: tenant, Cluster: cluster,
		Kind: p.Kind, Undoes: o.ID, PlanHash: p.Hash(), Requester: "ada", CreatedAt: t.clock.Now()}})
}

// back is the change of a roll-back that undoes all.
func back(before, after app.ClusterChange) app.ClusterChange {
	c := before
	for _, n := range after.New {
		c.Leaving = append(c.Leaving, n.Node.Name)
	}
	return c
}

func (t *storeTest) latest(cluster string) app.Operation {
	t.Helper()
	ops, err := t.s.Operations(t.ctx, tenant, cluster)
	t.must(err)
	return ops[0]
}

// nodeWords says of each node its status, and what is special about it.
func (t *storeTest) nodeWords(cluster string) string {
	t.Helper()
	v, err := t.s.View(t.ctx, tenant, cluster)
	t.must(err)
	nodes, err := t.s.Nodes(t.ctx, tenant, cluster)
	t.must(err)
	if !reflect.DeepEqual(nodes, v.Nodes) {
		t.Errorf("the view has the nodes\n%+v, the list\n%+v", v.Nodes, nodes)
	}
	var all []string
	for _, n := range nodes {
		text := n.Name + " " + string(n.Status)
		if n.Leaving {
			text += " leaving"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func (t *storeTest) nodesAre(cluster, want string) {
	t.Helper()
	if got := t.nodeWords(cluster); got != want {
		t.Fatalf("the nodes are %s\nwant          %s", got, want)
	}
}

func (t *storeTest) reservedIs(nodes int, cost float64) {
	t.Helper()
	all, err := t.s.Reservations(t.ctx, tenant)
	t.must(err)
	if len(all) != 1 || all[0].Nodes != nodes || all[0].CostPerHour != cost {
		t.Fatalf("reserved is %+v, want %d nodes for %v", all, nodes, cost)
	}
}

// confirm is finish for steps whose node is then what a worker would have found; machines are called after their intents.
func (t *storeTest) confirm(c *app.ClaimedStep, chain bool) *app.ClaimedStep {
	t.Helper()
	f := app.Finish{Fence: fence(c), Now: t.clock.Now()}
	if chain {
		f.ClaimFor = execution.ClaimFor
	}
	switch c.Step.Action {
	case app.ActionCreate:
		m := app.Machine{ID: "m-" + c.Intent, HostKey: "public " + string(c.HostKey)}
		f.Node = &app.NodeUpdate{Status: app.NodeCreated, Machine: &m}
		f.Seen = []app.Seen{fleet.SeenMachine(m, 0.5)}
	case app.ActionConfirm:
		f.Node = &app.NodeUpdate{Status: app.NodeReady, Machine: &app.Machine{ID: c.Node.MachineID, Addresses: map[string]string{app.AddressBind: "at " + c.Node.MachineID}}}
	case app.ActionDelete:
		f.Node = &app.NodeUpdate{Status: app.NodeDeleted, Gone: true}
		if c.Node.MachineID != "" {
			f.Seen = []app.Seen{{Kind: fleet.ResourceMachine, ID: c.Node.MachineID, Gone: true}}
		}
	}
	next, err := t.end(c.Step.Worker, f)
	t.must(err)
	return next
}

// carryOut does all there is, and fails for good at a step.
func (t *storeTest) carryOut(failing string) (done []string) {
	t.Helper()
	for c := t.claim("w"); c != nil; c = t.claim("w") {
		for ; c != nil; c = t.confirm(c, true) {
			done = append(done, c.Step.ID)
			if c.Step.ID == failing {
				t.fail(c, app.Retry{})
				break
			}
		}
	}
	return done
}

// stands makes a cluster "web-1" of so many nodes that is active.
func (t *storeTest) stands(nodes int) {
	t.Helper()
	t.create("web", nodes)
	t.carryOut("")
	t.status("web-1", app.ClusterActive, app.OperationSucceeded)
}
