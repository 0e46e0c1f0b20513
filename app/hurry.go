package app

import "sync"

// Hurrier is a Coordinator that can tell a worker in the same process to ask for directives now and not only with its next
// heartbeat, because something was cancelled. Workers elsewhere learn of it with their next heartbeat.
type Hurrier interface {
	// Hurry gives a channel that gets a (coalesced) value whenever steps of the tenant may have been told to stop. Call stop.
	Hurry(tenant string) (told <-chan struct{}, stop func())
}

var (
	_ Hurrier = (*App)(nil)
	_ Hurrier = (*granted)(nil)
)

// hurries are those who want to be told.
type hurries struct {
	mu    sync.Mutex
	heard map[string]map[chan struct{}]bool // by tenant
}

// Hurry implements Hurrier.
func (a *App) Hurry(tenant string) (<-chan struct{}, func()) {
	h, c := &a.hurries, make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.heard == nil {
		h.heard = map[string]map[chan struct{}]bool{}
	}
	if h.heard[tenant] == nil {
		h.heard[tenant] = map[chan struct{}]bool{}
	}
	h.heard[tenant][c] = true
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.heard[tenant], c)
		if len(h.heard[tenant]) == 0 {
			delete(h.heard, tenant)
		}
	}
}

// Hurry implements Hurrier, for the worker's own tenant only.
func (g *granted) Hurry(string) (<-chan struct{}, func()) { return g.app.Hurry(g.tenant) }

func (h *hurries) tell(tenant string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.heard[tenant] {
		select {
		case c <- struct{}{}:
		default: // it has not looked since the last one
		}
	}
}
