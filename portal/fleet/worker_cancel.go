package fleet

import (
	"context"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/portal/site"
	"muster/portal/wire"
)

const (
	cancelWaitTime = 20 * time.Second // of one wait for cancel signals
	// cancelKept is how long a cancel signal is kept for a worker between two waits.
	cancelKept = 30 * time.Second
	// Limits on workers that wait at the same time. Workers beyond them learn of a cancel with their heartbeat.
	maxCancelWaits       = 4096
	maxTenantCancelWaits = 512
)

// cancelWait delivers cancel signals to a worker, one wait after the other. A signal between two waits is kept. The lock of the API
// guards it.
type cancelWait struct {
	tenant   string
	reported <-chan struct{}
	stop     func()
	missed   bool          // a signal came, or may have come, between two waits
	next     chan struct{} // closed when another wait replaces this one; nil between waits
	left     time.Time     // when the last one ended
}

// cancelSignal waits until an operation of the worker's tenant is cancelled. A worker has one wait; a second one ends the first.
func (a *WorkerAPI) cancelSignal(ctx context.Context, c execution.Coordinator, m wire.CancelSignalMessage) (wire.CancelSignalAnswer, error) {
	from, ok := c.(execution.CancelSignaler)
	if !ok {
		return wire.CancelSignalAnswer{}, site.ErrNoSuchPage
	}
	// A heartbeat without claims checks that the token covers this worker.
	if _, err := c.Heartbeat(ctx, m.Worker, nil); err != nil {
		return wire.CancelSignalAnswer{}, err
	}
	line, next, err := a.cancelWait(from, m.Worker)
	if err != nil {
		return wire.CancelSignalAnswer{}, err
	}
	ctx, cancel := a.whileOpen(ctx)
	defer cancel()
	over := time.NewTimer(cancelWaitTime)
	defer over.Stop()
	reported := false
	select {
	case <-line.reported:
		reported = true
	case <-next:
	case <-over.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if line.next == next {
		line.next, line.left = nil, time.Now()
	}
	reported, line.missed = reported || line.missed, false
	if reported && ctx.Err() != nil {
		line.missed = true
	}
	return wire.CancelSignalAnswer{Signalled: reported}, nil
}

// cancelWait returns the worker's line and starts a wait on it, which ends when next is closed.
func (a *WorkerAPI) cancelWait(from execution.CancelSignaler, w app.WorkerID) (line *cancelWait, next chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open.Err() != nil {
		return nil, nil, app.Errorf(app.ETransient, "the server is stopping")
	}
	key, ofTenant := w.Tenant+"\x00"+w.Name, 0
	for k, l := range a.lines {
		switch {
		case l.next == nil && k != key && time.Since(l.left) > cancelKept:
			l.stop()
			delete(a.lines, k)
		case l.tenant == w.Tenant:
			ofTenant++
		}
	}
	if line = a.lines[key]; line == nil {
		if len(a.lines) >= maxCancelWaits || ofTenant >= maxTenantCancelWaits {
			return nil, nil, &app.Error{Code: app.ERateLimit, Message: "Too many workers are waiting for cancel signals.", RetryAfter: cancelKept}
		}
		// A cancel may have come before this line, so the first wait ends at once.
		line = &cancelWait{tenant: w.Tenant, missed: true}
		line.reported, line.stop = from.CancelSignal(w)
		a.lines[key] = line
	}
	if line.next != nil {
		close(line.next)
	}
	line.next = make(chan struct{})
	if line.missed {
		close(line.next)
		next, line.next, line.left = line.next, nil, time.Now()
		return line, next, nil
	}
	return line, line.next, nil
}

// whileOpen returns a context that also ends when the server stops.
func (a *WorkerAPI) whileOpen(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.open, cancel)
	return ctx, func() { stop(); cancel() }
}

// Close ends all waits. Call it before shutting down the HTTP server, which would wait for them. It can be called twice.
func (a *WorkerAPI) Close() {
	a.close()
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, l := range a.lines {
		l.stop()
		delete(a.lines, key)
	}
}
