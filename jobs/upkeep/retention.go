package upkeep

import (
	"context"
	"log/slog"
	"time"

	"muster/app"
	"muster/app/cluster"
	apppolicy "muster/app/policy"
	"muster/jobs/internal/loop"
)

// Defaults of a Retention.
const (
	retentionEvery = time.Hour
	retentionPause = 50 * time.Millisecond // between two batches, so that others come in between
)

// Retention forgets old events and logs, a few at a time.
type Retention struct {
	Store  cluster.RetentionStore
	Events time.Duration // 0: forever
	Logs   time.Duration // after the operation has ended; 0: forever
	Log    *slog.Logger
	Now    func() time.Time
	Every  time.Duration // zero: an hour
}

// Run works until ctx ends, at once and then from time to time.
func (r *Retention) Run(ctx context.Context) {
	if r.Every == 0 {
		r.Every = retentionEvery
	}
	var trouble loop.Trouble
	for {
		events, err := r.drop(ctx, r.Store.DropEvents, r.Events)
		logs := 0
		if err == nil {
			logs, err = r.drop(ctx, r.Store.DropLogs, r.Logs)
		}
		if err == nil {
			_, err = r.Store.DropDurationStats(ctx, r.Now().Add(-apppolicy.DurationStatsRetention))
		}
		for n := 1; err == nil && n > 0; {
			n, err = r.Store.DropAnswers(ctx, r.Now().Add(-app.IdempotencyKeep))
		}
		if ctx.Err() == nil {
			trouble.Say(r.Log, "Deleting old events and logs", err)
		}
		if events+logs > 0 {
			r.Log.Info("deleted old events and logs", "events", events, "lines", logs)
		}
		if loop.Pause(ctx, r.Every) != nil {
			return
		}
	}
}

// drop deletes batch after batch of what is older than keep.
func (r *Retention) drop(ctx context.Context, batch func(context.Context, time.Time, int64) (int64, int, error), keep time.Duration) (all int, err error) {
	if keep <= 0 {
		return 0, nil
	}
	before := r.Now().Add(-keep)
	for from, n := int64(0), 0; ; { //nolint:wastedassign // declares it for the loop
		if from, n, err = batch(ctx, before, from); err != nil {
			return all, err
		}
		if all += n; from == 0 {
			return all, nil
		}
		if err := loop.Pause(ctx, retentionPause); err != nil {
			return all, err
		}
	}
}
