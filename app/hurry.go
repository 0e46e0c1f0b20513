package app

// Hurrier is a Coordinator that can tell a worker to ask for directives now and not only with its next heartbeat, because
// something was cancelled.
type Hurrier interface {
	// Hurry gives a channel that gets a (coalesced) value whenever steps of the worker's tenant may have been told to stop, by
	// whichever server. It may miss one: heartbeats tell the same, later. Call stop, which may be done twice.
	Hurry(w WorkerID) (told <-chan struct{}, stop func())
}

var (
	_ Hurrier = (*App)(nil)
	_ Hurrier = (*granted)(nil)
)

// WatchStops is what Feed.Watch is asked for to be woken when steps of a tenant may have been told to stop. No cluster has
// such a name.
func WatchStops(tenant string) string { return "*stops:" + tenant }

// Hurry implements Hurrier.
func (a *App) Hurry(w WorkerID) (<-chan struct{}, func()) { return a.Store.Watch(WatchStops(w.Tenant)) }

// Hurry implements Hurrier, for the worker's own tenant only.
func (g *granted) Hurry(w WorkerID) (<-chan struct{}, func()) {
	w.Tenant = g.tenant
	return g.app.Hurry(w)
}
