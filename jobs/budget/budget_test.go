package budget

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"muster/app"
	"muster/app/template"
	"muster/jobs/internal/loop"
	"muster/jobs/queue"
)

// budgets returns several of them, as several processes have, on one Redis whose clock doesn't move until it is set.
func budgets(t *testing.T, n int) ([]*Budget, *miniredis.Miniredis) {
	t.Helper()
	r := miniredis.RunT(t)
	r.SetTime(time.Unix(1_800_000_000, 0))
	var all []*Budget
	for range n {
		q, err := queue.Open("redis://"+r.Addr(), "i")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = q.Close() })
		b := New(q, slog.New(slog.DiscardHandler))
		b.patience = 0
		all = append(all, b)
	}
	return all, r
}

func TestClientsShareTheRate(t *testing.T) {
	all, r := budgets(t, 4)
	rate := template.Rate{PerSecond: 50, Burst: 10}
	const tick = 20 * time.Millisecond
	began := time.Unix(1_800_000_000, 0)
	var calls atomic.Int64
	lost := 0
	for step := range 100 {
		now := time.Duration(step) * tick
		r.SetTime(began.Add(now))
		if step == 27 || step == 50 { // the bucket is lost, and with it what it knew: no one may gain by that
			r.FlushAll()
			lost++
		}
		if step > 70 && step < 85 {
			continue // a rest, after which a burst is due
		}
		var wg sync.WaitGroup
		for _, b := range all {
			wg.Go(func() {
				for range 2 {
					switch err := b.Take(t.Context(), "a", rate); {
					case err == nil:
						calls.Add(1)
					case app.AsError(err).Reason != Reason || app.AsError(err).RetryAfter <= 0:
						t.Errorf("refused with %v after %s", err, app.AsError(err).RetryAfter)
					}
				}
			})
		}
		wg.Wait()
		if most := rate.PerSecond*now.Seconds() + float64(rate.Burst); float64(calls.Load()) > most {
			t.Fatalf("%d calls after %s, at most %.0f are allowed", calls.Load(), now, most)
		}
	}
	if n, least := calls.Load(), int64(50*2-50*0.3)+8-int64(lost)*2-2; n < least {
		t.Errorf("%d calls in 2 s: the rate of 50/s is not used, at least %d were due", n, least)
	}
}

func TestRejectedCallsRetryInOrder(t *testing.T) {
	all, r := budgets(t, 2)
	rate := template.Rate{PerSecond: 10, Burst: 1}
	seen := map[time.Duration]bool{}
	for i := range 50 {
		e := app.AsError(all[i%2].Take(t.Context(), "a", rate))
		if e.Code != app.ERateLimit || seen[e.RetryAfter] {
			t.Fatalf("call %d: %v after %s", i, e, e.RetryAfter)
		}
		seen[e.RetryAfter] = true
	}
	if !seen[100*time.Millisecond] || !seen[5*time.Second] {
		t.Errorf("places of 50 calls at 10/s: %v", seen)
	}
	if err := all[0].Take(t.Context(), "a", rate); !strings.Contains(app.AsError(err).Message, "retry in 6 s") {
		t.Errorf("it is said as %q", app.AsError(err).Message)
	}
	if d, err := all[1].BudgetWait(t.Context(), "a"); err != nil || d != 5200*time.Millisecond {
		t.Errorf("the next one would wait %s (%v)", d, err)
	}
	r.SetTime(time.Unix(1_800_000_000, 0).Add(time.Second))
	if err := all[0].Take(t.Context(), "a", rate); err != nil {
		t.Errorf("a second later: %v", err)
	}
	if d, err := all[0].BudgetWait(t.Context(), "b"); err != nil || d != 0 {
		t.Errorf("an unused account waits %s (%v)", d, err)
	}
}

func TestRetryAfterDelaysAllClients(t *testing.T) {
	all, r := budgets(t, 3)
	rate := template.Rate{PerSecond: 10, Burst: 5}
	now := time.Unix(1_800_000_000, 0).Add(time.Minute)
	_ = all[0].Take(t.Context(), "a", rate) // makes the bucket
	r.SetTime(now)
	if err := all[0].Take(t.Context(), "a", rate); err != nil {
		t.Fatal(err)
	}
	all[1].Exhausted(t.Context(), "a", rate, 30*time.Second)
	for i, b := range all {
		if e := app.AsError(b.Take(t.Context(), "a", rate)); e.Reason != Reason || e.RetryAfter < 30*time.Second {
			t.Errorf("client %d: %v after %s", i, e, e.RetryAfter)
		}
	}
	r.SetTime(now.Add(30 * time.Second))
	passed := 0
	for _, b := range all {
		if b.Take(t.Context(), "a", rate) == nil {
			passed++
		}
	}
	if passed != 1 {
		t.Errorf("%d calls at the moment at which the cloud wants to be asked again, want 1", passed)
	}
	all[1].Exhausted(t.Context(), "a", rate, 6*7*24*time.Hour)
	if e := app.AsError(all[2].Take(t.Context(), "a", rate)); e.RetryAfter > loop.LongestAsked {
		t.Errorf("a cloud that asks for six weeks holds us up for %s", e.RetryAfter)
	}
}

func TestWithoutRedisEachProcessUsesAShare(t *testing.T) {
	all, r := budgets(t, 1)
	b, rate := all[0], template.Rate{PerSecond: 4000, Burst: 4}
	if err := b.Take(t.Context(), "a", template.Rate{}); err != nil {
		t.Errorf("an account without a limit: %v", err)
	}
	r.Close()
	began, calls := time.Now(), 0
	for time.Since(began) < 100*time.Millisecond {
		if b.Take(t.Context(), "a", rate) == nil {
			calls++
		}
	}
	most := int(time.Since(began).Seconds()*rate.PerSecond*budgetShare) + 2
	if calls == 0 || calls > most {
		t.Errorf("%d calls without Redis, want some and at most %d", calls, most)
	}
	if _, err := b.BudgetWait(t.Context(), "a"); app.CodeOf(err) != app.ETransient {
		t.Errorf("an unknown account returns %v", err)
	}
	if err := r.Restart(); err != nil {
		t.Fatal(err)
	}
	b.away = time.Now()
	if e := app.AsError(b.Take(t.Context(), "a", template.Rate{PerSecond: 1, Burst: 100})); e.Reason != Reason {
		t.Errorf("after Redis was away the bucket is not taken for empty: %v", e)
	}
}

func TestCancelledCallerTakesNoTurn(t *testing.T) {
	all, _ := budgets(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := all[0].Take(ctx, "a", template.Rate{PerSecond: 1, Burst: 1}); err == nil {
		t.Error("it had its turn")
	}
}
