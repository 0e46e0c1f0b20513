package coordinator

import (
	"context"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/jobs/internal/loop"
	"muster/portal/wire"
)

var _ execution.CancelSignaler = (*Remote)(nil)

const (
	cancelPollPause   = 250 * time.Millisecond // at least so long from one wait to the next, whatever the server answers
	CancelSignalRetry = time.Minute            // until a server that does not know what is asked is asked again
)

// CancelSignal implements execution.CancelSignaler: one wait after the other, never two at once, until stop is called. What is cancelled between
// two of them arrives with the next one. While the server is unreachable, heartbeats must do.
func (r *Remote) CancelSignal(w app.WorkerID) (<-chan struct{}, func()) {
	signal := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	var waits sync.WaitGroup
	waits.Go(func() { r.awaitCancelSignals(ctx, w, signal) })
	return signal, func() { cancel(); waits.Wait() }
}

func (r *Remote) awaitCancelSignals(ctx context.Context, w app.WorkerID, signal chan struct{}) {
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		var answer wire.CancelSignalAnswer
		once, cancel := context.WithTimeout(ctx, awaitAnswer)
		err := r.ask(once, "cancel_signal", wire.CancelSignalMessage{Worker: w}, &answer)
		cancel()
		if ctx.Err() != nil {
			return
		}
		wait := cancelPollPause - time.Since(began)
		switch {
		case err == nil:
			failures = 0
		case app.CodeOf(err) == app.ETransient || app.CodeOf(err) == app.ERateLimit:
			failures++
			wait = max(loop.BackOff(time.Second, failures), min(app.AsError(err).RetryAfter, loop.LongestWait))
		default: // an older server
			failures++
			wait = CancelSignalRetry
		}
		if answer.Signalled || failures == 1 { // the answer that was lost may have had one
			loop.Signal(signal)
		}
		if wait > 0 && loop.Pause(ctx, wait) != nil {
			return
		}
	}
}
