package jobs_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/template"
	"muster/automators/shell"
	"muster/jobs"
	"muster/providers/fake"
)

// eventually waits for something that others do.
func (e *engine) eventually(what string, done func() bool) {
	e.Helper()
	for end := time.Now().Add(hangs); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			e.Fatalf("it never happened: %s", what)
		}
	}
}

// running waits until steps with this action run.
func (e *engine) running(id string, a app.Action, service string, n int) {
	e.Helper()
	e.eventually(fmt.Sprintf("%d %s %s run", n, service, a), func() bool {
		steps, err := e.app.Cluster.Activity.Steps(e.ctx, e.admin, id, 0)
		if err != nil {
			e.Fatal(err)
		}
		there := 0
		for _, s := range steps {
			if s.Action == a && s.Service == service && s.State == app.StepRunning {
				there++
			}
		}
		return there >= n
	})
}

// undo waits until a rollback that is due was begun, which must be so once.
func (e *engine) undo() {
	e.Helper()
	begun := 0
	e.eventually("a rollback begins", func() bool {
		n, err := e.app.Operation.RollBacks.UndoFailed(e.ctx)
		if err != nil {
			e.Fatal(err)
		}
		begun += n
		return n > 0
	})
	if n, err := e.app.Operation.RollBacks.UndoFailed(e.ctx); n != 0 || err != nil || begun != 1 {
		e.Fatalf("%d rollbacks were begun, and then %d (%v)", begun, n, err)
	}
}

// slowFront lets the fronts' install take longer than any test waits, and note when it is stopped.
func slowFront(e *engine, c *template.Catalog) {
	c.Services["front"].Actions[app.ActionInstall].Fields["script"] = fmt.Sprintf("echo \"$MUSTER_NODE began\" >>%q\nsleep 600\necho \"$MUSTER_NODE done\" >>%q\n", e.effect, e.effect)
}

func TestCancelStopsStepsAndCleansUp(t *testing.T) {
	t.Parallel()
	e := newEngine(t, slowFront)
	id := e.create(3).ID
	e.running(id, app.ActionInstall, "front", 2)
	asked := time.Now()
	if _, err := e.app.Operation.Controls.CancelOperation(t.Context(), e.admin, id, 0, true); err != nil {
		t.Fatal(err)
	}
	v := e.await(id)
	stopped := time.Since(asked)
	if v.Operations[0].Status != app.OperationCancelled {
		t.Fatalf("after the cancel it is %s: %s", v.Operations[0].Status, v.Operations[0].Message)
	}
	e.undo()
	v = e.await(id)
	clean := time.Since(asked)
	e.want(v, app.ClusterDeleted)
	if v.Operations[0].Kind != app.OperationRollBack || v.Operations[0].RollsBack != v.Operations[1].ID || e.machines() != 0 {
		t.Errorf("the latest operation is %+v, and %d machines are left", v.Operations[0], e.machines())
	}
	for _, line := range e.effects() {
		if strings.HasSuffix(line, "done") {
			t.Errorf("a script ran to its end: %s", line)
		}
	}
	t.Logf("stopped %s and cleaned up %s after the cancel", stopped.Round(time.Millisecond), clean.Round(time.Millisecond))
}

// signalOnly tells a worker of cancels only through the signal: the heartbeats between report nothing.
type signalOnly struct {
	*execution.Service
	sent atomic.Bool
}

func (h *signalOnly) CancelSignal(w app.WorkerID) (<-chan struct{}, func()) {
	heard, stop := h.Service.CancelSignal(w)
	passed, done := make(chan struct{}, 1), make(chan struct{})
	var relay sync.WaitGroup
	relay.Go(func() {
		for {
			select {
			case <-heard:
				h.sent.Store(true)
				select {
				case passed <- struct{}{}:
				default:
				}
			case <-done:
				return
			}
		}
	})
	return passed, func() { close(done); relay.Wait(); stop() }
}

func (h *signalOnly) Heartbeat(ctx context.Context, w app.WorkerID, held []app.Fence) ([]execution.Directive, error) {
	sent := h.sent.Swap(false)
	all, err := h.Service.Heartbeat(ctx, w, held)
	if !sent {
		all = nil
	}
	return all, err
}

// TestCancelIsImmediateInProcess has a worker that meets the server without anything in between.
func TestCancelIsImmediateInProcess(t *testing.T) {
	e := newEngine(t, slowFront)
	if err := e.worker.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := jobs.StartWorker(jobs.WorkerConfig{Name: "near", Tenant: app.DefaultTenant, Slots: 8, Queue: e.queue, Coordinator: &signalOnly{Service: e.app.Execution.Coordinator},
		Providers: oneCloud{e.cloud}, Automators: map[string]family.Automator{"shell": shell.New()}, Log: quiet(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	id := e.create(3).ID
	e.running(id, app.ActionInstall, "front", 2)
	asked := time.Now()
	if _, err := e.app.Operation.Controls.CancelOperation(t.Context(), e.admin, id, 0, true); err != nil {
		t.Fatal(err)
	}
	v := e.await(id)
	stopped := time.Since(asked)
	e.undo()
	e.want(e.await(id), app.ClusterDeleted)
	t.Logf("stopped %s and cleaned up %s after the cancel", stopped.Round(time.Millisecond), time.Since(asked).Round(time.Millisecond))
	if v.Operations[0].Status != app.OperationCancelled || e.machines() != 0 {
		t.Errorf("it is %s %s after the cancel, and %d machines are left", v.Operations[0].Status, stopped, e.machines())
	}
}

func TestPauseAndContinue(t *testing.T) {
	gate := ""
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		gate = e.effect + ".gate"
		c.Services["back"].Actions[app.ActionInstall].Fields["script"] = fmt.Sprintf("while [ ! -e %q ]; do sleep 0.02; done\n", gate)
	})
	id := e.create(2).ID
	e.running(id, app.ActionInstall, "back", 1)
	if _, err := e.app.Operation.Controls.PauseOperation(t.Context(), e.admin, id, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e.eventually("what ran has ended", func() bool {
		steps, _ := e.app.Cluster.Activity.Steps(e.ctx, e.admin, id, 0)
		for _, s := range steps {
			if s.State == app.StepRunning {
				return false
			}
		}
		return true
	})
	for range 3 { // as often as it is looked for work
		if n, err := e.store.SweepSteps(t.Context(), time.Now()); n != 0 || err != nil {
			t.Errorf("the sweep moved %d steps of a paused operation (%v)", n, err)
		}
	}
	w, err := e.app.Execution.Waits.Waiting(t.Context(), e.admin, id, execution.WaitingFilter{})
	if err != nil || w.Status != app.OperationPaused || w.Text != "Paused by ada. Resume it to continue." || w.Total == 0 || len(w.Steps) != w.Total {
		t.Errorf("why it waits: %+v, %v", w, err)
	}
	for _, line := range e.effects() {
		if strings.HasSuffix(line, "back.start") {
			t.Error("a step began while it was paused")
		}
	}
	_, err = e.app.Operation.Controls.PauseOperation(t.Context(), e.admin, id, 0)
	if e := app.AsError(err); e.Code != app.EConflict || e.Hint != "You can resume it or cancel it." {
		t.Errorf("a second pause says %q, %q", e.Message, e.Hint)
	}
	if _, err := e.app.Operation.Controls.ResumeOperation(t.Context(), e.admin, id, 0); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(id), app.ClusterActive)
}

func TestAutomaticRollbackStartsOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		c.Services["front"].Actions[app.ActionInstall].Fields["script"] = "echo no; exit 7\n"
	})
	v, err := e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, cluster.CreateRequest{Name: "web", Request: layout.Request{Template: "web", Size: 3}, OnFailure: app.FailureRollBack})
	if err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterFailed)
	if e.machines() != 3 {
		t.Fatalf("%d machines are there", e.machines())
	}
	e.undo()
	v = e.await(v.ID)
	e.want(v, app.ClusterDeleted)
	if e.machines() != 0 || v.Operations[0].Requester != "muster" {
		t.Errorf("%d machines are left; %+v", e.machines(), v.Operations[0])
	}
	if left, err := e.store.IntentsOf(t.Context(), "cloud"); len(left) > 0 || err != nil {
		t.Errorf("intents that have not ended: %v, %v", left, err)
	}
	// The name is free again.
	if _, err := e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, cluster.CreateRequest{Name: "web", Request: layout.Request{Template: "web", Size: 1, Services: []string{"back"}}}); err != nil {
		t.Error(err)
	}
}

func TestRollbackDeletesMachinesOfLostCreates(t *testing.T) {
	e := newEngine(t, nil)
	// The machine of n1 is made, and no one learns of it; n2's is refused.
	e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.ECredentials, Message: "refused"}, Happens: true, Node: "n1"})
	e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.EQuota, Message: "too many"}, Node: "n2"})
	id := e.create(2).ID
	v := e.await(id)
	e.want(v, app.ClusterFailed)
	if e.machines() != 1 {
		t.Fatalf("%d machines are there", e.machines())
	}
	steps, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.ID == "n2.create" && !strings.Contains(s.Error, "Raise the account's limit") {
			t.Errorf("the person doesn't see what to decide: %q", s.Error)
		}
	}
	p, err := e.app.Operation.RollBacks.PreviewRollBack(t.Context(), e.admin, id, 0, "")
	if err != nil || strings.Join(p.Deletes, " ") != "n1 n2" || !p.DeletesCluster {
		t.Fatalf("the preview: %+v, %v", p, err)
	}
	if _, err := e.app.Operation.RollBacks.RollBack(t.Context(), e.admin, id, 0, strings.Repeat("0", 64), ""); app.AsError(err).Reason != "plan_changed" {
		t.Errorf("another plan than was shown: %v", err)
	}
	if _, err := e.app.Operation.RollBacks.RollBack(t.Context(), e.admin, id, 0, p.PlanHash, ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(id), app.ClusterDeleted)
	if e.machines() != 0 {
		t.Errorf("%d machines are left", e.machines())
	}
}

func TestRetryAffectsOneNode(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		c.Services["front"].Actions[app.ActionInstall].Fields["script"] = fmt.Sprintf("echo \"$MUSTER_NODE tried\" >>%[1]q\n[ -e %[1]q.good ]\n", e.effect)
	})
	id := e.create(3).ID
	e.want(e.await(id), app.ClusterFailed)
	before := len(e.effects())
	if err := os.WriteFile(e.effect+".good", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	steps, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	node := ""
	for _, s := range steps {
		if s.State == app.StepFailed {
			node = s.Node
		}
	}
	for name, says := range map[string]string{"n99": "no node", "n1x": "Did you mean n1?"} {
		if _, err := e.app.Operation.Controls.RetryNode(t.Context(), e.admin, id, name); !strings.Contains(app.AsError(err).Message+app.AsError(err).Hint, says) {
			t.Errorf("a retry of %s: %v", name, err)
		}
	}
	if _, err := e.app.Operation.Controls.RetryNode(t.Context(), e.admin, id, node); err != nil {
		t.Fatal(err)
	}
	v := e.await(id)
	e.want(v, app.ClusterFailed)
	for _, line := range e.effects()[before:] {
		if strings.HasSuffix(line, "tried") && !strings.HasPrefix(line, node+" ") {
			t.Errorf("another node was tried: %s", line)
		}
	}
	if _, err := e.app.Operation.Controls.ResumeOperation(t.Context(), e.admin, id, v.Operations[0].ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(id), app.ClusterActive)
}

func TestWaitingReasons(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		c.Services["back"].Actions[app.ActionStart].Fields["script"] = "sleep 600\n"
	})
	id := e.create(4).ID
	e.running(id, app.ActionStart, "back", 1)
	e.eventually("all fronts wait for back", func() bool {
		w, err := e.app.Execution.Waits.Waiting(t.Context(), e.admin, id, execution.WaitingFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return w.Running == 1 && (w.Total == 3 || w.Total == 4 && w.Groups[1].Reason == execution.WaitNode) // the names of the node with back may wait for it
	})
	w, err := e.app.Execution.Waits.Waiting(t.Context(), e.admin, id, execution.WaitingFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Groups[0].Count != 3 || !strings.HasSuffix(w.Groups[0].Text, ".back.start, which is running.") ||
		w.Text != fmt.Sprintf("Creation is running: 1 step in progress, %d waiting.", w.Total) {
		t.Errorf("%+v", w)
	}
	for _, s := range w.Steps {
		if strings.HasSuffix(s.Step, ".names") {
			continue
		}
		if s.Reason != execution.WaitSteps || len(s.For) != 1 || !strings.HasSuffix(s.For[0], ".back.start") {
			t.Errorf("%s waits for %v: %s", s.Step, s.For, s.Text)
		}
	}
	_, err = e.app.Execution.Waits.Waiting(t.Context(), e.admin, id, execution.WaitingFilter{Node: "n22"})
	if app.AsError(err).Hint != "Did you mean n2?" {
		t.Errorf("a node that is not there: %v", err)
	}
	q, err := e.app.Execution.Waits.Queue(t.Context(), e.admin)
	if err != nil || len(q.Operations) != 1 || q.Running != 1 || q.Operations[0].Waiting != 3 && q.Operations[0].Waiting != w.Total {
		t.Errorf("the queue: %+v, %v", q, err)
	}
	if _, err := e.app.Operation.Controls.CancelOperation(t.Context(), e.admin, id, 0, false); err != nil {
		t.Fatal(err)
	}
	v := e.await(id)
	e.want(v, app.ClusterFailed)
	if v.Operations[0].Status != app.OperationCancelled || e.machines() != 4 {
		t.Errorf("after a cancel alone it is %s, with %d machines", v.Operations[0].Status, e.machines())
	}
}

// A delete is accepted also while an earlier one is paused.
func TestSecondDeleteWhileTheFirstIsPaused(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	_ = e.worker.Close()
	if _, err := e.app.Cluster.Deletes.DeleteCluster(e.ctx, e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := e.app.Operation.Controls.PauseOperation(e.ctx, e.admin, v.ID, 0); err != nil {
		t.Fatal(err)
	}
	e.startWorker("w2")
	e.delete(v.ID)
	if e.machines() != 0 {
		t.Errorf("%d machines are left", e.machines())
	}
}
