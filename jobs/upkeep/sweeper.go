package upkeep

import (
	"context"
	"log/slog"
	"time"

	"muster/app/observe"
	"muster/app/resource"
	"muster/jobs/internal/loop"
)

// Sweeper removes contents of resources that no one needs any more.
type Sweeper struct {
	Sweep func(ctx context.Context, after time.Duration) (removed int, err error)
	Log   *slog.Logger
	Every time.Duration // zero: an hour
	After time.Duration // zero: app.SweptAfter
	Meter observe.Meter // nil: no one counts
}

// Run works until ctx ends, at once and then from time to time.
func (s *Sweeper) Run(ctx context.Context) {
	if s.Every == 0 {
		s.Every = retentionEvery
	}
	if s.After == 0 {
		s.After = resource.SweptAfter
	}
	var trouble loop.Trouble
	for {
		n, err := s.Sweep(ctx, s.After)
		if ctx.Err() == nil {
			trouble.Say(s.Log, "Deleting unused resource contents", err)
		}
		if n > 0 {
			observe.MeterOf(s.Meter).Add(observe.MetricContents, float64(n))
			s.Log.Info("deleted unused resource contents", "contents", n)
		}
		if loop.Pause(ctx, s.Every) != nil {
			return
		}
	}
}
