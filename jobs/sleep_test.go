package jobs_test

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/operation"
	"muster/app/template"
	"muster/providers/fake"
)

// sleepers lets the services of the engine's template stop.
func sleepers(e *engine, c *template.Catalog) {
	for name, s := range c.Services {
		s.Actions[app.ActionStop] = script("echo \"$MUSTER_NODE " + name + ".stop\" >>\"" + e.effect + "\"\n")
	}
	eighth := 0.0625
	flavor := c.Hardware["small"].Providers["cloud"]
	flavor.AsleepCostPerHour = &eighth
	c.Hardware["small"].Providers["cloud"] = flavor
}

// since returns what was done after so many effects, without the nodes.
func (e *engine) since(n int) []string {
	var out []string
	for _, line := range e.effects()[n:] {
		_, what, _ := strings.Cut(line, " ")
		out = append(out, what)
	}
	return out
}

func TestSleepAndWake(t *testing.T) {
	t.Parallel()
	e := newEngine(t, sleepers)
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	began := len(e.effects())

	p, err := e.app.Operation.Sleeping.PreviewSleep(t.Context(), e.admin, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if p.Before.CostPerHour != 1.5 || p.After.CostPerHour != 0.1875 || p.Plan.Acts() != 6 {
		t.Errorf("preview %+v, %d acts", p, p.Plan.Acts())
	}
	if _, err := e.app.Operation.Sleeping.SleepCluster(t.Context(), e.admin, v.ID, strings.Repeat("0", 64)); app.CodeOf(err) != app.EConflict {
		t.Errorf("another plan was shown: %v", err)
	}
	// What happened at the provider isn't reported once: a second attempt finds the machine stopped.
	e.cloud.LoseReply(fake.Sleep, app.Errorf(app.ETransient, "no answer"))
	if _, err := e.app.Operation.Sleeping.SleepCluster(t.Context(), e.admin, v.ID, p.PlanHash); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterAsleep)
	if got := e.since(began); !slices.Equal(got, []string{"front.stop", "front.stop", "back.stop"}) {
		t.Errorf("done while going to sleep: %v", got)
	}
	for _, m := range e.cloud.Machines() {
		if m.State != family.MachineStopped {
			t.Errorf("machine %s is %s", m.ID, m.State)
		}
	}
	if len(e.cloud.Machines()) != 3 || v.Nodes[0].Status != app.NodeReady {
		t.Errorf("%d machines; node %+v", len(e.cloud.Machines()), v.Nodes[0])
	}
	if again, err := e.app.Operation.Sleeping.SleepCluster(t.Context(), e.admin, v.ID, ""); err != nil || again.Cluster.Operations[0].ID != v.Operations[0].ID {
		t.Errorf("asked once more it is another operation: %v", err)
	}
	steps, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, v.ID, 0)
	if err != nil || len(steps) != p.Plan.Acts() {
		t.Errorf("%d steps ran, %d were shown; %v", len(steps), p.Plan.Acts(), err)
	}

	began = len(e.effects())
	e.cloud.LoseReply(fake.Wake, app.Errorf(app.ETransient, "no answer"))
	if _, err := e.app.Operation.Sleeping.WakeCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterActive)
	if got := e.since(began); !slices.Equal(got, []string{"back.start", "front.start", "front.start"}) {
		t.Errorf("done while waking: %v", got)
	}
	if n := e.cloud.Count(fake.Create); n != 3 {
		t.Errorf("%d machines were made", n)
	}
}

func TestSleepingClustersCanBeDeleted(t *testing.T) {
	e := newEngine(t, sleepers)
	v := e.await(e.create(2).ID)
	if _, err := e.app.Operation.Sleeping.SleepCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterAsleep)
	stop := e.reconciler(nil)
	e.passes(4)
	stop()
	v, err := e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	e.want(v, app.ClusterAsleep)
	_, err = e.app.Operation.Updates.PreviewUpdate(t.Context(), e.admin, v.ID, cluster.Update{Kind: app.OperationRestart})
	if e := app.AsError(err); app.CodeOf(err) != app.EConflict || !strings.Contains(strings.ToLower(e.Advised()), "wake the cluster first") {
		t.Errorf("an update while it sleeps: %v", err)
	}
	if _, err := e.app.Cluster.Deletes.DeleteCluster(t.Context(), e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted)
	if e.machines() != 0 {
		t.Errorf("%d machines are left", e.machines())
	}
}

// A machine that was deleted while its cluster is asleep can't be woken: the owner learns of it before, and waking continues without it.
func TestLostMachineOfASleepingClusterIsDetected(t *testing.T) {
	t.Parallel()
	e := newEngine(t, sleepers)
	v := e.await(e.create(3).ID)
	if _, err := e.app.Operation.Sleeping.SleepCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterAsleep)
	machine, err := e.cloud.Describe(t.Context(), v.Nodes[2].MachineID)
	if err != nil {
		t.Fatal(err)
	}
	stop := e.reconciler(nil)
	lost := func(want bool) func() bool {
		return func() bool {
			if v, err = e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID); err != nil {
				t.Fatal(err)
			}
			return v.Nodes[2].Lost() == want
		}
	}
	e.passes(3)
	for range 2 {
		e.cloud.Vanish(machine.ID)
		e.comesAbout("the loss is noticed", lost(true))
		e.passes(2)
		e.cloud.Put(machine)
		e.comesAbout("the machine is found again", lost(false))
	}
	e.cloud.Vanish(machine.ID)
	e.comesAbout("the loss is noticed", lost(true))
	e.passes(2)
	stop()
	e.want(v, app.ClusterAsleep)
	notices, err := e.store.Notices(t.Context(), e.admin.Tenant, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	for _, n := range notices {
		if n.Kind == app.NoticeLost {
			texts = append(texts, n.Text)
		}
	}
	if want := "Lost machines: n3. Waking the cluster skips them; a repair replaces them afterwards."; !slices.Equal(texts, []string{want, want, want}) {
		t.Errorf("the owner sees %q", texts)
	}
	if _, err := e.app.Operation.Sleeping.WakeCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterFailed)
	if v.Operations[0].Status != app.OperationSucceeded || v.Message != operation.LostWords([]string{"n3"}) {
		t.Errorf("the wake %s: %s", v.Operations[0].Status, v.Message)
	}
	if _, err := e.app.Operation.Updates.Update(t.Context(), e.admin, v.ID, cluster.Update{Kind: app.OperationRepair}); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterActive)
}

func TestFailedWakeIsResumedOrRolledBack(t *testing.T) {
	e := newEngine(t, sleepers)
	v := e.await(e.create(2).ID)
	if _, err := e.app.Operation.Sleeping.WakeCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := e.app.Operation.Sleeping.SleepCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterAsleep)
	bad := fake.Outcome{Err: app.Errorf(app.EInvalid, "not with this disk"), Node: "n2", Times: -1}
	e.cloud.Order(fake.Wake, bad)
	if _, err := e.app.Operation.Sleeping.WakeCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterFailed)
	if _, err := e.app.Operation.Sleeping.SleepCluster(t.Context(), e.admin, v.ID, ""); app.CodeOf(err) != app.EConflict {
		t.Errorf("a failed cluster is put to sleep: %v", err)
	}
	if _, err := e.app.Operation.RollBacks.RollBack(t.Context(), e.admin, v.ID, 0, "", ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterAsleep)
	for _, m := range e.cloud.Machines() {
		if m.State != family.MachineStopped {
			t.Errorf("rolled back, machine %s is %s", m.ID, m.State)
		}
	}
}

func TestFailedSleepIsRolledBack(t *testing.T) {
	e := newEngine(t, sleepers)
	v := e.await(e.create(2).ID)
	e.cloud.Order(fake.Sleep, fake.Outcome{Err: app.Errorf(app.EInvalid, "not with this disk"), Node: "n2", Times: -1})
	if _, err := e.app.Operation.Sleeping.SleepCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterFailed)
	began := len(e.effects())
	if _, err := e.app.Operation.RollBacks.RollBack(t.Context(), e.admin, v.ID, 0, "", ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterActive)
	if got := e.since(began); !slices.Equal(got, []string{"back.start", "front.start"}) {
		t.Errorf("done while rolling back: %v", got)
	}
	for _, m := range e.cloud.Machines() {
		if m.State != family.MachineRunning {
			t.Errorf("rolled back, machine %s is %s", m.ID, m.State)
		}
	}
}
