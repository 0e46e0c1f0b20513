package app

import (
	"context"
	"fmt"
	"time"
)

// DefaultLeaseGrace is for how long a deletion may stay paused after the cluster's lease has ended.
const DefaultLeaseGrace = 24 * time.Hour

// overdue is a paused deletion of a cluster whose lease has ended.
type overdue struct {
	lease  time.Time // when it ended
	goesOn time.Time
}

// leaseGrace is the setting, or what it is without one.
func (a *App) leaseGrace() time.Duration {
	if a.LeaseGrace <= 0 {
		return DefaultLeaseGrace
	}
	return a.LeaseGrace
}

// overdue says when an operation goes on by itself; nil where it does not, or need not.
func (a *App) overdue(ctx context.Context, c Cluster, o Operation) (*overdue, error) {
	if o.Kind != OperationDelete || o.Status != OperationPaused || c.ExpiresAt.IsZero() || c.ExpiresAt.After(a.Now()) {
		return nil, nil
	}
	at, err := a.Store.PausedAt(ctx, o)
	if err != nil {
		return nil, err
	}
	if at.Before(c.ExpiresAt) {
		at = c.ExpiresAt
	}
	return &overdue{c.ExpiresAt, at.Add(a.leaseGrace())}, nil
}

// text says why a paused deletion does not stay as it is.
func (v *overdue) text(o Operation, now time.Time) string {
	who := "paused."
	if o.Message != "" {
		who = lowerFirst(o.Message)
	}
	return fmt.Sprintf("The lease ended %s ago, but the operation is %s It goes on by itself in %s; resume lets it go on now.",
		secondsText(now.Sub(v.lease)), who, secondsText(v.goesOn.Sub(now)))
}

// resumeOverdue goes on with paused deletions of clusters whose lease ended, once the grace is over: machines that nobody wants
// cost money, and a pause that was forgotten would keep them for ever.
func (a *App) resumeOverdue(ctx context.Context, try func(error)) error {
	now, grace := a.Now(), a.leaseGrace()
	paused, err := a.Store.OverdueDeletes(ctx, now.Add(-grace), tidyAtOnce)
	if err != nil {
		return err
	}
	for _, o := range paused {
		_, err := a.Store.ControlOperation(ctx, Control{Tenant: o.Tenant, Operation: o.ID, Act: ControlResume, Who: expirer,
			Why: "the lease has ended, and it was paused for " + secondsText(grace), Now: now})
		try(err)
	}
	return nil
}
