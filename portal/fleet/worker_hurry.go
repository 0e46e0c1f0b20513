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
	hurryTime = 20 * time.Second // one wait of a worker's for a cancel
	// hurryKept is for how long a cancel is kept for a worker that is between two waits.
	hurryKept = 30 * time.Second
	// Workers that wait at the same time. Those beyond learn of a cancel with their heartbeat.
	maxHurries       = 4096
	maxTenantHurries = 512
)

// hurryLine is where a worker is told that something was cancelled: by one wait after the other, and what happens between
// two of them is kept. The lock of the API guards it.
type hurryLine struct {
	tenant string
	told   <-chan struct{}
	stop   func()
	missed bool          // told, or it may have been, while no one waited
	next   chan struct{} // closed when another wait takes the place of the one under way; nil while no one waits
	left   time.Time     // when the last one ended
}

// hurry waits until something of the worker's tenant was cancelled. A worker has one wait: a second one ends the first.
func (a *WorkerAPI) hurry(ctx context.Context, c execution.Coordinator, m wire.HurryMessage) (wire.HurryAnswer, error) {
	from, ok := c.(execution.Hurrier)
	if !ok {
		return wire.HurryAnswer{}, site.ErrNoSuchPage
	}
	// A heartbeat that holds nothing proves that this token may ask for the worker.
	if _, err := c.Heartbeat(ctx, m.Worker, nil); err != nil {
		return wire.HurryAnswer{}, err
	}
	line, next, err := a.hurryLine(from, m.Worker)
	if err != nil {
		return wire.HurryAnswer{}, err
	}
	ctx, cancel := a.whileOpen(ctx)
	defer cancel()
	over := time.NewTimer(hurryTime)
	defer over.Stop()
	told := false
	select {
	case <-line.told:
		told = true
	case <-next:
	case <-over.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if line.next == next {
		line.next, line.left = nil, time.Now()
	}
	told, line.missed = told || line.missed, false
	if told && ctx.Err() != nil {
		line.missed = true
	}
	return wire.HurryAnswer{Told: told}, nil
}

// hurryLine returns the worker's line and begins a wait on it, which ends when next is closed.
func (a *WorkerAPI) hurryLine(from execution.Hurrier, w app.WorkerID) (line *hurryLine, next chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open.Err() != nil {
		return nil, nil, app.Errorf(app.ETransient, "the server is stopping")
	}
	key, ofTenant := w.Tenant+"\x00"+w.Name, 0
	for k, l := range a.lines {
		switch {
		case l.next == nil && k != key && time.Since(l.left) > hurryKept:
			l.stop()
			delete(a.lines, k)
		case l.tenant == w.Tenant:
			ofTenant++
		}
	}
	if line = a.lines[key]; line == nil {
		if len(a.lines) >= maxHurries || ofTenant >= maxTenantHurries {
			return nil, nil, &app.Error{Code: app.ERateLimit, Message: "Too many workers wait for cancels.", RetryAfter: hurryKept}
		}
		// Something may have been cancelled before there was a line, so that its first wait is told at once.
		line = &hurryLine{tenant: w.Tenant, missed: true}
		line.told, line.stop = from.Hurry(w)
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

// whileOpen returns a context that ends when the server stops, too.
func (a *WorkerAPI) whileOpen(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.open, cancel)
	return ctx, func() { stop(); cancel() }
}

// Close ends what workers wait for. Call it before the HTTP server is shut down, which would wait for them; twice without harm.
func (a *WorkerAPI) Close() {
	a.close()
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, l := range a.lines {
		l.stop()
		delete(a.lines, key)
	}
}
