package lease

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
)

// PausedDeleteStore is what PausedDeletes needs of the database.
type PausedDeleteStore interface {
	ControlOperation(ctx context.Context, c app.Control) (app.Operation, error)
	OverdueDeletes(ctx context.Context, then time.Time, limit int) ([]app.Operation, error)
	PausedAt(ctx context.Context, o app.Operation) (time.Time, error)
}

// PausedDeletesConfig is what PausedDeletes is created from.
type PausedDeletesConfig struct {
	Store PausedDeleteStore
	Now   func() time.Time
	// LeaseGrace is for how long a deletion may stay paused after the cluster's lease has ended; 0: DefaultGrace.
	LeaseGrace time.Duration
}

// PausedDeletes resumes deletions that are paused for too long after the lease has ended.
type PausedDeletes struct {
	PausedDeletesConfig
}

// NewPausedDeletes returns PausedDeletes on top of their needs.
func NewPausedDeletes(c PausedDeletesConfig) *PausedDeletes {
	return &PausedDeletes{PausedDeletesConfig: c}
}

// DefaultGrace is for how long a deletion may stay paused after the cluster's lease has ended.
const DefaultGrace = 24 * time.Hour

// Overdue is a paused deletion of a cluster whose lease has ended.
type Overdue struct {
	lease  time.Time // when it ended
	goesOn time.Time
}

// leaseGrace is the setting, or what it is without one.
func (a *PausedDeletes) leaseGrace() time.Duration {
	if a.LeaseGrace <= 0 {
		return DefaultGrace
	}
	return a.LeaseGrace
}

// Overdue says when an operation resumes automatically; nil where it does not, or need not.
func (a *PausedDeletes) Overdue(ctx context.Context, c app.Cluster, o app.Operation) (*Overdue, error) {
	if o.Kind != app.OperationDelete || o.Status != app.OperationPaused || c.ExpiresAt.IsZero() || c.ExpiresAt.After(a.Now()) {
		return nil, nil
	}
	at, err := a.Store.PausedAt(ctx, o)
	if err != nil {
		return nil, err
	}
	if at.Before(c.ExpiresAt) {
		at = c.ExpiresAt
	}
	return &Overdue{c.ExpiresAt, at.Add(a.leaseGrace())}, nil
}

// Text says why a paused deletion does not stay as it is.
func (v *Overdue) Text(o app.Operation, now time.Time) string {
	who := "paused."
	if o.Message != "" {
		who = humanize.LowerFirst(o.Message)
	}
	return fmt.Sprintf("The lease expired %s ago, but the operation is %s It resumes automatically in %s. Resume it to continue now.",
		humanize.Rough(now.Sub(v.lease)), who, humanize.Rough(v.goesOn.Sub(now)))
}

// ResumeOverdue resumes paused deletions of clusters whose lease ended, once the grace is over: machines that no one wants
// cost money, and a pause that was forgotten would keep them forever.
func (a *PausedDeletes) ResumeOverdue(ctx context.Context, try func(error)) error {
	now, grace := a.Now(), a.leaseGrace()
	paused, err := a.Store.OverdueDeletes(ctx, now.Add(-grace), cluster.TidyAtOnce)
	if err != nil {
		return err
	}
	for _, o := range paused {
		_, err := a.Store.ControlOperation(ctx, app.Control{Tenant: o.Tenant, Operation: o.ID, Act: app.ControlResume, Who: app.Expirer,
			Why: "the lease has ended, and it was paused for " + humanize.Rough(grace), Now: now})
		try(err)
	}
	return nil
}
