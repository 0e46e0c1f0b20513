package jobs_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/jobs/upkeep"
)

// feed hands out one channel to watchers.
type feed chan struct{}

func (f feed) Watch(app.Topic) (<-chan struct{}, func()) { return f, func() {} }

// The clock asks seldom without monitored clusters, in time with some, and at once when one appears.
func TestHealthClock(t *testing.T) {
	for name, tc := range map[string]struct {
		next        time.Duration // from each question; 0: nothing is monitored
		least, most int           // questions in ten minutes
	}{
		"none":          {0, 40, 42},
		"far":           {time.Hour, 40, 42},
		"every minute":  {time.Minute, 40, 42},
		"soon":          {5 * time.Second, 119, 122},
		"overdue":       {-time.Minute, 2300, 2410},
		"just about to": {time.Millisecond, 2300, 2410},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			asked := 0
			(&upkeep.HealthClock{Feed: make(feed), Log: quiet(t), Now: time.Now, Ring: func(context.Context) (time.Time, error) {
				asked++
				if tc.next == 0 {
					return time.Time{}, nil
				}
				return time.Now().Add(tc.next), nil
			}}).Run(ctx)
			if asked < tc.least || asked > tc.most {
				t.Errorf("%s: %d questions in ten minutes, want %d to %d", name, asked, tc.least, tc.most)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := make(feed)
		var mu sync.Mutex
		var asked []time.Duration
		began := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			(&upkeep.HealthClock{Feed: f, Log: quiet(t), Now: time.Now, Ring: func(context.Context) (time.Time, error) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, time.Since(began))
				return time.Time{}, nil
			}}).Run(ctx)
		}()
		time.Sleep(time.Second)
		f <- struct{}{}
		synctest.Wait()
		cancel()
		<-done
		if len(asked) != 2 || asked[1] != time.Second {
			t.Errorf("asked at %v, want at once when a cluster comes", asked)
		}
	})
}

// Where no template has health, looking after health writes nothing.
func TestHealthIsIdleWithoutChecks(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	e.stop() // the dispatcher's own writes are not ours, nor are the last words of the worker
	_ = e.worker.Close()
	before := e.store.Commits()
	for range 50 {
		next, err := e.app.Execution.Coordinator.SignalCheckBatches(t.Context())
		if err != nil || !next.IsZero() {
			t.Fatalf("next %v, %v", next, err)
		}
		if n, err := e.app.Execution.Health.RepairUnhealthy(t.Context()); n != 0 || err != nil {
			t.Fatalf("%d repairs, %v", n, err)
		}
	}
	if v, err := e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID); err != nil || v.Health != nil {
		t.Errorf("health %+v, %v", v.Health, err)
	}
	if wrote := e.store.Commits() - before; wrote != 0 {
		t.Errorf("%d commits", wrote)
	}
}
