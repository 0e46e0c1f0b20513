package jobs_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/jobs/remote/remotetest"
	"muster/providers/fake"
)

// waitsFor waits until it is known what a cluster waits for at its machine.
func (e *engine) waitsFor(id string) string {
	e.Helper()
	for deadline := time.Now().Add(hangs); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		w, err := e.app.Execution.Waits.Waiting(e.ctx, e.admin, id, execution.WaitingFilter{})
		if err != nil {
			e.Fatal(err)
		}
		if i := slices.IndexFunc(w.Groups, func(g execution.WaitGroup) bool {
			return g.Reason == execution.WaitMachine && strings.Contains(g.Text, "Waiting for")
		}); i >= 0 {
			return w.Groups[i].Text
		}
	}
	e.Fatal("nothing tells what the confirm waits for")
	return ""
}

// While a confirm waits, people see where it tries to log in, how often, and what failed; and a machine that stops meanwhile is
// replaced at once.
func TestConfirmReportsProgress(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	dead, _ := remotetest.ClosedPort(t)
	var made atomic.Int32
	e.cloud.Bind(func(family.MachineSpec) fake.Endpoint {
		target := e.ssh.Target()
		at := fake.Endpoint{Address: target.Address, Port: target.Port, HostKey: target.HostKey}
		if made.Add(1) == 1 {
			at.Address, at.Port = "127.0.0.1", dead
		}
		return at
	})
	v := e.create(2)
	text := e.waitsFor(v.ID)
	for _, want := range []string{"n", ": Waiting for SSH on root@127.0.0.1:", "attempt ", " so far", "refused"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	lines, err := e.app.Cluster.Activity.Logs(t.Context(), e.admin, v.ID, cluster.LogFilter{})
	if err != nil || !slices.ContainsFunc(lines, func(l app.LogLine) bool { return strings.HasPrefix(l.Text, "Waiting for SSH on root@127.0.0.1:") }) {
		t.Errorf("the log does not say it: %+v, %v", lines, err)
	}

	first := ""
	for _, m := range e.cloud.Machines() {
		if m.SSHPort == dead {
			first = m.ID
		}
	}
	e.cloud.Stop(first)
	v = e.await(v.ID)
	e.want(v, app.ClusterActive)
	if n := e.machines(); n != 2 || e.cloud.Count(fake.Create) != 3 {
		t.Errorf("%d machines after %d creates", n, e.cloud.Count(fake.Create))
	}
	bill, err := e.app.Fleet.Machines.Receipt(t.Context(), e.admin, v.ID)
	if err != nil || len(bill.Lines) != 3 || bill.Remaining != 2 {
		t.Errorf("the receipt has %d machines, of which %d are left (%v), want 3 and 2", len(bill.Lines), bill.Remaining, err)
	}
	for _, l := range bill.Lines {
		if (l.ID == first) == l.DeletedAt.IsZero() {
			t.Errorf("on the receipt: %+v", l)
		}
	}
	for _, n := range v.Nodes {
		if n.MachineID == first || n.Status != app.NodeReady || n.SSHPort == dead {
			t.Errorf("%+v", n)
		}
	}
}

// However often the machines of a node go while they are waited for: three are created, the last one stays to be looked at, and a resume tries new ones.
func TestAfterThreeMachinesAPersonDecides(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	dead, _ := remotetest.ClosedPort(t)
	var well atomic.Bool
	e.cloud.Bind(func(s family.MachineSpec) fake.Endpoint {
		target := e.ssh.Target()
		at := fake.Endpoint{Address: target.Address, Port: target.Port, HostKey: target.HostKey}
		if s.Tags[family.TagNode] == "n1" && !well.Load() {
			at.Port = dead
		}
		return at
	})
	v := e.create(2)
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			for _, m := range e.cloud.Machines() {
				if m.SSHPort == dead && m.State == family.MachineRunning {
					e.cloud.Stop(m.ID)
				}
			}
		}
	}()
	v = e.await(v.ID)
	close(stop)
	<-ended
	e.want(v, app.ClusterFailed)
	if n := e.cloud.Count(fake.Create); n != 4 || e.machines() != 2 {
		t.Errorf("%d machines were created for two nodes, and %d are there, want 4 and 2", n, e.machines())
	}
	if !strings.Contains(v.Message, "3 machines were created") {
		t.Errorf("people see %q", v.Message)
	}
	well.Store(true)
	if _, err := e.app.Operation.Controls.ResumeOperation(e.ctx, e.admin, v.ID, 0); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterActive)
	if e.machines() != 2 {
		t.Errorf("%d machines, want 2", e.machines())
	}
}
