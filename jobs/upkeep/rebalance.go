package upkeep

import (
	"context"
	"log/slog"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/jobs/internal/loop"
)

// Balance keeps the shares of tenants fair, until ctx ends: at once when there is new work or another provisioner, and
// otherwise twice a second. It never takes more than a small part of a processor, however much there is to look at.
type Balance struct {
	Balancer *fleet.Balancer
	Feed     interface {
		Watch(app.Topic) (<-chan struct{}, func())
	}
	Log *slog.Logger
}

const (
	balanceEvery = 500 * time.Millisecond
	balanceShare = 20 // it rests that many times as long as it took
)

// Run works until ctx ends.
func (b *Balance) Run(ctx context.Context) {
	queued, stop := b.Feed.Watch(app.QueuedTopic())
	defer stop()
	shares, stopShares := b.Feed.Watch(app.SharesTopic())
	defer stopShares()
	var trouble loop.Trouble
	for {
		began := time.Now()
		changes, err := b.Balancer.Once(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.Say(b.Log, "Sharing slots between tenants", err)
		for _, c := range changes {
			b.Log.Debug("share", "provisioner", c.Provisioner, "tenant", c.Tenant, "slots", c.Slots)
		}
		if loop.Pause(ctx, time.Since(began)*balanceShare) != nil {
			return
		}
		tick := time.NewTimer(balanceEvery)
		select {
		case <-ctx.Done():
		case <-queued:
		case <-shares:
		case <-tick.C:
		}
		tick.Stop()
	}
}
