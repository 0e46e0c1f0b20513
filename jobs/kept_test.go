package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/quarantine"
	"muster/app/template"
	"muster/automators/shell"
	"muster/jobs"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
	"muster/providers/fake"
)

// keeping asks for a cluster whose failed machines are kept for 4 h.
func (e *engine) keeping(size int, choice app.FailureChoice) appcluster.View {
	e.Helper()
	return e.wanting(size, choice, template.PartialOverride{KeepFailed: "4h"})
}

// kept returns the machines that are kept.
func (e *engine) kept(cluster string) []quarantine.Machine {
	e.Helper()
	list, err := e.app.Quarantine.Machines.KeptMachines(e.ctx, e.admin, cluster)
	if err != nil {
		e.Fatal(err)
	}
	return list
}

// oneKept returns the only one, once its firewall has been seen to.
func (e *engine) oneKept() quarantine.Machine {
	e.Helper()
	list := e.kept("")
	if len(list) != 1 {
		e.Fatalf("%d machines are kept, want 1: %+v", len(list), list)
	}
	e.want(e.await(list[0].ID), app.ClusterActive)
	return e.kept("")[0]
}

// expire lets time pass until leases have ended, and waits for the deletions.
func (e *engine) expire(after time.Duration, want int, ids ...string) {
	e.Helper()
	config := e.config
	config.Now = func() time.Time { return time.Now().Add(after) }
	// What has ended by now, the engine may have seen already.
	if n, err := appall.New(config).Upkeep.Expire(e.ctx); n > want || n < want && after > 0 || err != nil {
		e.Fatalf("%d leases ended (%v), want %d", n, err, want)
	}
	for _, id := range ids {
		e.want(e.await(id), app.ClusterDeleted)
	}
}

// strangers has the machines of nodes present a host key that isn't expected, from now on.
func (e *engine) strangers(nodes ...string) {
	e.cloud.Bind(func(s family.MachineSpec) fake.Endpoint {
		target := e.ssh.Target()
		at := fake.Endpoint{Address: target.Address, Port: target.Port, HostKey: target.HostKey}
		if slices.Contains(nodes, s.Tags[family.TagNode]) {
			at.HostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
		}
		return at
	})
}

func TestRollBackKeepsTheFailedMachine(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.owner()
	e.strangers("n2")
	v := e.await(e.keeping(3, "").ID)
	e.want(v, app.ClusterFailed)
	machine := v.Nodes[1].MachineID

	p, err := e.app.Operation.RollBacks.PreviewRollBack(t.Context(), e.admin, v.ID, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	off, err := e.app.Operation.RollBacks.PreviewRollBack(t.Context(), e.admin, v.ID, 0, template.KeepOff)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Kept.Nodes(), []string{"n2"}) || slices.Contains(p.Deletes, "n2") || len(p.Deletes) != 2 || len(off.Deletes) != 3 ||
		len(off.Kept.Machines) != 0 ||
		off.PlanHash == p.PlanHash || !slices.Equal(off.CanKeep, []string{"n2"}) {
		t.Fatalf("the rollback is to keep %+v and delete %v; without keeping it is to delete %v", p.Kept, p.Deletes, off.Deletes)
	}
	if _, err := e.app.Operation.RollBacks.RollBack(t.Context(), e.admin, v.ID, 0, off.PlanHash, ""); app.AsError(err).Reason != "plan_changed" {
		t.Errorf("what was not shown is done: %v", err)
	}
	if _, err := e.app.Operation.RollBacks.RollBack(t.Context(), e.admin, v.ID, 0, p.PlanHash, ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted)
	k := e.oneKept()
	if k.KeptFrom != v.ID || k.KeptNode != "n2" || k.MachineID != machine || !k.FromDeleted || k.KeptReason != "n2.confirm failed" ||
		k.Isolation != quarantine.Unisolated {
		t.Errorf("kept is %+v", k)
	}
	if e.machines() != 1 || e.reserved() != 1 {
		t.Errorf("%d machines, reserved for %d, want 1 and 1", e.machines(), e.reserved())
	}
	if tags := e.cloud.Machines()[0].Tags; tags[family.TagCluster] != k.ID || tags[family.TagNode] != "n1" {
		t.Errorf("the machine's tags are %v", tags)
	}
	if r := e.receipt(v.ID); r.Remaining != 0 || r.Kept != 1 || len(r.Lines) != 3 {
		t.Errorf("the receipt has %d left, %d kept, %d lines", r.Remaining, r.Kept, len(r.Lines))
	}
	if r := e.receipt(k.ID); r.Remaining != 1 || len(r.Lines) != 1 || r.Lines[0].ID != machine || r.Lines[0].Kept {
		t.Errorf("the receipt of the kept machine is %+v", r)
	}
	notices, err := e.store.Notices(t.Context(), app.DefaultTenant, 0, 100)
	if err != nil || !slices.ContainsFunc(notices, func(n app.Notice) bool { return strings.HasPrefix(n.Title, "Machine n2 of web is kept") }) {
		t.Errorf("no one is notified: %+v, %v", notices, err)
	}
	for _, kind := range []app.OperationKind{app.OperationResize, app.OperationRepair, app.OperationRestart} {
		if _, err := e.app.Operation.Updates.Update(t.Context(), e.admin, k.ID, appcluster.Update{Kind: kind, Size: 2}); app.AsError(err).Reason != "kept" {
			t.Errorf("%s of a kept machine: %v", kind, err)
		}
	}
	e.expire(3*time.Hour, 0)
	e.expire(5*time.Hour, 1, k.ID)
	if r := e.receipt(k.ID); e.machines() != 0 || e.reserved() != 0 || r.Remaining != 0 || len(e.kept("")) != 0 {
		t.Errorf("after its lease %d machines are left, reserved for %d, receipt %+v", e.machines(), e.reserved(), r)
	}
}

// An accepted partial result keeps the machine that it leaves out, and the backfill creates another. The account's check takes it for no orphan.
func TestPartialResultKeepsTheFailedMachine(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.owner()
	lost := e.frontOf(4)
	e.strangers(lost)
	v := e.await(e.keeping(4, app.FailureAcceptPartial).ID)
	e.want(v, app.ClusterFailed)
	v = e.goesOn(v.ID)
	e.want(v, app.ClusterActive)
	k := e.oneKept()
	if v.Size != 3 || e.machines() != 4 || e.reserved() != 4 || k.KeptNode != lost || k.FromDeleted {
		t.Fatalf("size %d, %d machines, reserved for %d, kept %+v", v.Size, e.machines(), e.reserved(), k)
	}
	stop := e.reconciler(nil)
	e.passes(3)
	stop()
	if o := e.orphans(false); len(o) != 0 || e.machines() != 4 {
		t.Errorf("orphans %+v, %d machines", o, e.machines())
	}
	e.delete(v.ID)
	e.expire(0, 1, k.ID) // it goes with its cluster
	if e.machines() != 0 || e.reserved() != 0 {
		t.Errorf("%d machines are left, reserved for %d", e.machines(), e.reserved())
	}
}

// frontOf names the last node that has a front.
func (e *engine) frontOf(size int) (node string) {
	e.Helper()
	p, err := e.app.Cluster.Creates.Preview(e.ctx, e.admin, appcluster.CreateRequest{Request: layout.Request{Template: "web", Size: size}})
	if err != nil {
		e.Fatal(err)
	}
	for _, n := range plan.Nodes(p.Layout) {
		if slices.Contains(n.Services, "front") {
			node = n.Name
		}
	}
	return node
}

// A repair keeps the machine that it replaces. The node keeps its name, and gets another machine with another host key.
func TestRepairKeepsTheReplacedMachine(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.owner()
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	machine := v.Nodes[1].MachineID
	m := appcluster.Update{Kind: app.OperationRepair, Nodes: []string{"n2"}, PartialOverride: template.PartialOverride{KeepFailed: "1h"}}
	p, err := e.app.Operation.Updates.PreviewUpdate(t.Context(), e.admin, v.ID, m)
	if err != nil || !slices.Equal(p.Plan.Keeps, []string{"n2"}) || !slices.ContainsFunc(p.Notes,
		func(s string) bool { return strings.HasPrefix(s, "Keeps 1 failed machine") }) {
		t.Fatalf("the repair is to keep %v (%v), notes %q", p.Plan.Keeps, err, p.Notes)
	}
	v, _ = e.updated(v.ID, m)
	e.want(v, app.ClusterActive)
	k := e.oneKept()
	if n := v.Nodes[1]; n.Name != "n2" || n.MachineID == machine || n.MachineID == "" || k.MachineID != machine || k.KeptNode != "n2" {
		t.Errorf("n2 has machine %s, and %s is kept of %s; it was %s", n.MachineID, k.MachineID, k.KeptNode, machine)
	}
	if e.machines() != 4 || e.reserved() != 4 || len(e.kept(v.ID)) != 1 {
		t.Errorf("%d machines, reserved for %d, %d kept of the cluster", e.machines(), e.reserved(), len(e.kept(v.ID)))
	}
	// By hand it goes too, and once more changes nothing.
	e.delete(k.ID)
	e.delete(k.ID)
	if r := e.receipt(k.ID); e.machines() != 3 || e.reserved() != 3 || r.Remaining != 0 {
		t.Errorf("%d machines, reserved for %d, receipt %+v", e.machines(), e.reserved(), r)
	}
	e.delete(v.ID)
}

// pickyShells are SSH connections, except that machines at one port refuse the key at once.
type pickyShells struct {
	*remote.Pool
	refuses int
}

func (s *pickyShells) Await(ctx context.Context, t remote.Target) (string, error) {
	if t.Port == s.refuses {
		return "", &app.Error{Code: app.ECredentials, Reason: "auth_refused", Message: "The machine refused the key of user root."}
	}
	conn, err := remote.Wait(ctx, t)
	if err != nil {
		return "", err
	}
	key := conn.HostKey()
	s.Adopt(t, conn)
	return key, nil
}

// startWorkerOver has another worker take the place of the one that there is.
func (e *engine) startWorkerOver(name string, shells jobs.Shells) {
	e.Helper()
	_ = e.worker.Close()
	w, err := jobs.StartWorker(jobs.WorkerConfig{Name: name, Tenant: app.DefaultTenant, Slots: 8, Queue: e.queue, Coordinator: e.coord, Shells: shells,
		Providers: e.clouds, Automators: map[string]family.Automator{"shell": shell.New()}, Log: quiet(e.T)})
	if err != nil {
		e.Fatal(err)
	}
	e.worker = w
	e.Cleanup(func() { _ = w.Close() })
}

// A machine that refuses its key is replaced while it's waited for: the first one is kept, and what comes after it is deleted as ever.
func TestConfirmKeepsTheMachineThatItReplaces(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.owner()
	closed, _ := remotetest.ClosedPort(t)
	e.startWorkerOver("w2", &pickyShells{Pool: remote.NewPool(remote.PoolOptions{}), refuses: closed})
	made := map[string]int{}
	e.cloud.Bind(func(s family.MachineSpec) fake.Endpoint {
		target := e.ssh.Target()
		at := fake.Endpoint{Address: target.Address, Port: target.Port, HostKey: target.HostKey}
		if made[s.Tags[family.TagNode]]++; s.Tags[family.TagNode] == "n1" && made["n1"] == 1 {
			at.Port = closed
		}
		return at
	})
	v := e.await(e.keeping(2, "").ID)
	e.want(v, app.ClusterActive)
	k := e.oneKept()
	if k.KeptNode != "n1" || k.MachineID == v.Nodes[0].MachineID || e.machines() != 3 || e.reserved() != 3 || made["n1"] != 2 {
		t.Errorf("kept %+v, n1 has %s, %d machines, reserved for %d, %d were created for n1", k, v.Nodes[0].MachineID, e.machines(), e.reserved(), made["n1"])
	}
	if r := e.receipt(v.ID); r.Remaining != 2 || r.Kept != 1 {
		t.Errorf("the receipt has %d left and %d kept", r.Remaining, r.Kept)
	}
	e.delete(v.ID)
	e.expire(0, 1, k.ID)
	if e.machines() != 0 || e.reserved() != 0 {
		t.Errorf("%d machines are left, reserved for %d", e.machines(), e.reserved())
	}
}

// A tenant keeps so many at most. What isn't asked for by a person is done without keeping then; a person gets an error.
func TestKeptMachinesAreBounded(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.owner()
	v := e.await(e.create(quarantine.MostKept + 2).ID)
	e.want(v, app.ClusterActive)
	var all []string
	for _, n := range v.Nodes {
		all = append(all, n.Name)
	}
	m := appcluster.Update{Kind: app.OperationRepair, Nodes: all, PartialOverride: template.PartialOverride{KeepFailed: "1h"}}
	p, err := e.app.Operation.Updates.PreviewUpdate(t.Context(), e.admin, v.ID, m)
	if err != nil || len(p.Plan.Keeps) != quarantine.MostKept {
		t.Fatalf("%d are to be kept (%v)", len(p.Plan.Keeps), err)
	}
	// The quota has room for no more than the cluster itself.
	most := float64(quarantine.MostKept + 2)
	if _, err := e.app.Policy.Quotas.SetQuota(t.Context(), e.admin, policy.Quota{Scope: policy.QuotaUser, Name: "ada",
		Limits: policy.Limits{Nodes: &most}}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.app.Operation.Updates.Update(t.Context(), e.admin, v.ID, m); app.CodeOf(err) != app.EQuota || !quarantine.Refused(err) {
		t.Errorf("beyond the quota: %v", err)
	}
	if len(e.kept("")) != 0 || e.machines() != quarantine.MostKept+2 {
		t.Errorf("%d are kept, %d machines", len(e.kept("")), e.machines())
	}
	if quarantine.Refused(errors.New("other")) || quarantine.Refused(nil) {
		t.Error("any error is taken for a refusal of what is kept")
	}
}
