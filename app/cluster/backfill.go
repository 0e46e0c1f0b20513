package cluster

import (
	"fmt"
	"time"

	"muster/app/humanize"
)

// Backfill is what a cluster lacks of the nodes that were wanted, since only some of the machines came, and when they are asked for again.
type Backfill struct {
	Target int  `json:"target_nodes"`  // nodes
	Off    bool `json:"off,omitempty"` // someone said that it is enough
	// NextAt is when they are asked for next; zero while another operation is running, the cluster sleeps, or it is off.
	NextAt      time.Time `json:"next_at,omitzero"`
	LastTriedAt time.Time `json:"last_tried_at,omitzero"` // last
	Tries       int       `json:"tries"`                  // since it last grew
	Note        string    `json:"note,omitempty"`         // what happened to the last try
	Request     int64     `json:"request,omitempty"`      // that waits for approval
	// Operation is the last that was begun for it; 0 for none.
	Operation int64 `json:"operation,omitempty"`
}

// Text say its state: "4 of 5 nodes; next backfill in 20 min; last attempt: no capacity in zone b".
func (t Backfill) Text(has int, now time.Time) string {
	text := fmt.Sprintf("%d of %s", has, humanize.Count(t.Target, "node"))
	switch {
	case t.Off:
		return text + "; no backfill"
	case t.Request > 0:
		text += fmt.Sprintf("; request %d for the remaining nodes is waiting for approval", t.Request)
	case t.NextAt.IsZero():
		text += "; backfill pending"
	case t.NextAt.After(now):
		text += "; next backfill in " + humanize.Rough(t.NextAt.Sub(now))
	default:
		text += "; backfill starting"
	}
	if t.Note != "" {
		text += "; last attempt: " + t.Note
	}
	return text
}
