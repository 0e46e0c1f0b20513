package db

import (
	"sync"

	"muster/app"
)

// hub wakes those who watch a cluster. It carries no data: the watcher reads what came after the number that it knows,
// so a missed or doubled signal loses nothing.
type hub struct {
	mu       sync.Mutex
	watchers map[string]map[chan struct{}]bool
}

func newHub() *hub { return &hub{watchers: map[string]map[chan struct{}]bool{}} }

func (h *hub) notify(cluster string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	signal(h.watchers[cluster])
	if app.OfTenant(cluster) {
		signal(h.watchers[app.WatchEverything])
	}
}

func (h *hub) notifyAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, watchers := range h.watchers {
		signal(watchers)
	}
}

func signal(watchers map[chan struct{}]bool) {
	for c := range watchers {
		select {
		case c <- struct{}{}:
		default: // it has not looked since the last one
		}
	}
}

// WakeWatchers wakes those who watch a cluster, or everything.
func (s *DB) WakeWatchers(cluster string) { s.hub.notify(cluster) }

// Watch implements app.Feed.
func (s *DB) Watch(cluster string) (<-chan struct{}, func()) {
	h := s.hub
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[cluster] == nil {
		h.watchers[cluster] = map[chan struct{}]bool{}
	}
	h.watchers[cluster][c] = true
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers[cluster], c)
		if len(h.watchers[cluster]) == 0 {
			delete(h.watchers, cluster)
		}
	}
}
