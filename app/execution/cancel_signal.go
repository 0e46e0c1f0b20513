package execution

import "muster/app"

// CancelSignaler is a Coordinator that can tell a worker to ask for directives now and not only with its next heartbeat, because
// something was cancelled.
type CancelSignaler interface {
	// CancelSignal returns a channel that gets a (coalesced) value whenever steps of the worker's tenant may have to stop, by
	// whichever server. It may miss one: heartbeats tell the same, later. Call stop, which may be done twice.
	CancelSignal(w app.WorkerID) (notified <-chan struct{}, stop func())
}

var (
	_ CancelSignaler = (*Service)(nil)
	_ CancelSignaler = (*granted)(nil)
)

func (a *Service) CancelSignal(w app.WorkerID) (<-chan struct{}, func()) {
	return a.Steps.Watch(app.StopsTopic(w.Tenant))
}

// CancelSignal implements CancelSignaler, for the worker's own tenant only.
func (g *granted) CancelSignal(w app.WorkerID) (<-chan struct{}, func()) {
	w.Tenant = g.tenant
	return g.app.CancelSignal(w)
}
