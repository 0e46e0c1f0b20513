package layout

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
)

// However much a tenant asks for at the same time, few layouts are worked out at once, those that wait have an end, and others have their turn.
func TestSolvingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s SolveLimit
		enter := func(tenant string, patience time.Duration) (func(), error) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			return s.Enter(ctx, tenant)
		}
		var leave []func()
		for range mostSolving {
			l, err := enter("busy", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, l)
		}
		began := time.Now()
		if _, err := enter("busy", 3*time.Second); app.AsError(err).Code != app.ERateLimit || app.AsError(err).RetryAfter == 0 || time.Since(began) != 3*time.Second {
			t.Errorf("one too many: %v after %s", err, time.Since(began))
		}
		waited := make(chan error, mostSolvingWait)
		for range mostSolvingWait {
			go func() {
				l, err := enter("busy", time.Minute)
				if err == nil {
					l()
				}
				waited <- err
			}()
		}
		synctest.Wait()
		if _, err := enter("busy", time.Second); app.AsError(err).Code != app.ERateLimit || time.Since(began) != 3*time.Second {
			t.Errorf("more than may wait: %v after %s", err, time.Since(began))
		}
		l, err := enter("other", time.Second)
		if err != nil {
			t.Errorf("another tenant: %v", err)
		}
		l()
		for _, l := range leave {
			l()
		}
		for range mostSolvingWait {
			if err := <-waited; err != nil {
				t.Errorf("one that waited: %v", err)
			}
		}
		if len(s.of) != 0 || len(s.all) != 0 {
			t.Errorf("%d tenants and %d turns are left", len(s.of), len(s.all))
		}
	})
}
