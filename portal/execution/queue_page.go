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

// QueueShow is the page of a tenant's queue.
type QueueShow struct {
	Now   time.Time
	Queue execution.Queue
}

// moving reports whether anything on the page is about to change.
func (q QueueShow) moving() bool { return len(q.Queue.Operations) > 0 }

// known writes a number, or a dash if it's unknown.
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

// QueuesShow is the page of all tenants' queues.
type QueuesShow struct {
	Now    time.Time
	Queues execution.Queues
}
