package operation

import (
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
)

// TopUpDue is a cluster that lacks nodes, at the time of the next try.
type TopUpDue struct {
	Cluster app.Cluster
	appcluster.TopUp
}

// TopUpNote keeps what happened to a try that began no operation, or of a person's word.
type TopUpNote struct {
	Tenant, Cluster string
	Now             time.Time
	// Due is NextAt as it was read: where it is another one by now nothing happens, since something else was faster.
	Due     time.Time
	NextAt  time.Time
	Tries   int
	Request int64
	Note    string
	Off     bool
	Tell    *app.Notice // written where the note is another one than before
}

// TopUpOrder is what a person wants of a cluster's top-up.
type TopUpOrder struct {
	Off bool `json:"off,omitempty"` // no more
	Now bool `json:"now,omitempty"` // try at once
}

// TopUpChange is such an order, as the store takes it.
type TopUpChange struct {
	TopUpOrder
	Tenant, Cluster string
	Who             app.Actor
	At              time.Time
}

// Top-ups are tried again with a back-off between these bounds.
const (
	firstTopUpGap = 10 * time.Minute
	longTopUpGap  = 2 * time.Hour
	topUpLook     = time.Minute // until it is looked again after an obstacle passed
)

// TopUpGap is how long to wait after so many tries.
func TopUpGap(tries int) time.Duration {
	return min(firstTopUpGap<<min(max(tries, 0), 10), longTopUpGap)
}

// TopUpPatience is how far ahead a time can be at which a top-up is tried: what lies further was written before the clock was set back.
const TopUpPatience = longTopUpGap + time.Hour
