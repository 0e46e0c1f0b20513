package layout

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTTLCacheKeepsSlowResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s TTLCache[string, int]
		asked := 0
		ask := func(took time.Duration, err error) func(context.Context) (int, error) {
			return func(context.Context) (int, error) { asked++; time.Sleep(took); return asked, err }
		}
		get := func(key string, work func(context.Context) (int, error), want int) {
			t.Helper()
			if v, err := s.Get(t.Context(), time.Now, key, work); err == nil && v != want {
				t.Errorf("%s is %d, want %d", key, v, want)
			}
		}
		get("fast", ask(time.Millisecond, nil), 1)
		get("fast", ask(time.Millisecond, nil), 2)
		get("slow", ask(200*time.Millisecond, nil), 3)
		get("slow", ask(200*time.Millisecond, nil), 3)
		get("other", ask(200*time.Millisecond, nil), 4)
		time.Sleep(19 * time.Second)
		get("slow", ask(200*time.Millisecond, nil), 3)
		time.Sleep(2 * time.Second)
		get("slow", ask(200*time.Millisecond, nil), 5)
		if _, err := s.Get(t.Context(), time.Now, "wrong", ask(time.Second, errors.New("no"))); err == nil {
			t.Error("an error is lost")
		}
		get("wrong", ask(time.Second, nil), 7)
		// Those who ask meanwhile get the same, and one who goes away takes no one along.
		gone, leave := context.WithCancel(t.Context())
		go func() {
			_, _ = s.Get(gone, time.Now, "together", func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		}()
		synctest.Wait()
		for range 3 {
			go get("together", ask(time.Second, nil), 8)
		}
		synctest.Wait()
		leave()
		time.Sleep(2 * time.Second)
		if asked != 8 {
			t.Errorf("asked %d times", asked)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.kept) > 5 {
			t.Errorf("%d answers are kept", len(s.kept))
		}
	})
}

func TestTTLCacheKeepsLargeResultsRegardlessOfTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := TTLCache[string, int]{Large: func(v int) bool { return v >= 100 }}
		asked := 0
		get := func(key string, v int, took time.Duration, want int) {
			t.Helper()
			got, err := s.Get(t.Context(), time.Now, key, func(context.Context) (int, error) { asked++; time.Sleep(took); return v, nil })
			if err != nil || got != v || asked != want {
				t.Errorf("%s is %d after %d questions (%v), want %d after %d", key, got, asked, err, v, want)
			}
		}
		get("small", 1, time.Second, 1)
		get("small", 2, time.Second, 2)
		get("large", 100, 10*time.Millisecond, 3)
		get("large", 100, 10*time.Millisecond, 3)
		time.Sleep(2 * time.Second)
		get("large", 200, 10*time.Millisecond, 4)
	})
}

// A clock that is set back makes nothing old count for longer.
func TestTTLCacheUsesTheGivenClock(t *testing.T) {
	now, asked := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC), 0
	var s TTLCache[string, int]
	for _, step := range []struct {
		by   time.Duration
		want int
	}{{0, 1}, {30 * time.Second, 1}, {-time.Hour, 2}, {59 * time.Second, 2}, {time.Minute, 3}} {
		now = now.Add(step.by)
		v, err := s.Get(t.Context(), func() time.Time { return now }, "key", func(context.Context) (int, error) {
			asked++
			now = now.Add(time.Second)
			return asked, nil
		})
		if err != nil || v != step.want {
			t.Errorf("after %s it is %d, %v, want %d", step.by, v, err, step.want)
		}
	}
}
