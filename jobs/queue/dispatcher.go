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
	// A bell that no one answered for so long is rung again, in case the queue lost it without losing everything.
	bellPatience = 30 * time.Second
	expireEvery  = 5 * time.Second
	ringBatch    = 500
	// maxBells is how many bells of a tenant may lie in the queue: more than it has workers.
	maxBells = 1000
)

// Ledger keeps which steps are queued, and whose bell was rung.
type Ledger interface {
	// Unrung returns queued steps whose doorbell is to be rung, in no order.
	Unrung(ctx context.Context, limit int) ([]execution.Bell, error)
	// MarkRung notes that doorbells were rung.
	MarkRung(ctx context.Context, bells []execution.Bell, now time.Time) error
	// Unheard counts, for each tenant, the queued steps whose bell was rung before then and that no one claimed.
	Unheard(ctx context.Context, before time.Time) (map[string]int, error)
	// Unring forgets the tenant's bells rung before then, or those of all tenants where it is "": they are to be rung
	// again. It returns how many. A bell of a far future, rung before the clock was set back, counts as rung before.
	Unring(ctx context.Context, tenant string, before time.Time) (int, error)
	// SweepSteps takes back claims that ran out, and queues ready steps whose time has come. It returns how many moved.
	SweepSteps(ctx context.Context, now time.Time) (int, error)
	// Committed returns a channel that gets a (coalesced) value after every commit that may have queued steps.
	Committed() <-chan struct{}
}

// Dispatcher rings the doorbells of queued steps, takes back claims that ran out, begins roll-backs, and ends leases.
type Dispatcher struct {
	Ledger Ledger
	Queue  *Queue
	Expire func(ctx context.Context) (int, error)
	Undo   func(ctx context.Context) (int, error) // begins the roll-backs that are due; nil: someone else does
	Log    *slog.Logger
	Now    func() time.Time
	Meter  observe.Meter // nil: no one counts
}

// Run works until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var expired, patience time.Time
	var trouble loop.Trouble
	for {
		err := d.ring(ctx)
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
				d.Log.Info("rolling back failed operations", "operations", n)
			}
		}
		if now.Sub(expired) >= expireEvery || now.Before(expired) {
			expired = now
			n, err := d.Expire(ctx)
			if ctx.Err() != nil {
				return
			}
			trouble.Say(d.Log, "Expiring leases", err)
			if n > 0 {
				observe.MeterOf(d.Meter).Add(observe.MetricExpired, float64(n))
				d.Log.Info("deleting clusters that expired or whose deletion failed before", "clusters", n)
			}
		}
	}
}

// ring empties the outbox.
func (d *Dispatcher) ring(ctx context.Context) error {
	for {
		bells, err := d.Ledger.Unrung(ctx, ringBatch)
		if err != nil || len(bells) == 0 {
			return err
		}
		rung, err := d.ringAll(ctx, bells)
		if rung > 0 {
			observe.MeterOf(d.Meter).Add(observe.MetricRung, float64(rung))
			if e := d.Ledger.MarkRung(ctx, bells[:rung], d.Now()); err == nil {
				err = e
			}
		}
		if err != nil {
			return err
		}
	}
}

// ringAll rings bells and returns how many of them need no more thought. A tenant whose queue holds maxBells already gets no
// more: they are for waking idle workers, and those who work go from step to step by themselves.
func (d *Dispatcher) ringAll(ctx context.Context, bells []execution.Bell) (int, error) {
	room := map[string]int{}
	for i, b := range bells {
		left, known := room[b.Tenant]
		if !known {
			waiting, err := d.Queue.Waiting(ctx, b.Tenant)
			if err != nil {
				return i, err
			}
			left = maxBells - waiting
		}
		if left > 0 {
			if err := d.Queue.ring(ctx, b); err != nil {
				return i, err
			}
		}
		room[b.Tenant] = left - 1
	}
	return len(bells), nil
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
		n, err := d.Ledger.Unring(ctx, "", now)
		if n > 0 {
			observe.MeterOf(d.Meter).Add(observe.MetricRungAnew, float64(n), "queue_lost")
			d.Log.Warn("the queue was lost; announcing its steps again", "steps", n)
		}
		return err
	}
	if now.Sub(*patience) < bellPatience && !now.Before(*patience) {
		return nil
	}
	*patience = now
	return d.ringAgain(ctx, now.Add(-bellPatience))
}

// ringAgain rings for steps that no one came for, unless the bells rung for them are still in the queue: where all
// workers are busy for long, more bells would bring no one, only fill Redis.
func (d *Dispatcher) ringAgain(ctx context.Context, before time.Time) error {
	unheard, err := d.Ledger.Unheard(ctx, before)
	if err != nil {
		return err
	}
	for tenant, steps := range unheard {
		bells, err := d.Queue.Waiting(ctx, tenant)
		if err != nil {
			return err
		}
		if bells >= min(steps, maxBells) {
			continue
		}
		n, err := d.Ledger.Unring(ctx, tenant, before)
		if err != nil {
			return err
		}
		observe.MeterOf(d.Meter).Add(observe.MetricRungAnew, float64(n), "unheard")
	}
	return nil
}
