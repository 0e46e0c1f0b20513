package jobs

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/execution"
)

// skewed is a coordinator whose clock is another one.
type skewed struct {
	execution.Coordinator
	by    time.Duration
	beats atomic.Int32
}

func (s *skewed) Heartbeat(_ context.Context, _ app.WorkerID, held []app.Fence) ([]execution.Directive, error) {
	s.beats.Add(1)
	var out []execution.Directive
	for _, f := range held {
		out = append(out, execution.Directive{Fence: f, Deadline: time.Now().Add(s.by + execution.ClaimFor)})
	}
	return out, nil
}

func TestClaimsIgnoreTheServersClock(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			h := startHeartbeat(app.WorkerID{Name: "w"}, &skewed{by: by}, slog.New(slog.DiscardHandler))
			defer h.close()
			ctx, hold := h.hold(t.Context(), app.Fence{Operation: 1}, time.Now().Add(execution.ClaimFor))
			time.Sleep(10 * execution.ClaimFor)
			if ctx.Err() != nil {
				t.Errorf("with the server's clock off by %s the claim ends: %v", by, context.Cause(ctx))
			}
			defer hold.stopGrace()
			if hold.lost() {
				t.Errorf("with the server's clock off by %s the claim is lost", by)
			}
		})
	}
}

func TestStepThatDoesNotStopIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &skewed{}
		h := startHeartbeat(app.WorkerID{Name: "w"}, s, slog.New(slog.DiscardHandler))
		defer h.close()
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, hold := h.hold(limited, app.Fence{Operation: 1}, time.Now().Add(execution.ClaimFor))
		time.Sleep(2 * time.Minute)
		beats := s.beats.Load()
		time.Sleep(10 * time.Minute)
		if s.beats.Load() != beats {
			t.Error("its claim is still extended")
		}
		defer hold.stopGrace()
		if !hold.lost() {
			t.Error("it doesn't learn that its claim is lost")
		}
	})
}

// cancelled is a coordinator in the same process, which tells when something was cancelled.
type cancelled struct {
	skewed
	signal  chan struct{}
	stopped atomic.Bool
}

func (h *cancelled) CancelSignal(app.WorkerID) (<-chan struct{}, func()) {
	return h.signal, func() { h.stopped.Store(true) }
}

func TestCancelSignalSendsAHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cancelled{signal: make(chan struct{}, 1)}
		h := startHeartbeat(app.WorkerID{Name: "w"}, c, slog.New(slog.DiscardHandler))
		_, hold := h.hold(t.Context(), app.Fence{Operation: 1}, time.Now().Add(execution.ClaimFor))
		time.Sleep(time.Second)
		c.signal <- struct{}{}
		synctest.Wait()
		if n := c.beats.Load(); n != 1 {
			t.Errorf("signalled once, it has beaten %d times", n)
		}
		hold.stopGrace()
		h.close()
		if !c.stopped.Load() {
			t.Error("it doesn't say that it stopped listening")
		}
	})
}

// What was claimed before the cancel and is held after the beat that asked for it is asked for at once, too.
func TestStepHeldAfterACancelSignalIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cancelled{signal: make(chan struct{}, 1)}
		h := startHeartbeat(app.WorkerID{Name: "w"}, c, slog.New(slog.DiscardHandler))
		defer h.close()
		claim := func(n int64, asked time.Time) {
			_, hold := h.hold(t.Context(), app.Fence{Operation: n}, asked.Add(execution.ClaimFor))
			t.Cleanup(hold.stopGrace)
			synctest.Wait()
		}
		claim(1, time.Now())
		time.Sleep(time.Second)
		asked := time.Now()
		time.Sleep(time.Millisecond)
		c.signal <- struct{}{}
		synctest.Wait()
		claim(2, asked)
		if n := c.beats.Load(); n != 2 {
			t.Errorf("signalled once, and with a step more that it may mean, it has beaten %d times", n)
		}
		time.Sleep(time.Millisecond)
		claim(3, time.Now())
		if n := c.beats.Load(); n != 2 {
			t.Errorf("a step that was claimed after the cancel makes it beat: %d times", n)
		}
	})
}
