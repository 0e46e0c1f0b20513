//go:build real

package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/app/store"
)

// A leader that lost what it needs lets another lead that has it, and where no one has it, anyone who leads continues.
func TestPostgresUnhealthyLeaderStepsDown(t *testing.T) {
	where := fresh(t)
	one, two := open(t, where), open(t, where)
	var able [2]atomic.Bool
	var turns [2]atomic.Int32
	var leads [2]atomic.Bool
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	defer done.Wait()
	defer stop()
	begin := func(i int, s *store.Store) {
		able[i].Store(true)
		s.ReportHealthy()
		done.Go(func() {
			for ctx.Err() == nil {
				if able[i].Load() {
					s.ReportHealthy()
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		done.Go(func() {
			s.Lead(ctx, func(ctx context.Context) {
				turns[i].Add(1)
				leads[i].Store(true)
				<-ctx.Done()
				leads[i].Store(false)
			})
		})
	}
	leader := func(i int) {
		t.Helper()
		for end := time.Now().Add(hangs); !leads[i].Load() || leads[1-i].Load(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d does not lead after %s", i, hangs)
			}
		}
	}
	still := func(i int, d time.Duration) {
		t.Helper()
		before := [2]int32{turns[0].Load(), turns[1].Load()}
		time.Sleep(d)
		if after := [2]int32{turns[0].Load(), turns[1].Load()}; after != before || !leads[i].Load() {
			t.Fatalf("it does not stay with %d: turns %v, then %v", i, before, after)
		}
	}
	begin(0, one)
	leader(0)
	begin(1, two)
	still(0, 2*time.Second)

	able[0].Store(false)
	lost := time.Now()
	leader(1)
	t.Logf("the other leads %s after the first lost what it needs", time.Since(lost).Round(100*time.Millisecond))
	still(1, 4*time.Second) // the first does not take it back
	able[0].Store(true)
	still(1, 2*time.Second) // not even when it could

	able[0].Store(false) // away from both: it stays where it is
	able[1].Store(false)
	still(1, 9*time.Second)
	able[0].Store(true) // and goes to the first who has it again
	leader(0)
}
