package jobs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/jobs/upkeep"
)

// What moves may move others, so it is gone on with at once; else it is looked when something is due, now and then, and soon after trouble.
func TestBuildReconcilerWaitsUntilDue(t *testing.T) {
	for name, tc := range map[string]struct {
		moved       int           // at each of the first ten questions
		next        time.Duration // from each question; 0: unknown
		err         error
		least, most int // questions in ten minutes
	}{
		"nothing": {0, 0, nil, 19, 22},
		"soon":    {0, 5 * time.Second, nil, 119, 122},
		"far":     {0, time.Hour, nil, 19, 22},
		"overdue": {0, -time.Minute, nil, 50_000, 61_000},
		"much":    {3, 0, nil, 28, 32},
		"trouble": {0, 0, errors.New("the database is away"), 119, 122},
		"both":    {3, time.Second, errors.New("the database is away"), 590, 610},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			asked, forgot := 0, 0
			(&upkeep.BuildReconciler{Watch: make(feed).Watch, Log: quiet(t), Now: time.Now,
				Reconcile: func(context.Context) (int, time.Time, error) {
					var next time.Time
					if tc.next != 0 {
						next = time.Now().Add(tc.next)
					}
					if asked++; asked <= 10 {
						return tc.moved, next, tc.err
					}
					return 0, next, tc.err
				},
				Forget: func(context.Context, time.Time) (int, error) {
					forgot++
					return max(0, 3-forgot), nil // a bounded number at once
				}}).Run(ctx)
			if asked < tc.least || asked > tc.most {
				t.Errorf("%s: %d questions in ten minutes, want %d to %d", name, asked, tc.least, tc.most)
			}
			if want := 3; tc.err == nil && forgot != want || tc.err != nil && forgot != 0 {
				t.Errorf("%s: it forgot %d times", name, forgot)
			}
		})
	}
}

// It is woken at once, ends when asked to, also in the middle of its work, and leaves nothing behind; so it can be started again.
func TestBuildReconcilerStartsAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, stopped := make(feed), 0
		asked, inside := make(chan struct{}), make(chan struct{})
		b := &upkeep.BuildReconciler{Log: quiet(t), Now: time.Now, Watch: func(app.Topic) (<-chan struct{}, func()) { return f, func() { stopped++ } },
			Reconcile: func(ctx context.Context) (int, time.Time, error) {
				select {
				case asked <- struct{}{}:
				case <-ctx.Done():
				}
				select {
				case <-inside:
				case <-ctx.Done():
					return 0, time.Time{}, ctx.Err()
				}
				return 0, time.Time{}, nil
			}, Forget: func(context.Context, time.Time) (int, error) { return 0, nil }}
		for round := 1; round <= 3; round++ {
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() { b.Run(ctx) })
			began := time.Now()
			<-asked
			inside <- struct{}{}
			f <- struct{}{}
			<-asked
			if took := time.Since(began); took != 0 {
				t.Errorf("woken, it ran after %s", took)
			}
			cancel() // while it works
			wg.Wait()
			if stopped != round {
				t.Errorf("it watches %d times after it ended", round-stopped)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		b.Run(ctx)
	})
}
