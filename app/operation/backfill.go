package operation

import (
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
)

// BackfillDue is a cluster that lacks nodes, at the time of the next try.
type BackfillDue struct {
	Cluster app.Cluster
	appcluster.Backfill
}

// BackfillNote keeps what happened to a try that began no operation, or of a person's word.
type BackfillNote struct {
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

// BackfillOrder is what a person wants of a cluster's backfill.
type BackfillOrder struct {
	Off bool `json:"off,omitempty"` // no more
	Now bool `json:"now,omitempty"` // try at once
}

// BackfillChange is such an order, as the store takes it.
type BackfillChange struct {
	BackfillOrder
	Tenant, Cluster string
	Who             app.Actor
	At              time.Time
}

// Top-ups are tried again with a back-off between these bounds.
const (
	firstBackfillGap = 10 * time.Minute
	longBackfillGap  = 2 * time.Hour
	backfillLook     = time.Minute // until it is looked again after an obstacle passed
)

// BackfillGap is how long to wait after so many tries.
func BackfillGap(tries int) time.Duration {
	return min(firstBackfillGap<<min(max(tries, 0), 10), longBackfillGap)
}

// BackfillPatience is how far ahead a time can be at which a backfill is tried: what lies further was written before the clock was set back.
const BackfillPatience = longBackfillGap + time.Hour
