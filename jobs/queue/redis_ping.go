package queue

import (
	"context"
	"time"
)

const (
	pingEvery   = 500 * time.Millisecond
	pingTimeout = time.Second // until an answer counts as none
)

// PingLoop asks Redis again and again whether it is there, and tells each time it answers, until ctx ends.
func (q *Queue) PingLoop(ctx context.Context, answered func()) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, pingTimeout)
		err := q.Ping(once)
		cancel()
		if err == nil {
			answered()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
