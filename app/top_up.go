package app

import (
	"context"
	"fmt"
	"time"
)

// TopUp is what a cluster lacks of the nodes that were wanted, since only some of the machines came, and when they are asked for again.
type TopUp struct {
	Wanted int  `json:"wanted"`        // nodes
	Off    bool `json:"off,omitempty"` // somebody said that it is enough
	// NextAt is when they are asked for next; zero while something else is under way, the cluster sleeps, or it is off.
	NextAt  time.Time `json:"next_at,omitzero"`
	TriedAt time.Time `json:"tried_at,omitzero"` // last
	Tries   int       `json:"tries"`             // since it last grew
	Note    string    `json:"note,omitempty"`    // what became of the last try
	Request int64     `json:"request,omitempty"` // that waits for approval
	// Operation is the last that was begun for it; 0 for none.
	Operation int64 `json:"operation,omitempty"`
}

// Words say how it stands: "4 of 5 nodes; tops up in 20 min; last try: no capacity in zone b".
func (t TopUp) Words(has int, now time.Time) string {
	text := fmt.Sprintf("%d of %s", has, Several(t.Wanted, "node"))
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

// TopUpDue is a cluster that lacks nodes, at the time of the next try.
type TopUpDue struct {
	Cluster Cluster
	TopUp
}

// TopUpNote keeps what became of a try that began no operation, or of a person's word.
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
	Tell    *Notice // written where the note is another one than before
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
	Who             Actor
	At              time.Time
}

// TopUpStore keeps which clusters lack nodes. A row comes with the go-on that succeeds, and goes when the cluster has as many nodes as
// were wanted, when somebody resizes it by hand, and with the cluster. While something is under way in the cluster, or it sleeps, nothing
// of it is due: the next operation that ends says when it is.
type TopUpStore interface {
	// TopUpsDue gives those that are to be tried by now, of all tenants, of clusters whose lease has not ended.
	TopUpsDue(ctx context.Context, now time.Time, limit int) ([]TopUpDue, error)
	// NoteTopUp writes down what became of a try. It is false where something else was faster.
	NoteTopUp(ctx context.Context, n TopUpNote) (bool, error)
	// SetTopUp carries out a person's order. EConflict where the cluster lacks nothing, and for now while something is under way
	// or the cluster sleeps.
	SetTopUp(ctx context.Context, c TopUpChange) error
	// TopUpOf gives what a cluster lacks; nil for nothing.
	TopUpOf(ctx context.Context, tenant, cluster string) (*TopUp, error)
}
