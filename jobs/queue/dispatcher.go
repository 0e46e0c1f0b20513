package queue

import (
	"context"
	"log/slog"
	"time"

	"muster/app/execution"
	"muster/app/observe"
	"muster/jobs/internal/loop"
)

const (
	sweepEvery = 500 * time.Millisecond
	// A dispatch that no worker answered for so long is repeated, in case the queue lost it without losing everything.
	redispatchAfter = 30 * time.Second
	dispatchBatch   = 500
	// maxDispatches is how many wake-ups of a tenant the queue may hold: more than it has workers.
	maxDispatches = 1000
)

// Ledger keeps which steps are queued, and which were dispatched.
type Ledger interface {
	// Undispatched returns queued steps that are to be dispatched, in no order.
	Undispatched(ctx context.Context, limit int) ([]execution.OutboxEntry, error)
	// MarkDispatched notes that steps were dispatched.
	MarkDispatched(ctx context.Context, dispatches []execution.OutboxEntry, now time.Time) error
	// UnclaimedByTenant counts, for each tenant, the queued steps that were dispatched before then and that no one claimed.
	UnclaimedByTenant(ctx context.Context, before time.Time) (map[string]int, error)
	// Redispatch forgets the tenant's dispatches before then, or those of all tenants where it is "": they are to be sent
	// again. It returns how many. A dispatch in the far future, from before the clock was set back, counts as old.
	Redispatch(ctx context.Context, tenant string, before time.Time) (int, error)
	// SweepSteps takes back claims that ran out, and queues ready steps whose time has come. It returns how many moved.
	SweepSteps(ctx context.Context, now time.Time) (int, error)
	// Committed returns a channel that gets a (coalesced) value after every commit that may have queued steps.
	Committed() <-chan struct{}
}

// Dispatcher dispatches queued steps, takes back claims that ran out, begins rollbacks, and ends leases.
type Dispatcher struct {
	Ledger Ledger
	Queue  *Queue
	Expire func(ctx context.Context) (int, error)
	Undo   func(ctx context.Context) (int, error) // begins the rollbacks that are due; nil: someone else does
	Log    *slog.Logger
	Now    func() time.Time
	Meter  observe.Meter // nil: no one counts
}

// ExpireEvery is how often Expire is called. It is a variable so that stories over the whole program needn't wait for it.
var ExpireEvery = 5 * time.Second

// Run works until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var expired, patience time.Time
	var trouble loop.Trouble
	for {
		err := d.dispatch(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.Say(d.Log, "Announcing ready steps", err)
		select {
		case <-ctx.Done():
			return
		case <-d.Ledger.Committed():
			continue
		case <-tick.C:
		}
		now := d.Now()
		trouble.Say(d.Log, "Releasing and scheduling steps", d.sweep(ctx, now, &patience))
		if d.Undo != nil {
			n, err := d.Undo(ctx)
			if ctx.Err() != nil {
				return
			}
			trouble.Say(d.Log, "Starting rollbacks", err)
			if n > 0 {
				d.Log.Info("rolling back failed operations, or continuing after them", "operations", n)
			}
		}
		if now.Sub(expired) >= ExpireEvery || now.Before(expired) {
			expired = now
			n, err := d.Expire(ctx)
			if ctx.Err() != nil {
				return
			}
			trouble.Say(d.Log, "Expiring leases", err)
			if n > 0 {
				observe.MeterOf(d.Meter).Add(observe.MetricAutomaticDeletions, float64(n))
				d.Log.Info("deleting clusters that expired or whose deletion failed before", "clusters", n)
			}
		}
	}
}

// dispatch empties the outbox.
func (d *Dispatcher) dispatch(ctx context.Context) error {
	for {
		dispatches, err := d.Ledger.Undispatched(ctx, dispatchBatch)
		if err != nil || len(dispatches) == 0 {
			return err
		}
		dispatched, err := d.dispatchAll(ctx, dispatches)
		if dispatched > 0 {
			observe.MeterOf(d.Meter).Add(observe.MetricMessagesSent, float64(dispatched))
			if e := d.Ledger.MarkDispatched(ctx, dispatches[:dispatched], d.Now()); err == nil {
				err = e
			}
		}
		if err != nil {
			return err
		}
	}
}

// dispatchAll enqueues wake-ups and returns how many dispatches are done. A tenant whose queue holds maxDispatches already gets no
// more: they are for waking idle workers, and those who work go from step to step by themselves.
func (d *Dispatcher) dispatchAll(ctx context.Context, dispatches []execution.OutboxEntry) (int, error) {
	room := map[string]int{}
	for i, b := range dispatches {
		left, known := room[b.Tenant]
		if !known {
			waiting, err := d.Queue.Waiting(ctx, b.Tenant)
			if err != nil {
				return i, err
			}
			left = maxDispatches - waiting
		}
		if left > 0 {
			if err := d.Queue.enqueue(ctx, b); err != nil {
				return i, err
			}
		}
		room[b.Tenant] = left - 1
	}
	return len(dispatches), nil
}

func (d *Dispatcher) sweep(ctx context.Context, now time.Time, patience *time.Time) error {
	n, err := d.Ledger.SweepSteps(ctx, now)
	if err != nil {
		return err
	}
	if n > 0 {
		observe.MeterOf(d.Meter).Add(observe.MetricSwept, float64(n))
		d.Log.Info("steps released or due", "steps", n)
	}
	lost, err := d.Queue.Lost(ctx)
	if err != nil {
		return err
	}
	if lost {
		n, err := d.Ledger.Redispatch(ctx, "", now)
		if n > 0 {
			observe.MeterOf(d.Meter).Add(observe.MetricMessagesResent, float64(n), "queue_lost")
			d.Log.Warn("the queue was lost; announcing its steps again", "steps", n)
		}
		return err
	}
	if now.Sub(*patience) < redispatchAfter && !now.Before(*patience) {
		return nil
	}
	*patience = now
	return d.redispatch(ctx, now.Add(-redispatchAfter))
}

// redispatch repeats dispatches that no worker answered, unless they are still in the queue: where all
// workers are busy for long, more of them would only fill Redis.
func (d *Dispatcher) redispatch(ctx context.Context, before time.Time) error {
	unclaimed, err := d.Ledger.UnclaimedByTenant(ctx, before)
	if err != nil {
		return err
	}
	for tenant, steps := range unclaimed {
		dispatches, err := d.Queue.Waiting(ctx, tenant)
		if err != nil {
			return err
		}
		if dispatches >= min(steps, maxDispatches) {
			continue
		}
		n, err := d.Ledger.Redispatch(ctx, tenant, before)
		if err != nil {
			return err
		}
		observe.MeterOf(d.Meter).Add(observe.MetricMessagesResent, float64(n), "unclaimed")
	}
	return nil
}
