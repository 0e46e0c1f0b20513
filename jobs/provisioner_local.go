package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/fleet"
)

// localWorker is a worker inside this process.
type localWorker struct {
	*Worker
	done chan struct{}
	end  context.CancelFunc // of the drain
	draining,
	stopping sync.Once
}

var _ WorkerHandle = (*localWorker)(nil)

// StartLocal starts a worker inside this process, for a Provisioner. It follows the server's word for work where server is not nil.
func StartLocal(c WorkerConfig, server app.WorkWaiter) (WorkerHandle, error) {
	w, err := StartWorker(c)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	l := &localWorker{Worker: w, done: make(chan struct{}), end: end}
	if server != nil {
		go w.Follow(w.ctx, server)
	}
	w.wakeAnother() // there may be work whose bells were rung before
	context.AfterFunc(ctx, func() { _ = l.Close(); close(l.done) })
	return l, nil
}

// Update implements WorkerHandle.
func (l *localWorker) Update(o fleet.WorkerOrder) { l.Resize(o.Slots) }

// Drain implements WorkerHandle.
func (l *localWorker) Drain() {
	l.draining.Do(func() {
		go func() {
			_ = l.Worker.Drain(l.ctx)
			l.end()
		}()
	})
}

// Stop implements WorkerHandle.
func (l *localWorker) Stop() { l.end() }

// Done implements WorkerHandle.
func (l *localWorker) Done() <-chan struct{} { return l.done }

// Balance keeps the shares of tenants fair, until ctx ends: at once when there is new work or another provisioner, and
// otherwise twice a second. It never takes more than a small part of a processor, however much there is to look at.
type Balance struct {
	Balancer *fleet.Balancer
	Store    all.Store
	Log      *slog.Logger
}

const (
	balanceEvery = 500 * time.Millisecond
	balanceShare = 20 // it rests that many times as long as it took
)

// Run works until ctx ends.
func (b *Balance) Run(ctx context.Context) {
	queued, stop := b.Store.Watch(app.QueuedTopic())
	defer stop()
	shares, stopShares := b.Store.Watch(app.SharesTopic())
	defer stopShares()
	var trouble quietly
	for {
		began := time.Now()
		changes, err := b.Balancer.Once(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.say(b.Log, "sharing slots among tenants", err)
		for _, c := range changes {
			b.Log.Debug("share", "provisioner", c.Provisioner, "tenant", c.Tenant, "slots", c.Slots)
		}
		if pause(ctx, time.Since(began)*balanceShare) != nil {
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
