package execution

import "muster/app"

// Hurrier is a Coordinator that can tell a worker to ask for directives now and not only with its next heartbeat, because
// something was cancelled.
type Hurrier interface {
	// Hurry returns a channel that gets a (coalesced) value whenever steps of the worker's tenant may have to stop, by
	// whichever server. It may miss one: heartbeats tell the same, later. Call stop, which may be done twice.
	Hurry(w app.WorkerID) (told <-chan struct{}, stop func())
}

var (
	_ Hurrier = (*Service)(nil)
	_ Hurrier = (*granted)(nil)
)

func (a *Service) Hurry(w app.WorkerID) (<-chan struct{}, func()) {
	return a.Steps.Watch(app.StopsTopic(w.Tenant))
}

// Hurry implements Hurrier, for the worker's own tenant only.
func (g *granted) Hurry(w app.WorkerID) (<-chan struct{}, func()) {
	w.Tenant = g.tenant
	return g.app.Hurry(w)
}
