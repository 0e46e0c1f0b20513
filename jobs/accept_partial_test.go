package jobs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/identity"
	"muster/app/layout"
	appoperation "muster/app/operation"
	"muster/app/plan"
	"muster/app/template"
	"muster/providers/fake"
)

// logging has services write down with which fronts they were configured.
func logging(e *engine, c *template.Catalog) {
	for name, s := range c.Services {
		s.Actions[app.ActionConfigure] = script("echo \"$MUSTER_NODE " + name + ".configure $CONFIG_PEERS\" >>" + e.effect + "\n")
		s.Actions[app.ActionStop] = script("echo \"$MUSTER_NODE " + name + ".stop\" >>" + e.effect + "\n")
	}
}

// wanting asks for a cluster that accepts a partial result.
func (e *engine) wanting(size int, choice app.FailureChoice, s template.PartialOverride) appcluster.View {
	e.Helper()
	v, err := e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, appcluster.CreateRequest{Name: "web", Request: layout.Request{Template: "web", Size: size},
		OnFailure: choice, PartialOverride: s})
	if err != nil {
		e.Fatal(err)
	}
	return v
}

// noRoom has the cloud refuse, once, the machine of the last node that will have a service when so many nodes are asked for. It returns that node.
func (e *engine) noRoom(size int, service string) (node string) {
	e.Helper()
	p, err := e.app.Cluster.Creates.Preview(e.ctx, e.admin, appcluster.CreateRequest{Request: layout.Request{Template: "web", Size: size}})
	if err != nil {
		e.Fatal(err)
	}
	for _, n := range plan.Nodes(p.Layout) {
		if slices.Contains(n.Services, service) {
			node = n.Name
		}
	}
	e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.EQuota, Message: "full"}, Node: node})
	return node
}

// goesOn lets a failed operation be gone on with, and waits for the end of that.
func (e *engine) goesOn(id string) appcluster.View {
	e.Helper()
	e.undo()
	return e.await(id)
}

func (e *engine) reserved() (n int) {
	e.Helper()
	list, err := e.store.Reservations(e.ctx, app.DefaultTenant)
	if err != nil {
		e.Fatal(err)
	}
	for _, r := range list {
		n += r.Nodes
	}
	return n
}

// owner returns the cluster's owner an account, as everyone has who asks for clusters.
func (e *engine) owner() {
	e.Helper()
	if err := e.store.CreateUser(e.ctx, identity.User{Tenant: app.DefaultTenant, Name: "ada", Role: app.RoleSuperadmin, PasswordHash: "x"}); err != nil {
		e.Fatal(err)
	}
}

func (e *engine) node(v appcluster.View, service string) string {
	e.Helper()
	for _, n := range v.Nodes {
		if slices.Contains(n.Services, service) {
			return n.Name
		}
	}
	e.Fatalf("no node has %s", service)
	return ""
}

func TestCreateGoesOnWithTheMachinesThatCame(t *testing.T) {
	e := newEngine(t, logging)
	e.owner()
	lost := e.noRoom(5, "front")
	v := e.await(e.wanting(5, app.FailureAcceptPartial, template.PartialOverride{MinAvailable: "60%"}).ID)
	e.want(v, app.ClusterFailed)
	if o := v.Operations[0]; o.OnFailure != app.FailureAcceptPartial || o.MinAvailable != 3 {
		t.Fatalf("creation is kept as %+v", o)
	}
	before := e.effects()
	v = e.goesOn(v.ID)
	if o := v.Operations[0]; v.Status != app.ClusterActive || o.Kind != app.OperationAcceptPartial || o.Accepts != v.Operations[1].ID || o.RollsBack != 0 {
		t.Fatalf("cluster %s (%s), operation %+v", v.Status, v.Message, o)
	}
	if v.Size != 4 || len(v.Nodes) != 4 || v.CostPerHour != 2 || e.machines() != 4 || e.reserved() != 4 {
		t.Errorf("size %d, nodes %d, cost %v, %d machines, reserved for %d", v.Size, len(v.Nodes), v.CostPerHour, e.machines(), e.reserved())
	}
	for _, s := range mustSteps(e, v.ID, v.Operations[0].ID) {
		if s.Action.OnMachine() && (s.Action != app.ActionDelete || s.Node != lost) {
			t.Errorf("a machine step is done again: %s", s.ID)
		}
	}
	all := e.effects()
	if count(all, "front.start") != 3 || count(all, "back.start") != 1 || count(all, "front.install") != 3 {
		t.Errorf("services were set up as\n%s", strings.Join(all, "\n"))
	}
	for _, line := range all[len(before):] {
		if strings.Contains(line, "configure") && strings.Contains(line, "-"+lost+".") {
			t.Errorf("a configuration still speaks of the lost node: %s", line)
		}
	}
	for _, n := range v.Nodes {
		if slices.Contains(n.Services, "front") && count(all[len(before):], n.Name+" front.configure") != 1 {
			t.Errorf("%s wasn't reconfigured; effects since:\n%s", n.Name, strings.Join(all[len(before):], "\n"))
		}
	}
	if u := v.Backfill; u == nil || u.Target != 5 || u.Off || time.Until(u.NextAt) < 9*time.Minute {
		t.Errorf("the backfill is %+v", u)
	}

	// The machine comes later, and the cluster has what was wanted.
	if _, err := e.app.Operation.Backfills.SetBackfill(t.Context(), e.admin, v.ID, appoperation.BackfillOrder{Now: true}); err != nil {
		t.Fatal(err)
	}
	v = e.topsUp(v.ID)
	e.want(v, app.ClusterActive)
	if v.Size != 5 || e.machines() != 5 || e.reserved() != 5 || v.Backfill != nil || v.Operations[0].Requester != "ada" {
		t.Errorf("topped up to %d, %d machines, reserved %d, left %+v, by %s", v.Size, e.machines(), e.reserved(), v.Backfill, v.Operations[0].Requester)
	}
	e.gone(v.ID)
}

// topsUp waits for the end of a backfill that is due.
func (e *engine) topsUp(id string) appcluster.View {
	e.Helper()
	v, err := e.app.Cluster.Views.Cluster(e.ctx, e.admin, id)
	if err != nil {
		e.Fatal(err)
	}
	latest := v.Operations[0].ID
	if _, err := e.app.Upkeep.Expire(e.ctx); err != nil {
		e.Fatal(err)
	}
	e.eventually("a backfill begins", func() bool {
		v, err := e.app.Cluster.Views.Cluster(e.ctx, e.admin, id)
		if err != nil {
			e.Fatal(err)
		}
		return v.Operations[0].ID > latest
	})
	return e.await(id)
}

func (e *engine) gone(id string) {
	e.Helper()
	if _, err := e.app.Cluster.Deletes.DeleteCluster(e.ctx, e.admin, id); err != nil {
		e.Fatal(err)
	}
	e.want(e.await(id), app.ClusterDeleted)
	if e.machines() != 0 || e.reserved() != 0 {
		e.Errorf("%d machines are left, %d are reserved", e.machines(), e.reserved())
	}
}

func mustSteps(e *engine, cluster string, operation int64) []app.Step {
	e.Helper()
	steps, err := e.app.Cluster.Activity.Steps(e.ctx, e.admin, cluster, operation)
	if err != nil {
		e.Fatal(err)
	}
	return steps
}

// A machine that was made and never answers is given back: nothing leaks.
func TestUnresponsiveMachinesAreDeleted(t *testing.T) {
	e := newEngine(t, logging)
	dead := fake.Outcome{Err: &app.Error{Code: app.EInvalid, Message: "it does not boot"}, Node: "n2", Times: -1}
	e.cloud.Order(fake.Describe, dead)
	v := e.await(e.wanting(4, app.FailureAcceptPartial, template.PartialOverride{NoBackfill: true}).ID)
	e.want(v, app.ClusterFailed)
	if e.machines() != 4 {
		t.Fatalf("%d machines, want all 4 made", e.machines())
	}
	v = e.goesOn(v.ID)
	e.want(v, app.ClusterActive)
	if e.machines() != 3 || v.Size != 3 || v.Backfill == nil || !v.Backfill.Off || !v.Backfill.NextAt.IsZero() {
		t.Errorf("%d machines for size %d, backfill %+v", e.machines(), v.Size, v.Backfill)
	}
	e.gone(v.ID)
}

func TestWhatCannotBeGoneOnWithSaysWhy(t *testing.T) {
	for _, x := range []struct {
		name   string
		choice app.FailureChoice
		s      template.PartialOverride
		change func(e *engine, c *template.Catalog)
		order  func(e *engine)
		why    string
	}{
		{"too few", app.FailureAcceptPartial, template.PartialOverride{MinAvailable: "4"}, nil, func(e *engine) { e.cloud.SetQuota(3) }, "minimum available: 4"},
		{"no machine at all", app.FailureAcceptPartial, template.PartialOverride{}, nil, func(e *engine) {
			e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.EQuota, Message: "full"}, Times: -1})
		},
			"No machine was created"},
		{"constraints do not hold", app.FailureAcceptPartial, template.PartialOverride{}, func(_ *engine, c *template.Catalog) { c.Templates["web"].Constraints.Size.Min = 5 },
			func(e *engine) { e.cloud.SetQuota(4) }, "can't satisfy the template's constraints"},
		{"so it is rolled back", app.FailureAcceptPartialOrRollBack, template.PartialOverride{MinAvailable: "4"}, nil, func(e *engine) { e.cloud.SetQuota(3) }, "The operation is being rolled back"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, x.change)
			x.order(e)
			v := e.await(e.wanting(5, x.choice, x.s).ID)
			e.want(v, app.ClusterFailed)
			begun, err := e.app.Operation.RollBacks.UndoFailed(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			v, err = e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID)
			if err != nil {
				t.Fatal(err)
			}
			create := v.Operations[len(v.Operations)-1]
			if !strings.Contains(create.Message, x.why) || !strings.Contains(create.Message, " failed: ") {
				t.Errorf("it says: %s", create.Message)
			}
			if x.choice == app.FailureAcceptPartial {
				if begun != 0 || len(v.Operations) != 1 || !strings.Contains(v.Message, x.why) {
					t.Errorf("%d operations were begun, there are %d; the cluster says: %s", begun, len(v.Operations), v.Message)
				}
				if due, err := e.store.PartialResultsDue(t.Context(), 10); err != nil || len(due) != 0 {
					t.Errorf("it is looked at again and again: %v, %v", due, err)
				}
				return
			}
			for range 2 { // what was judged in this round is rolled back in the next
				if n, err := e.app.Operation.RollBacks.UndoFailed(t.Context()); err != nil {
					t.Fatal(err)
				} else {
					begun += n
				}
			}
			v = e.await(v.ID)
			if begun != 1 || v.Operations[0].Kind != app.OperationRollBack || v.Status != app.ClusterDeleted || e.machines() != 0 {
				t.Errorf("begun %d, latest %s, cluster %s, %d machines", begun, v.Operations[0].Kind, v.Status, e.machines())
			}
		})
	}
}

func TestGrowthGoesOnWithTheMachinesThatCame(t *testing.T) {
	e := newEngine(t, logging)
	e.owner()
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	e.cloud.SetQuota(4)
	before := len(e.effects())
	if _, err := e.app.Operation.Updates.Update(t.Context(), e.admin, v.ID, appcluster.Update{Kind: app.OperationResize, Size: 6, OnFailure: app.FailureAcceptPartial}); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterFailed)
	v = e.goesOn(v.ID)
	e.want(v, app.ClusterActive)
	if v.Size != 4 || len(v.Nodes) != 4 || e.machines() != 4 || e.reserved() != 4 || v.Backfill == nil || v.Backfill.Target != 6 {
		t.Fatalf("size %d, nodes %d, %d machines, reserved %d, backfill %+v", v.Size, len(v.Nodes), e.machines(), e.reserved(), v.Backfill)
	}
	names := []string{}
	for _, n := range v.Nodes {
		if slices.Contains(n.Services, "front") {
			names = append(names, n.Hostname)
		}
	}
	last := map[string]string{} // by node: how its front was configured last
	for _, line := range e.effects() {
		if node, what, ok := strings.Cut(line, " front.configure "); ok {
			last[node] = what
		}
	}
	for _, n := range v.Nodes {
		if slices.Contains(n.Services, "front") && last[n.Name] != strings.Join(names, " ") {
			t.Errorf("%s knows the fronts %q, and there are %v", n.Name, last[n.Name], names)
		}
	}
	if n := count(e.effects()[before:], "front.install"); n != 1 {
		t.Errorf("%d fronts were installed, want the one that came; effects:\n%s", n, strings.Join(e.effects()[before:], "\n"))
	}

	// Nothing more comes: the cluster stays as it is, and says so.
	if _, err := e.app.Operation.Backfills.SetBackfill(t.Context(), e.admin, v.ID, appoperation.BackfillOrder{Now: true}); err != nil {
		t.Fatal(err)
	}
	v = e.topsUp(v.ID)
	e.want(v, app.ClusterFailed)
	v = e.goesOn(v.ID)
	e.want(v, app.ClusterActive)
	if u := v.Backfill; v.Size != 4 || e.machines() != 4 || u == nil || u.Target != 6 || u.Tries != 1 || !strings.Contains(u.Note, "failed") ||
		time.Until(u.NextAt) < 19*time.Minute {
		t.Fatalf("size %d, %d machines, backfill %+v", v.Size, e.machines(), u)
	}

	// Someone resizes it by hand: that is what is wanted now.
	if _, err := e.app.Operation.Updates.Update(t.Context(), e.admin, v.ID, appcluster.Update{Kind: app.OperationResize, Size: 3}); err != nil {
		t.Fatal(err)
	}
	if v = e.await(v.ID); v.Backfill != nil || v.Size != 3 {
		t.Errorf("after a resize by hand: size %d, backfill %+v", v.Size, v.Backfill)
	}
	e.gone(v.ID)
}

// What only the lost node had comes to one that is there.
func TestServicesOfALostNodeMove(t *testing.T) {
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		logging(e, c)
		c.Templates["web"].Constraints.CantCoexist = nil
	})
	lost := e.noRoom(3, "back")
	v := e.goesOn(e.await(e.wanting(3, app.FailureAcceptPartial, template.PartialOverride{}).ID).ID)
	e.want(v, app.ClusterActive)
	if v.Size != 2 || e.machines() != 2 || e.node(v, "back") == lost || count(e.effects(), "back.start") != 1 || count(e.effects(), "front.start") != 2 {
		t.Errorf("size %d, %d machines, back on %s, effects\n%s", v.Size, e.machines(), e.node(v, "back"), strings.Join(e.effects(), "\n"))
	}
	e.gone(v.ID)
}

// A failure after accepting a partial result is undone together with that result.
func TestPartialResultIsRolledBack(t *testing.T) {
	for _, grown := range []bool{false, true} {
		t.Run(map[bool]string{false: "create", true: "growth"}[grown], func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, func(e *engine, c *template.Catalog) {
				logging(e, c)
				c.Services["front"].Actions[app.ActionRemove] = script("true")
			})
			var v appcluster.View
			if grown {
				v = e.await(e.create(3).ID)
				e.want(v, app.ClusterActive)
				e.cloud.SetQuota(4)
				if _, err := e.app.Operation.Updates.Update(t.Context(), e.admin, v.ID, appcluster.Update{Kind: app.OperationResize, Size: 5, OnFailure: app.FailureAcceptPartial}); err != nil {
					t.Fatal(err)
				}
			} else {
				e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.EQuota, Message: "full"}, Node: "n3", Times: -1})
				v = e.wanting(4, app.FailureAcceptPartial, template.PartialOverride{})
			}
			v = e.await(v.ID)
			e.want(v, app.ClusterFailed)
			e.cloud.Order(fake.List, fake.Outcome{Err: &app.Error{Code: app.EInvalid, Message: "not today"}, Times: 1})
			e.undo()
			v = e.await(v.ID)
			if v.Operations[0].Kind != app.OperationAcceptPartial || v.Operations[0].Status != app.OperationFailed {
				t.Fatalf("the accepted partial result is %+v", v.Operations[0])
			}
			p, err := e.app.Operation.RollBacks.PreviewRollBack(t.Context(), e.admin, v.ID, 0, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.app.Operation.RollBacks.RollBack(t.Context(), e.admin, v.ID, 0, p.PlanHash, ""); err != nil {
				t.Fatal(err)
			}
			v = e.await(v.ID)
			if !grown {
				e.want(v, app.ClusterDeleted)
				if e.machines() != 0 || e.reserved() != 0 {
					t.Errorf("%d machines are left, %d reserved", e.machines(), e.reserved())
				}
				return
			}
			e.want(v, app.ClusterActive)
			if v.Size != 3 || len(v.Nodes) != 3 || e.machines() != 3 || e.reserved() != 3 || v.Backfill != nil {
				t.Errorf("size %d, nodes %d, %d machines, reserved %d, backfill %+v", v.Size, len(v.Nodes), e.machines(), e.reserved(), v.Backfill)
			}
			e.gone(v.ID)
		})
	}
}
