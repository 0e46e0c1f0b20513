package policy

import (
	"slices"
	"strings"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
)

// noRoom ends the attempt of a create for which there is no room, with other hardware to fall back to, and returns the next step of the node.
func (t *moneyTest) noRoom(c *execution.ClaimedStep, list ...appcluster.HardwareFallback) *execution.ClaimedStep {
	t.Helper()
	next, err := t.End(c.Step.Worker, execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now(), Err: &app.Error{Code: app.ECapacity, Message: "it is full"},
		Fallbacks: list,
		ClaimFor:  execution.ClaimFor})
	t.Must(err)
	return next
}

var (
	toMedium = appcluster.HardwareFallback{From: "small", To: "medium", InsteadOf: "small", CPU: 4, MoreCPU: 2, More: 0.25, Retry: app.Retry{Again: true, Free: true}}
	toSmall  = appcluster.HardwareFallback{From: "medium", To: "small", CPU: 2, MoreCPU: -2, More: -0.25, Err: &app.Error{Code: app.ECapacity, Message: "all are full"}}
)

// costs wants a cluster to cost so much, and so much to be reserved.
func (t *moneyTest) costs(cluster string, nodes int, perHour, cpu float64) {
	t.Helper()
	c, err := t.Store.Cluster(t.Ctx, kit.Tenant, cluster)
	t.Must(err)
	if c.CostPerHour != perHour {
		t.Errorf("the cluster costs %v an hour, want %v", c.CostPerHour, perHour)
	}
	t.ReservedIs(nodes, perHour)
	if all, _ := t.Store.Reservations(t.Ctx, kit.Tenant); all[0].CPU != cpu {
		t.Errorf("%v cores are reserved, want %v", all[0].CPU, cpu)
	}
}

func (t *moneyTest) fallsBack() {
	op, err := t.ask(t.Store, "web", "ada", 2)
	t.Must(err)
	c := t.Claim("w")
	next := t.noRoom(c, toMedium)
	if next == nil || next.Step.ID != "n1.create" || next.Node.Hardware != "medium" || next.Node.InsteadOf != "small" || next.Step.Tries != 1 || next.Intent != c.Intent {
		t.Fatalf("what is handed out next is %+v of %+v", next, c)
	}
	if next.Unasked {
		t.Error("an attempt before it has asked the provider")
	}
	t.costs("web-1", 2, 1.25, 6)
	// It is heard of once: what the same worker says again is of an attempt that has ended.
	_, err = t.End("w", execution.Finish{Fence: kit.Fence(c), Now: t.Clock.Now(), Err: &app.Error{Code: app.ECapacity}, Fallbacks: []appcluster.HardwareFallback{toMedium}})
	t.Code(err, app.EStale)
	t.costs("web-1", 2, 1.25, 6)
	lines, err := t.Store.Logs(t.Ctx, kit.Tenant, "web-1", appcluster.LogFilter{Limit: 100})
	t.Must(err)
	if !slices.ContainsFunc(lines, func(l app.LogLine) bool {
		return l.Step == "n1.create" && l.Attempt == c.Step.Attempt && strings.Contains(l.Text, "Trying medium instead")
	}) {
		t.Errorf("its log does not say so: %+v", lines)
	}
	// Round: back at the first, and left to people.
	if next = t.noRoom(next, toSmall); next != nil && next.Step.ID == "n1.create" {
		t.Fatalf("%+v continues by itself", next)
	}
	t.costs("web-1", 2, 1, 4)
	steps, err := t.Store.Steps(t.Ctx, kit.Tenant, op.ID)
	t.Must(err)
	if steps[0].State != app.StepFailed || steps[0].Error != "all are full" {
		t.Errorf("the step is %s: %s", steps[0].State, steps[0].Error)
	}
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, "web-1")
	t.Must(err)
	if nodes[0].Hardware != "small" || nodes[0].InsteadOf != "" {
		t.Errorf("the node is %s instead of %s", nodes[0].Hardware, nodes[0].InsteadOf)
	}
	if next != nil {
		t.Finish(next, false)
	}
	t.Drain()
	t.Control(op.ID, app.ControlResume, "")
	again := t.Claim("w")
	next = t.noRoom(again, toMedium)
	// Who speaks of other hardware than the node is of by now changes nothing.
	wrong := toMedium
	wrong.More = 7
	if after := t.noRoom(next, wrong); after != nil && after.Step.ID == next.Step.ID {
		t.Error("what was not taken continues all the same")
	}
	t.costs("web-1", 2, 1.25, 6)
	t.Control(op.ID, app.ControlResume, "")
	t.Drain()
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
	t.costs("web-1", 2, 1.25, 6)
}

func (t *moneyTest) fallsBackWithin() {
	t.limit(policy.QuotaTenant, "", policy.MeasureCPU, 5)
	op, err := t.ask(t.Store, "web", "ada", 2)
	t.Must(err)
	c := t.Claim("w")
	t.noRoom(c, toMedium)
	t.costs("web-1", 2, 1, 4)
	steps, err := t.Store.Steps(t.Ctx, kit.Tenant, op.ID)
	t.Must(err)
	if steps[0].State != app.StepFailed || steps[0].ErrorCode != app.ECapacity {
		t.Errorf("the step is %s: %s", steps[0].State, steps[0].Error)
	}
	lines, err := t.Store.Logs(t.Ctx, kit.Tenant, "web-1", appcluster.LogFilter{Limit: 100})
	t.Must(err)
	if !slices.ContainsFunc(lines, func(l app.LogLine) bool {
		return strings.Contains(l.Text, "the fallback medium can't be used") && strings.Contains(l.Text, "over the limit of 5")
	}) {
		t.Errorf("its log does not say why: %+v", lines)
	}
}

// fallsBackPast goes past hardware that a quota forbids, and back to what the layout chose where nothing else is allowed.
func (t *moneyTest) fallsBackPast() {
	t.limit(policy.QuotaTenant, "", policy.MeasureCPU, 6)
	_, err := t.ask(t.Store, "web", "ada", 2)
	t.Must(err)
	toLarge := appcluster.HardwareFallback{From: "small", To: "large", InsteadOf: "small", CPU: 8, MoreCPU: 6, More: 1, Retry: app.Retry{Again: true, Free: true}}
	next := t.noRoom(t.Claim("w"), toLarge, toMedium)
	if next == nil || next.Node.Hardware != "medium" {
		t.Fatalf("what is asked for next is %+v", next)
	}
	t.costs("web-1", 2, 1.25, 6)
	toLarge.From, toLarge.MoreCPU, toLarge.More = "medium", 4, 0.75
	if next = t.noRoom(next, toLarge, toSmall); next != nil && next.Step.ID == "n1.create" {
		t.Fatalf("%+v continues by itself", next)
	}
	t.costs("web-1", 2, 1, 4)
}

func (t *moneyTest) fallsBackUpdated() {
	_, err := t.ask(t.Store, "web", "ada", 1)
	t.Must(err)
	t.Drain()
	c := t.Change("web-1")
	c.Size, c.CostPerHour, c.New = 2, 1, []app.NewNode{kit.NewNode("web-1", "n2", "i2")}
	c.Reservation = policy.Reservation{Nodes: 2, CPU: 4, CostPerHour: 1}
	t.Update("web-1", kit.Steps(app.OperationResize, "n2.create", "n2.confirm"), c)
	t.Confirm(t.noRoom(t.Claim("w"), toMedium), false)
	t.costs("web-1", 2, 1.25, 6)
	t.CarryOut("n2.confirm")
	// What it made of the cluster is what a rollback goes by.
	_, err = t.Undo("web-1", kit.Back, "n2.delete")
	t.Must(err)
	t.CarryOut("")
	t.costs("web-1", 1, 0.5, 2)
	// A machine that is made again is of the hardware that the node is of.
	repair := t.Update("web-1", kit.Steps(app.OperationRepair, "n1.delete", "n1.create", "n1.confirm"), t.Change("web-1"))
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		if c.Step.Action == app.ActionCreate {
			t.noRoom(c, toMedium)
			break
		}
		t.Confirm(c, false)
	}
	t.costs("web-1", 1, 0.5, 2)
	if s, err := t.Store.Steps(t.Ctx, kit.Tenant, repair.ID); err != nil || s[1].State != app.StepFailed {
		t.Errorf("%+v: %v", s, err)
	}
}
