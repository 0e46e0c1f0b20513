package page

import (
	"net/url"
	"strconv"
	"time"

	"muster/app"
)

// ClusterWaiting is why a cluster's steps wait.
type ClusterWaiting struct {
	Now     time.Time
	View    app.ClusterView
	Waiting app.Waiting
	Node    string // only its steps; "" for all
	From    int
}

// Here is the address of the page as it is shown.
func (w ClusterWaiting) Here() string { return w.at(w.From) }

// Then is the address of what comes after it.
func (w ClusterWaiting) Then() string { return w.at(w.Waiting.Next) }

func (w ClusterWaiting) at(from int) string {
	q := url.Values{}
	if w.Node != "" {
		q.Set("node", w.Node)
	}
	if from > 0 {
		q.Set("from", strconv.Itoa(from))
	}
	u := "/clusters/" + w.View.ID + "/waiting"
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	return u
}

func placeWords(w app.Wait) string {
	if w.Position == 0 {
		return "not queued yet"
	}
	return strconv.Itoa(w.Position)
}

// QueueShow is what waits in a tenant.
type QueueShow struct {
	Now   time.Time
	Queue app.Queue
}

// Moving tells whether anything on the page is about to change by itself.
func (q QueueShow) Moving() bool { return len(q.Queue.Operations) > 0 }

// known is a number that may not be known.
func known(n int) string {
	if n < 0 {
		return "–"
	}
	return strconv.Itoa(n)
}

func since(now time.Time, g app.WaitGroup) string {
	if g.Oldest.IsZero() {
		return "–"
	}
	return Ago(now, g.Oldest)
}

// QueuesShow is what waits in all tenants.
type QueuesShow struct {
	Now    time.Time
	Queues app.Queues
}
