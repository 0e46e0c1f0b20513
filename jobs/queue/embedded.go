package queue

import (
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// EmbeddedRedis is a Redis inside this process, for running Muster with nothing installed. What it holds is lost with
// the process, which the ledger makes good.
type EmbeddedRedis struct {
	server *miniredis.Miniredis
	stop   chan struct{}
	done   chan struct{}
	once   sync.Once
}

// StartEmbeddedRedis listens on a free loopback port, behind a random password. Close it.
func StartEmbeddedRedis(password string) (*EmbeddedRedis, error) {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("jobs: embedded redis: %w", err)
	}
	server.RequireAuth(password)
	e := &EmbeddedRedis{server: server, stop: make(chan struct{}), done: make(chan struct{})}
	go e.tick()
	return e, nil
}

// tick moves its clock: by itself miniredis lets no key expire.
func (e *EmbeddedRedis) tick() {
	defer close(e.done)
	const every = 100 * time.Millisecond
	t := time.NewTicker(every)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case <-e.stop:
			return
		case now := <-t.C:
			e.server.FastForward(now.Sub(last))
			last = now
		}
	}
}

// URL is its address without the password.
func (e *EmbeddedRedis) URL(password string) string {
	return "redis://:" + password + "@" + e.server.Addr() + "/0"
}

// Close stops it. It may be called twice.
func (e *EmbeddedRedis) Close() error {
	e.once.Do(func() {
		close(e.stop)
		<-e.done
		e.server.Close()
	})
	return nil
}
