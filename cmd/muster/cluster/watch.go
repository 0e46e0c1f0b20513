package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
)

// Timing of watching.
const (
	pollWait   = 20 * time.Second       // how long the server may hold a poll for events
	redrawPace = 250 * time.Millisecond // how often the bar's clock advances
)

// watch follows an operation until it has ended, and returns the cluster's state. It survives restarts of the server.
func watch(ctx context.Context, c *cli.Context, cl *cli.Client, id string, op, after int64, p *progress) (cluster.View, error) {
	defer p.end()
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{retrier: &cli.Retrier{Client: cl, Limit: c.RetryTime, Note: p.note}, id: id, op: op, after: after, progress: p}
	ended := make(chan error, 1)
	go func() { ended <- w.run(ctx) }()
	ticks := time.NewTicker(redrawPace)
	defer ticks.Stop()
	for {
		select {
		case err := <-ended:
			cancel()
			return w.view, err
		case <-ticks.C:
			p.tick()
		}
	}
}

// watcher reads the event feed of a cluster for one operation.
type watcher struct {
	retrier  *cli.Retrier
	id       string
	op       int64
	progress *progress
	after    int64
	view     cluster.View
}

// run returns when the operation has ended.
func (w *watcher) run(ctx context.Context) error {
	for {
		asked := time.Now()
		var events []app.Event
		err := w.retrier.Try(ctx, func(ctx context.Context) (err error) {
			events, err = w.retrier.Client.Clusters.Events(ctx, w.id, w.after, pollWait)
			return err
		})
		if err != nil {
			return err
		}
		// No events: check whether we have missed the end, which isn't sent twice.
		look := len(events) == 0
		for _, e := range events {
			w.after = max(w.after, e.Seq)
			w.progress.event(e)
			look = look || e.Kind == app.EventOperation && e.Operation == w.op && app.OperationStatus(e.Status).Ended()
		}
		if look {
			if ended, err := w.look(ctx); ended || err != nil {
				return err
			}
		}
		if len(events) == 0 && time.Since(asked) < time.Second {
			// The server didn't hold the poll, as when it's about to stop. Don't press it.
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(redrawPace):
			}
		}
	}
}

// look fetches the cluster and reports whether the operation has ended.
func (w *watcher) look(ctx context.Context) (bool, error) {
	err := w.retrier.Try(ctx, func(ctx context.Context) (err error) {
		w.view, err = w.retrier.Client.Clusters.Get(ctx, w.id)
		return err
	})
	if err != nil {
		return false, err
	}
	op, ok := OperationOf(w.view, w.op)
	if !ok {
		return false, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("operation %d of %s no longer exists on the server", w.op, w.view.Name)}
	}
	w.progress.refresh(op)
	return op.Status.Ended(), nil
}

// OperationOf returns an operation of a cluster; 0 is the latest one.
func OperationOf(v cluster.View, id int64) (app.Operation, bool) {
	i := slices.IndexFunc(v.Operations, func(o app.Operation) bool { return id == 0 || o.ID == id })
	if i < 0 {
		return app.Operation{}, false
	}
	return v.Operations[i], true
}

// progressStream is where progress goes: to stdout with text output, and to stderr with JSON.
func progressStream(c *cli.Context) io.Writer {
	if c.JSON() {
		return c.Stderr
	}
	return c.Stdout
}

// start returns the number of a cluster's latest event, so that earlier ones aren't shown; 0 without --wait.
func (w waitFlags) start(ctx context.Context, cl *cli.Client, id string) (after int64, err error) {
	for w.wait {
		events, err := cl.Clusters.Events(ctx, id, after, 0)
		if err != nil || len(events) == 0 {
			return after, err
		}
		after = events[len(events)-1].Seq
	}
	return 0, nil
}

// WaitFor watches a cluster's latest operation and returns the cluster afterwards. If the operation didn't succeed, or the wait was cut
// short, the error says so and what to do. Timeout 0 is no limit.
func WaitFor(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, timeout time.Duration) (cluster.View, error) {
	return waitAfter(ctx, c, cl, v, timeout, 0)
}

// waitAfter is WaitFor that shows only events after a number.
func waitAfter(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, timeout time.Duration, after int64) (cluster.View, error) {
	op, ok := OperationOf(v, 0)
	if !ok {
		return v, nil
	}
	now, op, err := waitUntil(ctx, c, cl, v, op, timeout, after)
	if err != nil || op.Status == app.OperationSucceeded {
		return now, err
	}
	if op.Status == app.OperationFailed && op.OnFailure.GoesOn() {
		next, began, err := awaitAcceptPartial(ctx, c, cl, now, op)
		if err != nil {
			return now, err
		}
		if began {
			return waitAfter(ctx, c, cl, next, timeout, after)
		}
		now = next
		op, _ = OperationOf(now, op.ID)
	}
	return now, explainFailure(ctx, cl, now, op)
}

// waitUntil watches an operation until it has ended, and returns the cluster and the operation afterwards. If the wait was cut short, the
// error says so.
func waitUntil(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, op app.Operation, timeout time.Duration, after int64) (cluster.View, app.Operation, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	now, err := watch(ctx, c, cl, v.ID, op.ID, after, newProgress(c, progressStream(c), v.Name, op))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return v, op, &app.Error{Code: app.ETimeout, Message: fmt.Sprintf("%s: %s isn't finished after %s; it continues on the server", v.Name, op.Kind.The(), humanize.Exact(timeout)),
			Hint: fmt.Sprintf("Check its progress: muster cluster show %s", v.Name)}
	case errors.Is(err, context.Canceled):
		return v, op, &app.Error{Code: app.ECancelled, Message: fmt.Sprintf("stopped watching %s; %s continues", v.Name, op.Kind.The()),
			Hint: fmt.Sprintf("Check its progress: muster cluster show %s", v.Name)}
	case err != nil:
		return v, op, err
	}
	op, _ = OperationOf(now, op.ID)
	return now, op, nil
}

// operationReason begins the reason of the error of an operation that hasn't succeeded.
const operationReason = "operation_"

// operationFailed reports whether an error is explainFailure's: the wait went well, but the operation didn't.
func operationFailed(err error) bool {
	return err != nil && strings.HasPrefix(app.AsError(err).Reason, operationReason)
}

// explainFailure says why an operation failed and what to do.
func explainFailure(ctx context.Context, cl *cli.Client, v cluster.View, op app.Operation) error {
	e := &app.Error{Code: app.EScript, Reason: operationReason + string(op.Status),
		Message: fmt.Sprintf("%s: %s has %s", v.Name, op.Kind.The(), op.Status)}
	if op.Status == app.OperationCancelled {
		e.Message = fmt.Sprintf("%s: %s was cancelled", v.Name, op.Kind.The())
	}
	steps, err := cl.Operations.Steps(ctx, v.ID, op.ID)
	if err != nil {
		steps = nil // the rest is worth saying without them
	}
	failed := slices.ContainsFunc(steps, func(s app.Step) bool { return s.State == app.StepFailed })
	if why := cmp.Or(op.Message, v.Message); why != "" && (!failed || op.Status != app.OperationFailed) { // else the steps say so
		e.Message += ": " + why
	}
	e.Hint = failureHint(v, op, steps)
	return e
}

// failureHint lists the first failed steps and possible actions.
func failureHint(v cluster.View, op app.Operation, steps []app.Step) string {
	const most = 5
	hint, first, failed, said := "", "", 0, cluster.RepeatedErrors{}
	for _, s := range steps {
		if s.State != app.StepFailed {
			continue
		}
		if failed++; failed <= most {
			hint += fmt.Sprintf("%s failed after %s: %s\n", s.ID, humanize.Count(s.Attempt, "attempt"), said.Say(s.ID, s.Error))
		}
		first = cmp.Or(first, s.ID)
	}
	if failed > most {
		hint += fmt.Sprintf("and %s\n", humanize.Count(failed-most, "more step"))
	}
	if first != "" {
		hint += fmt.Sprintf("Logs:  muster cluster logs %s --step %s\n", v.ID, first)
	}
	if machinesOnly(op, steps) {
		hint += "Accept partial result:  muster cluster accept-partial " + v.ID + "\n"
	}
	for _, way := range waysForward(v, op) {
		hint += way + "\n"
	}
	return trimLine(hint)
}

func trimLine(s string) string {
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	return s
}
