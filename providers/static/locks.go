package static

import (
	"context"
	"sync"
)

// locks are held by name, so that what is made once is asked for once within this process. The zero value is ready.
type locks struct {
	mu   sync.Mutex
	held map[string]*held
}

type held struct {
	turn  chan struct{}
	users int
}

// take waits for a name's turn; what it gives ends it.
func (l *locks) take(ctx context.Context, name string) (release func(), err error) {
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
