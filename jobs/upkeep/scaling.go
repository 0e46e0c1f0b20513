package upkeep

import (
	"context"
	"log/slog"
	"time"

	"muster/jobs/internal/loop"
)

// Scaler sees to clusters that scale by themselves. One server does so for all. It has a loop of its own, since it asks servers of tenants, and waits for them.
type Scaler struct {
	Scale func(ctx context.Context) (begun int, err error)
	Every time.Duration
	Log   *slog.Logger
}

// Run works until ctx ends.
func (s *Scaler) Run(ctx context.Context) {
	var trouble loop.Trouble
	for loop.Pause(ctx, s.Every) == nil {
		_, err := s.Scale(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.Say(s.Log, "Scaling clusters", err)
	}
}
