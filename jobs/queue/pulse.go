package queue

import (
	"context"
	"time"
)

const (
	pulseEvery = 500 * time.Millisecond
	pulseTime  = time.Second // until an answer counts as none
)

// Pulse asks Redis again and again whether it is there, and tells each time it answers, until ctx ends.
func (q *Queue) Pulse(ctx context.Context, answered func()) {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, pulseTime)
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
