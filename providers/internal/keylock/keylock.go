package keylock

import (
	"context"
	"sync"
)

// Locks are locks by name. The zero value is ready, and names that no one holds or waits for take no memory.
type Locks struct {
	mu   sync.Mutex
	held map[string]*held
}

type held struct {
	turn  chan struct{}
	users int
}

// Lock waits until the caller holds the lock of a name, or ctx ends. Call unlock once.
func (l *Locks) Lock(ctx context.Context, name string) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = make(map[string]*held)
	}
	h := l.held[name]
	if h == nil {
		h = &held{turn: make(chan struct{}, 1)}
		l.held[name] = h
	}
	h.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(l.held, name)
		}
	}
	select {
	case h.turn <- struct{}{}:
		return func() { <-h.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
