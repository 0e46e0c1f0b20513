package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/jobs/internal/loop"
)

// heartbeat keeps a worker's claims alive, all in one message, and stops steps whose claim is gone. It beats only while
// there is something to hold.
type heartbeat struct {
	worker app.WorkerID
	coord  execution.Coordinator
	log    *slog.Logger

	mu        sync.Mutex
	held      map[app.Fence]*hold
	cancelled time.Time     // of the last cancel signal
	wake      chan struct{} // begin to beat
	soon      chan struct{} // beat now
	stop      chan struct{}
	done      chan struct{}
}

// hold is one claim that is kept alive. The heartbeat's lock guards what changes.
type hold struct {
	heartbeat *heartbeat
	fence     app.Fence
	ctx       context.Context // of the step
	cancel    context.CancelCauseFunc
	deadline  time.Time // by our own clock, which may not be the server's
	ended     time.Time // when we first saw that the step was asked to stop
	gone      bool      // the claim was lost
}

// stopGrace is how long a step that was asked to stop may take to do so. One that does not is given up: its slot stays taken,
// but the ledger continues without it.
const stopGrace = 2 * execution.ClaimFor

// beatEvery leaves room for three lost messages in the life of a claim.
const beatEvery = execution.ClaimFor / 4

func startHeartbeat(worker app.WorkerID, coord execution.Coordinator, log *slog.Logger) *heartbeat {
	h := &heartbeat{worker: worker, coord: coord, log: log, held: map[app.Fence]*hold{},
		wake: make(chan struct{}, 1), soon: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go h.run()
	return h
}

func (h *heartbeat) close() {
	close(h.stop)
	<-h.done
}

// hold begins to keep a claim alive that holds until the deadline, by our own clock. The context ends when the claim does or
// when the step is cancelled. Let go of it when the step has been reported: reporting may take a while.
func (h *heartbeat) hold(ctx context.Context, f app.Fence, deadline time.Time) (context.Context, *hold) {
	ctx, cancel := context.WithCancelCause(ctx)
	v := &hold{heartbeat: h, fence: f, ctx: ctx, cancel: cancel, deadline: deadline}
	h.mu.Lock()
	h.held[f] = v
	// A step that was claimed before something was cancelled, and is held only after the beat that asked what: it may be it.
	late := !h.cancelled.IsZero() && !deadline.After(h.cancelled.Add(execution.ClaimFor))
	h.mu.Unlock()
	loop.Signal(h.wake)
	if late {
		loop.Signal(h.soon)
	}
	return ctx, v
}

// lost reports whether the claim is another's by now.
func (v *hold) lost() bool {
	v.heartbeat.mu.Lock()
	defer v.heartbeat.mu.Unlock()
	return v.gone
}

// stopGrace stops to keep the claim alive.
func (v *hold) stopGrace() {
	v.heartbeat.mu.Lock()
	defer v.heartbeat.mu.Unlock()
	delete(v.heartbeat.held, v.fence)
	v.cancel(nil)
}

func (h *heartbeat) run() {
	defer close(h.done)
	timer := time.NewTimer(beatEvery)
	defer timer.Stop()
	var cancelled <-chan struct{}
	if p, ok := h.coord.(execution.CancelSignaler); ok {
		signal, stop := p.CancelSignal(h.worker)
		defer stop()
		cancelled = signal
	}
	for {
		idle := len(h.fences()) == 0
		if idle {
			select {
			case <-h.wake:
			case <-h.stop:
				return
			}
		}
		timer.Reset(h.room())
		select {
		case <-timer.C:
			h.beat()
		case <-cancelled:
			h.mu.Lock()
			h.cancelled = time.Now()
			h.mu.Unlock()
			h.beat()
		case <-h.soon:
			h.beat()
		case <-h.stop:
			return
		}
	}
}

func (h *heartbeat) fences() []app.Fence {
	h.mu.Lock()
	defer h.mu.Unlock()
	fences := make([]app.Fence, 0, len(h.held))
	for f := range h.held {
		fences = append(fences, f)
	}
	return fences
}

func (h *heartbeat) beat() {
	h.giveUp()
	fences := h.fences()
	if len(fences) == 0 {
		return
	}
	deadline := time.Now().Add(execution.ClaimFor) // the server may count from later
	ctx, cancel := context.WithTimeout(context.Background(), h.room())
	defer cancel()
	directives, err := h.coord.Heartbeat(ctx, h.worker, fences)
	if err != nil {
		h.log.Warn("heartbeat failed", "error", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range directives {
		v := h.held[d.Fence]
		switch {
		case v == nil:
		case d.Lost:
			v.gone = true
			v.cancel(errLost)
		case d.Cancel:
			v.deadline = deadline
			v.cancel(errCancelled)
		default:
			v.deadline = deadline
		}
	}
	// What could not be extended in time is another worker's by now: stop before it begins.
	for _, v := range h.held {
		if time.Until(v.deadline) <= beatEvery {
			v.gone = true
			v.cancel(errLost)
		}
	}
}

// room is how long the heartbeat may wait for anything: until the next beat is due, or a step must stop.
func (h *heartbeat) room() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := beatEvery
	for _, v := range h.held {
		if !v.gone {
			d = min(d, time.Until(v.deadline)-beatEvery)
		}
	}
	return max(d, 0)
}

// giveUp stops to extend the claims of steps that do not stop when asked to.
func (h *heartbeat) giveUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f, v := range h.held {
		switch {
		case v.ctx.Err() == nil:
		case v.ended.IsZero():
			v.ended = time.Now()
		case time.Since(v.ended) > stopGrace:
			h.log.Error("a cancelled step didn't stop; abandoning it", "operation", f.Operation, "step", f.Index)
			v.gone = true
			delete(h.held, f)
		}
	}
}
