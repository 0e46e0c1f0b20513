package upkeep

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	apppolicy "muster/app/policy"
)

// shelf is what is left of so many rows, of which each batch deletes ten.
type shelf struct {
	mu              sync.Mutex
	events, logs    int
	eventsTo, logTo time.Time
	pacesTo         time.Time
	answers         int
	answersTo       time.Time
}

func (s *shelf) DropDurationStats(_ context.Context, before time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pacesTo = before
	return 0, nil
}

func (s *shelf) DropAnswers(_ context.Context, before time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answersTo = before
	n := min(s.answers, 10)
	s.answers -= n
	return n, nil
}

func (s *shelf) DropEvents(_ context.Context, before time.Time, from int64) (int64, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eventsTo = before
	return take(&s.events, from)
}

func (s *shelf) DropLogs(_ context.Context, before time.Time, from int64) (int64, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logTo = before
	return take(&s.logs, from)
}

func take(left *int, from int64) (int64, int, error) {
	n := min(*left, 10)
	if *left -= n; *left == 0 {
		return 0, n, nil
	}
	return from + 10, n, nil
}

func TestRetention(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name         string
		events, logs time.Duration
		left         struct{ events, logs int }
	}{
		{"both", 90 * day, 30 * day, struct{ events, logs int }{}},
		{"events forever", 0, 30 * day, struct{ events, logs int }{events: 95}},
		{"logs forever", 90 * day, 0, struct{ events, logs int }{logs: 25}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &shelf{events: 95, logs: 25, answers: 35}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			r := &Retention{Store: s, Events: c.events, Logs: c.logs, Log: slog.New(slog.DiscardHandler), Now: time.Now}
			began := time.Now()
			go func() { defer close(done); r.Run(ctx) }()
			time.Sleep(time.Minute)
			synctest.Wait()
			if s.events != c.left.events || s.logs != c.left.logs {
				t.Errorf("%s: %d rows and %d lines are left", c.name, s.events, s.logs)
			}
			if c.events > 0 && !s.eventsTo.Equal(began.Add(-c.events)) || c.logs > 0 && s.logTo.After(began.Add(time.Second-c.logs)) {
				t.Errorf("%s: deleted up to %s and %s", c.name, s.eventsTo, s.logTo)
			}
			if late := s.pacesTo.Sub(began.Add(-apppolicy.DurationStatsRetention)); late < 0 || late > time.Minute {
				t.Errorf("%s: how long steps take was forgotten up to %s", c.name, s.pacesTo)
			}
			if late := s.answersTo.Sub(began.Add(-app.IdempotencyKeep)); s.answers != 0 || late < 0 || late > time.Minute {
				t.Errorf("%s: %d answers are left of those up to %s", c.name, s.answers, s.answersTo)
			}
			s.mu.Lock()
			s.logs += 5
			s.mu.Unlock()
			time.Sleep(time.Hour)
			synctest.Wait()
			if s.logs > c.left.logs+5 || c.logs > 0 && s.logs > 0 {
				t.Errorf("%s: an hour later %d lines are left", c.name, s.logs)
			}
			stop()
			<-done
		})
	}
}
