package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/observe"
	"muster/app/template"
	"muster/jobs/cache"
	"muster/jobs/internal/loop"
	"muster/jobs/queue"
	"muster/jobs/redact"
	"muster/jobs/remote"
)

// Providers opens the accounts that steps name.
type Providers interface {
	// Provider returns the account of a spec; the same one for the same spec. Errors are those of the family.
	Provider(ctx context.Context, spec template.ProviderSpec) (family.Provider, error)
}

// WorkerConfig is what a worker needs. All fields but Queue and Shells are required.
type WorkerConfig struct {
	Name        string // unique among all workers that ever ran
	Tenant      string
	Slots       int          // steps at the same time
	Queue       *queue.Queue // nil: there are no wake-ups, see Follow
	Coordinator execution.Coordinator
	Providers   Providers
	Automators  map[string]family.Automator
	Shells      Shells // nil: over SSH
	// Guard connects to machines of tenants' own providers, where they may be reached; nil: none of them is.
	Guard     func(ctx context.Context, network, address string) (net.Conn, error)
	Resources *cache.Resources // nil: none are brought to nodes
	Log       *slog.Logger
	Meter     observe.Meter  // nil: no one counts
	Tracer    observe.Tracer // nil: no one follows
}

// Worker carries out steps of one tenant. A wake-up wakes a free slot; one that finds a step wakes another, and each goes from
// step to step by itself until the server has none left. So wake-ups are needed for idle workers only.
type Worker struct {
	actions
	listener  *queue.Listener
	heartbeat *heartbeat
	logs      *logBatcher
	batcher   *batcher
	slots     *slots
	work      sync.WaitGroup
	drop      context.CancelFunc // ends ctx
	watch     context.Context    // ends when health checks stop
	blind     context.CancelFunc
	gate      sync.RWMutex
	drains    bool // no new step is taken
	once      sync.Once
}

// prefetch is how many wake-ups a worker may hold while all of its slots are taken. They are lost with it, which costs nothing
// as long as anybody else of the tenant is at work, so there are few.
const prefetch = 4

// StartWorker begins to serve the tenant's queue. Close it.
func StartWorker(c WorkerConfig) (*Worker, error) {
	w := newWorker(c)
	if k, ok := c.Coordinator.(execution.CheckBatchSource); ok {
		w.work.Go(func() { w.rounds(k) })
	}
	if c.Queue == nil {
		return w, nil
	}
	var err error
	if w.listener, err = c.Queue.Listen(w.ctx, c.Tenant, min(prefetch, c.Slots), c.Log, w.serve); err != nil {
		w.shut()
		w.drop()
		_ = w.idle(context.Background())
		w.close()
		return nil, fmt.Errorf("jobs: worker of %s: %w", c.Tenant, err)
	}
	return w, nil
}

// newWorker is a worker that receives no wake-ups yet.
func newWorker(c WorkerConfig) *Worker {
	c.Log, c.Meter = c.Log.With("tenant", c.Tenant), observe.MeterOf(c.Meter)
	if c.Shells == nil {
		c.Shells = sshShells{remote.NewPool(remote.PoolOptions{Dialed: func(err error) { c.Meter.Add(observe.MetricDials, 1, app.CodeLabel(err)) }})}
	}
	w := &Worker{actions: actions{WorkerConfig: c}, slots: newSlots(c.Slots)}
	w.ctx, w.drop = context.WithCancel(context.Background())
	w.watch, w.blind = context.WithCancel(w.ctx)
	w.heartbeat = startHeartbeat(w.id(), c.Coordinator, c.Log)
	w.logs = startLogBatcher(w.id(), c.Coordinator, c.Log)
	w.batcher = &batcher{worker: w.id(), coord: c.Coordinator, flush: w.logs.flush}
	return w
}

func (w *Worker) close() {
	w.batcher.close()
	w.heartbeat.close()
	w.logs.close()
	_ = w.Shells.Close()
}

// ShutdownTime is how long steps have to let go at shutdown.
const ShutdownTime = 8 * time.Second

// Drain takes no new step and waits until running ones have ended, or ctx has. Close the worker afterwards.
func (w *Worker) Drain(ctx context.Context) error {
	w.shut()
	w.stopListening()
	return w.idle(ctx)
}

func (w *Worker) shut() {
	w.gate.Lock()
	defer w.gate.Unlock()
	w.drains = true
	w.blind()
}

func (w *Worker) idle(ctx context.Context) error {
	done := make(chan struct{})
	go func() { w.work.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stopListening ends the wait for wake-ups.
func (w *Worker) stopListening() {
	if w.listener != nil {
		w.listener.Stop()
	}
}

// Close stops taking steps, asks running ones to let go (their steps go back to the ledger, to be taken again), and
// closes the connections. It may be called twice.
func (w *Worker) Close() error {
	w.once.Do(func() {
		w.shut()
		w.stopListening()
		w.drop()
		if w.listener != nil {
			w.listener.Close()
		}
		ctx, cancel := context.WithTimeout(context.Background(), ShutdownTime)
		defer cancel()
		if w.idle(ctx) != nil {
			w.Log.Error("cancelled steps didn't stop; the worker exits without them")
		}
		w.close()
	})
	return nil
}

// serve handles one wake-up: once a slot is free, that slot goes to work, and the wake-up is done.
func (w *Worker) serve() {
	if w.slots.take(w.ctx) {
		w.goToWork()
	}
}

// goToWork lets a slot that was taken work until there is nothing to do.
func (w *Worker) goToWork() {
	w.gate.RLock()
	defer w.gate.RUnlock()
	if w.drains {
		w.slots.give()
		return
	}
	w.work.Go(func() {
		asked := w.steps()
		w.slots.give()
		if asked { // several may have stopped where one was too many
			w.wakeAnother()
		}
	})
}

// wakeAnother sends one more free slot to work, if there is one: where there was a step there may be more, and one wake-up
// is then enough for all slots of a worker.
func (w *Worker) wakeAnother() {
	if w.slots.tryTake() {
		w.goToWork()
	}
}

// steps carries out step after step until there is none left for this slot: a node's own chain first, on the connection
// that it has, then whatever else the server has queued.
// It reports whether it stopped because it was asked to.
func (w *Worker) steps() (asked bool) {
	for try := 1; w.goesOn(); {
		as, err := w.batcher.claim()
		if err != nil {
			if w.ctx.Err() == nil {
				w.Log.Warn("could not claim a step", "error", err)
			}
			if app.CodeOf(err) != app.ETransient || try > claimTries || loop.Pause(w.ctx, loop.BackOff(100*time.Millisecond, try)) != nil {
				return false // the dispatcher repeats it
			}
			try++
			continue
		}
		if as == nil {
			return false
		}
		w.wakeAnother()
		for try = 1; as != nil; {
			if as, err = w.carryOut(as); err != nil && app.CodeOf(err) != app.EStale && w.ctx.Err() == nil {
				w.Log.Warn("could not report a step", "error", err)
			}
		}
	}
	return true
}

// claimTries is how often a slot asks for a step while the server cannot be reached.
const claimTries = 8

// goesOn reports whether a slot of the worker takes further steps.
func (w *Worker) goesOn() bool {
	w.gate.RLock()
	defer w.gate.RUnlock()
	return w.ctx.Err() == nil && !w.drains && !w.slots.over()
}

// carryOut does one step and reports it. It returns the node's next step, if there is one for us.
func (w *Worker) carryOut(as *execution.Assignment) (*execution.Assignment, error) {
	ctx, cancel := context.WithTimeoutCause(w.ctx, as.Timeout, errOverTime)
	defer cancel()
	ctx, ended := w.begin(ctx, as)
	ctx, hold := w.heartbeat.hold(ctx, as.Fence, as.Deadline)
	defer hold.stopGrace()
	hide := redact.New(as.Secrets)
	out := hide.Over(w.logs.of(as.Fence))
	began := time.Now()
	r := execution.Report{Fence: as.Fence, Action: as.Action}
	defer func() { ended(r, time.Since(began)) }()
	r.Err = hide.Error(w.failure(ctx, as, loop.Safely(func() error {
		if err := w.learnHosts(ctx, as); err != nil {
			return err
		}
		return w.act(ctx, as, out, &r)
	})))
	if r.Changes != nil {
		for i, text := range r.Changes.Texts {
			r.Changes.Texts[i] = hide.Hide(text, 0)
		}
	}
	if r.Err != nil {
		own := *r.Err // a provider may give the same one to several steps
		r.Err = &own
		if own.Reason == app.ReasonCloudBroken {
			w.Log.InfoContext(ctx, "provider's cloud failed", "provider", as.Provider.Name, "error", r.Err)
		}
		r.Retry = retryOf(r.Err, as)
		if w.ctx.Err() != nil { // we are the ones who stop, not the step
			r.Retry = app.Retry{Again: true, Free: true}
		}
		out(family.StreamSystem, outcome(r))
	}
	if hold.lost() {
		w.Log.WarnContext(ctx, "claim lost; another worker has the step")
		return nil, nil
	}
	r.WantNext = w.goesOn()
	w.Log.DebugContext(ctx, "step", "action", as.Action,
		"took", time.Since(began).Round(time.Millisecond), "error", r.Err)
	return w.batcher.report(r)
}

// Causes for which a step's context ends.
var (
	errOverTime  = errors.New("time limit")
	errCancelled = errors.New("cancelled")
	errLost      = errors.New("claim lost")
)

// failure words why a step did not succeed; nil stays nil.
func (w *actions) failure(ctx context.Context, as *execution.Assignment, err error) *app.Error {
	if err == nil {
		return nil
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errLost):
		return &app.Error{Code: app.ECancelled, Message: "Stopped: another worker has this step now."}
	case errors.Is(cause, errCancelled):
		return &app.Error{Code: app.ECancelled, Message: "Cancelled by a user."}
	case errors.Is(cause, errOverTime):
		return &app.Error{Code: app.ETimeout, Reason: reasonTimeLimit,
			Message: fmt.Sprintf("%s didn't finish within %s.", as.StepID, humanize.Exact(as.Timeout))}
	case w.ctx.Err() != nil:
		return &app.Error{Code: app.ETransient, Reason: reasonStopped, Message: "The worker shut down; the step will be retried."}
	}
	var e *app.Error
	if errors.As(err, &e) && e.Code != app.EInternal {
		return e
	}
	w.Log.ErrorContext(ctx, "a step failed unexpectedly", "error", err)
	if e != nil {
		return e
	}
	return &app.Error{Code: app.EInternal, Message: "Unexpected error; the server's log has the details.", Err: err}
}

// outcome is the last line of a failed attempt's log.
func outcome(r execution.Report) string {
	text := r.Err.ForPeople()
	if r.Err.Hint != "" {
		text += " " + r.Err.Hint
	}
	if r.Retry.Again {
		return fmt.Sprintf("%s (retrying in %s)", text, humanize.Duration(r.Retry.After))
	}
	return text
}
