package execution

import (
	"strconv"
	"time"

	"muster/app/execution"
	"muster/app/humanize"
)

func PlaceWords(w execution.Wait) string {
	if w.Position == 0 {
		return "not queued yet"
	}
	return strconv.Itoa(w.Position)
}

// queueShow is what waits in a tenant.
type QueueShow struct {
	Now   time.Time
	Queue execution.Queue
}

// moving tells whether anything on the page is about to change by itself.
func (q QueueShow) moving() bool { return len(q.Queue.Operations) > 0 }

// known is a number that may not be known.
func known(n int) string {
	if n < 0 {
		return "–"
	}
	return strconv.Itoa(n)
}

func since(now time.Time, g execution.WaitGroup) string {
	if g.Oldest.IsZero() {
		return "–"
	}
	return humanize.Ago(now, g.Oldest)
}

// queuesShow is what waits in all tenants.
type QueuesShow struct {
	Now    time.Time
	Queues execution.Queues
}
