package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"muster/app"
	"muster/jobs/remote"
)

// checkEvery is how often an idle worker looks into its queue. asynq's default of a second would make half a second of
// every wait.
const checkEvery = 20 * time.Millisecond

// Providers opens the accounts that steps name.
type Providers interface {
	// Provider gives the account of a spec; the same one for the same spec. Errors are those of the family.
	Provider(ctx context.Context, spec app.ProviderSpec) (app.Provider, error)
}

// WorkerConfig is what a worker needs. All fields are required.
type WorkerConfig struct {
	Name        string // unique among all workers that ever ran
	Tenant      string
	Slots       int // steps at the same time
	Queue       *Queue
	Coordinator app.Coordinator
	Providers   Providers
	Automators  map[string]app.Automator
	Log         *slog.Logger
}

// Worker carries out steps of one tenant.
type Worker struct {
	WorkerConfig
	server *asynq.Server
	heart  *heart
	logs   *logBook
	shells *remote.Pool
	slots  chan struct{}
	ctx    context.Context // ends when the worker must drop what it holds
	drop   context.CancelFunc
	once   sync.Once
}

// StartWorker begins to serve the tenant's queue. Close it.
func StartWorker(c WorkerConfig) (*Worker, error) {
	w := &Worker{WorkerConfig: c, shells: remote.NewPool(remote.PoolOptions{}), slots: make(chan struct{}, c.Slots)}
	w.ctx, w.drop = context.WithCancel(context.Background())
	id := app.WorkerID{Tenant: c.Tenant, Name: c.Name}
	w.heart = startHeart(id, c.Coordinator, c.Log)
	w.logs = startLogBook(id, c.Coordinator, c.Log)
	w.server = asynq.NewServerFromRedisClient(c.Queue.client, asynq.Config{
		Concurrency: c.Slots, Queues: map[string]int{c.Queue.name(c.Tenant): 1}, TaskCheckInterval: checkEvery,
		Logger: &asynqLog{log: c.Log}, LogLevel: asynq.InfoLevel, ShutdownTimeout: shutdownTime,
		BaseContext: func() context.Context { return w.ctx },
	})
	if err := w.server.Start(asynq.HandlerFunc(w.serve)); err != nil {
		w.drop()
		w.heart.close()
		w.logs.close()
		_ = w.shells.Close()
		return nil, fmt.Errorf("jobs: worker of %s: %w", c.Tenant, err)
	}
	return w, nil
}

// shutdownTime is how long steps have to let go once they were told to.
const shutdownTime = 8 * time.Second

// stopTime is how long asynq may take to stop listening.
const stopTime = time.Second

// Close stops taking steps, tells those under way to let go (their steps go back to the ledger, to be taken again), and
// closes the connections. It may be called twice.
func (w *Worker) Close() error {
	w.once.Do(func() {
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			w.server.Stop()
		}()
		select {
		case <-stopped:
		case <-time.After(stopTime): // Redis hangs; steps need not wait for it
		}
		w.drop()
		w.server.Shutdown()
		<-stopped
		w.heart.close()
		w.logs.close()
		_ = w.shells.Close()
	})
	return nil
}

// serve answers one bell: it claims a step and goes on with the same node's next ones for as long as there are any. It
// never gives asynq an error, since asynq is not to try again.
func (w *Worker) serve(context.Context, *asynq.Task) error {
	// asynq gives its own slot away when Redis has been away for half a minute, whatever runs on it.
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-w.ctx.Done():
	}
	if w.ctx.Err() != nil {
		return nil
	}
	asked := time.Now()
	claimed, err := w.Coordinator.Claim(w.ctx, w.id(), 1)
	var as *app.Assignment
	if len(claimed) > 0 {
		as = claimed[0]
	}
	w.claimedAt(as, asked)
	for as != nil && err == nil {
		as, err = w.carryOut(as)
	}
	if err != nil && app.CodeOf(err) != app.EStale && w.ctx.Err() == nil {
		w.Log.Warn("a step could not be claimed or reported", "error", err)
	}
	return nil
}

// claimedAt puts an assignment's deadline into our own clock: the server's may differ, and may be set while we work.
func (w *Worker) claimedAt(as *app.Assignment, asked time.Time) {
	if as != nil {
		as.Deadline = asked.Add(app.ClaimFor)
	}
}

// carryOut does one step and reports it. It gives the node's next step, if there is one for us.
func (w *Worker) carryOut(as *app.Assignment) (*app.Assignment, error) {
	ctx, cancel := context.WithTimeoutCause(w.ctx, as.Timeout, errOverTime)
	defer cancel()
	ctx, stop := w.heart.hold(ctx, as.Fence, as.Deadline)
	out := w.logs.of(as.Fence)
	began := time.Now()
	r := app.Report{Fence: as.Fence, Action: as.Action}
	r.Err = w.failure(ctx, as, safely(func() error { return w.act(ctx, as, out, &r) }))
	if r.Err != nil {
		r.Retry = retry(r.Err, as.Tries)
		if w.ctx.Err() != nil { // we are the ones who stop, not the step
			r.Retry = app.Retry{Again: true}
		}
		out(app.StreamSystem, outcome(r))
	}
	w.logs.flush() // it may take a while, during which the claim is still kept
	if stop() {
		w.Log.Warn("claim was lost; the step is left to whoever has it now", "step", as.StepID, "cluster", as.Cluster.ID)
		return nil, nil
	}
	r.WantNext = w.ctx.Err() == nil
	w.Log.Debug("step", "step", as.StepID, "cluster", as.Cluster.ID, "attempt", as.Fence.Attempt,
		"took", time.Since(began).Round(time.Millisecond), "error", r.Err)
	return w.report(r)
}

// Causes for which a step's context ends.
var (
	errOverTime  = errors.New("time limit")
	errCancelled = errors.New("cancelled")
	errLost      = errors.New("claim lost")
)

// failure words why a step did not succeed; nil stays nil.
func (w *Worker) failure(ctx context.Context, as *app.Assignment, err error) *app.Error {
	if err == nil {
		return nil
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errLost):
		return &app.Error{Code: app.ECancelled, Message: "Stopped, because the step is not this worker's any more."}
	case errors.Is(cause, errCancelled):
		return &app.Error{Code: app.ECancelled, Message: "Stopped, because someone asked for it."}
	case errors.Is(cause, errOverTime):
		return app.Errorf(app.ETimeout, "%s was not done within %s.", as.StepID, as.Timeout)
	case w.ctx.Err() != nil:
		return &app.Error{Code: app.ETransient, Message: "The worker was shut down; the step will be taken again."}
	}
	var e *app.Error
	if errors.As(err, &e) && e.Code != app.EInternal {
		return e
	}
	w.Log.Error("a step went wrong in a way that Muster does not know", "step", as.StepID, "cluster", as.Cluster.ID, "error", err)
	if e != nil {
		return e
	}
	return &app.Error{Code: app.EInternal, Message: "This went wrong in a way that Muster does not know; the server's log tells more.", Err: err}
}

// outcome is the last line of a failed attempt's log.
func outcome(r app.Report) string {
	text := r.Err.ForPeople()
	if r.Err.Hint != "" {
		text += " " + r.Err.Hint
	}
	if r.Retry.Again {
		return fmt.Sprintf("%s (again in %s)", text, r.Retry.After.Round(time.Second/10))
	}
	return text
}

// report tells the server, with patience: an outcome that does not arrive would be work done twice.
func (w *Worker) report(r app.Report) (*app.Assignment, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), app.ClaimFor)
	defer cancel()
	for try := 1; ; try++ {
		asked := time.Now()
		next, err := w.reportOne(ctx, r)
		w.claimedAt(next, asked)
		if app.CodeOf(err) != app.ETransient || ctx.Err() != nil {
			return next, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(backOff(50*time.Millisecond, try)):
		}
	}
}

func (w *Worker) reportOne(ctx context.Context, r app.Report) (*app.Assignment, error) {
	answers, err := w.Coordinator.Report(ctx, w.id(), []app.Report{r})
	if err != nil {
		return nil, err
	}
	if err := answers[0].Err; err != nil {
		return nil, err
	}
	return answers[0].Next, nil
}

func (w *Worker) id() app.WorkerID { return app.WorkerID{Tenant: w.Tenant, Name: w.Name} }

// safely turns a panic of a member into an error of its step.
func safely(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}
