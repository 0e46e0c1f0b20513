package upkeep

import (
	"context"
	"log/slog"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/observe"
	"muster/jobs/internal/loop"
)

// How often the clock asks for check batches that are due: no more often, where one is due all the time, and no less, since another server's
// word of a new cluster may be lost.
const (
	minTick     = 250 * time.Millisecond
	maxTick     = execution.HealthTick
	repairEvery = 5 * time.Second
)

// HealthClock wakes this server's workers, and those that wait at it, when batches of health checks are due. One question per tick
// answers for all clusters; where none is monitored, that is four in a minute.
type HealthClock struct {
	Ring func(ctx context.Context) (next time.Time, err error)
	Feed interface {
		Watch(topic app.Topic) (<-chan struct{}, func())
	}
	Log *slog.Logger
	Now func() time.Time
}

// Run works until ctx ends.
func (c *HealthClock) Run(ctx context.Context) {
	added, stop := c.Feed.Watch(app.HealthTopic())
	defer stop()
	var trouble loop.Trouble
	for {
		now := c.Now()
		next, err := c.Ring(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.Say(c.Log, "Scheduling health checks", err)
		wait := maxTick
		if !next.IsZero() {
			wait = min(max(next.Sub(now), minTick), maxTick)
		}
		select {
		case <-ctx.Done():
			return
		case <-added:
		case <-time.After(wait):
		}
	}
}

// AutoRepairer begins the repairs that are due. One server does so for all.
type AutoRepairer struct {
	Repair func(ctx context.Context) (begun int, err error)
	Every  time.Duration // 0: every five seconds
	Log    *slog.Logger
	Meter  observe.Meter // nil: no one counts
}

// Run works until ctx ends.
func (m *AutoRepairer) Run(ctx context.Context) {
	var trouble loop.Trouble
	every := m.Every
	if every == 0 {
		every = repairEvery
	}
	for loop.Pause(ctx, every) == nil {
		n, err := m.Repair(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.Say(m.Log, "Repairing unhealthy nodes", err)
		if n > 0 {
			observe.MeterOf(m.Meter).Add(observe.MetricRepairs, float64(n))
			m.Log.Info("repairing clusters with unhealthy nodes, as their templates configure", "clusters", n)
		}
	}
}
