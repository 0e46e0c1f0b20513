package db

import (
	"sync"

	"muster/app"
)

// pubsub wakes those who watch a topic. It carries no data: the watcher reads what came after the number that it knows,
// so a missed or doubled signal loses nothing.
type pubsub struct {
	mu       sync.Mutex
	watchers map[app.Topic]map[chan struct{}]bool
}

func newPubSub() *pubsub { return &pubsub{watchers: map[app.Topic]map[chan struct{}]bool{}} }

func (h *pubsub) notify(topic app.Topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	signal(h.watchers[topic])
	if topic.OfTenant() {
		signal(h.watchers[app.EverythingTopic()])
	}
}

func (h *pubsub) notifyAll() {
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

// WakeWatchers wakes those who watch a topic.
func (s *DB) WakeWatchers(topic app.Topic) { s.pubsub.notify(topic) }

func (s *DB) Watch(topic app.Topic) (<-chan struct{}, func()) {
	h := s.pubsub
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[topic] == nil {
		h.watchers[topic] = map[chan struct{}]bool{}
	}
	h.watchers[topic][c] = true
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers[topic], c)
		if len(h.watchers[topic]) == 0 {
			delete(h.watchers, topic)
		}
	}
}
