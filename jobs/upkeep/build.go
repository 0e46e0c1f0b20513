package upkeep

import (
	"context"
	"log/slog"
	"time"

	"muster/app"
	"muster/jobs/internal/loop"
)

const (
	buildsFallback = 30 * time.Second // when nothing wakes it: another server may have been woken
	buildsTrouble  = 5 * time.Second
	buildsForget   = time.Hour
)

// BuildReconciler creates the clusters of builds, and deletes them, as soon as something happens to one.
type BuildReconciler struct {
	Reconcile func(ctx context.Context) (moved int, next time.Time, err error)
	Forget    func(ctx context.Context, now time.Time) (int, error)
	Watch     func(app.Topic) (changed <-chan struct{}, stop func())
	Log       *slog.Logger
	Now       func() time.Time
}

// Run works until ctx ends.
func (b *BuildReconciler) Run(ctx context.Context) {
	changed, stop := b.Watch(app.BuildsTopic())
	defer stop()
	var trouble loop.Trouble
	var forgot time.Time
	for ctx.Err() == nil {
		moved, next, err := b.Reconcile(ctx)
		now := b.Now()
		if err == nil && (now.Sub(forgot) >= buildsForget || now.Before(forgot)) {
			forgot = now
			for n := 1; err == nil && n > 0 && ctx.Err() == nil; {
				n, err = b.Forget(ctx, now)
			}
		}
		if ctx.Err() != nil {
			return
		}
		trouble.Say(b.Log, "Reconciling builds", err)
		wait := buildsFallback
		if !next.IsZero() {
			wait = min(max(next.Sub(now), 10*time.Millisecond), buildsFallback)
		}
		if err != nil {
			wait = min(wait, buildsTrouble)
		} else if moved > 0 {
			wait = 0 // what has moved may have moved others
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}
