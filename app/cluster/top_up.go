package cluster

import (
	"fmt"
	"time"

	"muster/app/humanize"
)

// TopUp is what a cluster lacks of the nodes that were wanted, since only some of the machines came, and when they are asked for again.
type TopUp struct {
	Wanted int  `json:"wanted"`        // nodes
	Off    bool `json:"off,omitempty"` // someone said that it is enough
	// NextAt is when they are asked for next; zero while something else is under way, the cluster sleeps, or it is off.
	NextAt  time.Time `json:"next_at,omitzero"`
	TriedAt time.Time `json:"tried_at,omitzero"` // last
	Tries   int       `json:"tries"`             // since it last grew
	Note    string    `json:"note,omitempty"`    // what happened to the last try
	Request int64     `json:"request,omitempty"` // that waits for approval
	// Operation is the last that was begun for it; 0 for none.
	Operation int64 `json:"operation,omitempty"`
}

// Words say how it stands: "4 of 5 nodes; tops up in 20 min; last try: no capacity in zone b".
func (t TopUp) Words(has int, now time.Time) string {
	text := fmt.Sprintf("%d of %s", has, humanize.Count(t.Wanted, "node"))
	switch {
	case t.Off:
		return text + "; not topped up"
	case t.Request > 0:
		text += fmt.Sprintf("; request %d for the others waits for approval", t.Request)
	case t.NextAt.IsZero():
		text += "; tops up later"
	case t.NextAt.After(now):
		text += "; tops up in " + roughly(t.NextAt.Sub(now))
	default:
		text += "; tops up now"
	}
	if t.Note != "" {
		text += "; last try: " + t.Note
	}
	return text
}

// roughly writes how long something takes, for people.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int((d+30*time.Second)/time.Minute))
	}
	return fmt.Sprintf("%d h %d min", int(d/time.Hour), int(d%time.Hour/time.Minute))
}
