package queue

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"muster/app/apptest"
	"muster/app/store/storetest"
)

// newDispatcher returns a dispatcher on a store with one cluster whose nodes are all queued. No one works.
func newDispatcher(t *testing.T, nodes int) (*Dispatcher, *apptest.Clock) {
	t.Helper()
	s := storetest.Open(t)
	r, err := StartEmbeddedRedis("secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	q, err := Open(r.URL("secret"), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	clock := apptest.NewClock()
	if _, err := s.CreateCluster(t.Context(), apptest.NewCluster("t", "web", nodes, clock.Now(), apptest.Chain(nodes))); err != nil {
		t.Fatal(err)
	}
	return &Dispatcher{Ledger: s, Queue: q, Log: slog.New(slog.DiscardHandler), Now: clock.Now}, clock
}

// waiting returns the number of wake-ups in the queue once the outbox is empty.
func waiting(t *testing.T, d *Dispatcher) int {
	t.Helper()
	if err := d.dispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, err := d.Queue.Waiting(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDispatchesAreBoundedWhileWorkersAreBusy(t *testing.T) {
	d, clock := newDispatcher(t, 20)
	var patience time.Time
	for range 50 {
		if err := d.sweep(t.Context(), clock.Now(), &patience); err != nil {
			t.Fatal(err)
		}
		if n := waiting(t, d); n != 20 {
			t.Fatalf("%d queue messages for 20 steps", n)
		}
		clock.Move(redispatchAfter + time.Second)
	}
}

func TestLostDispatchesAreRepeated(t *testing.T) {
	d, clock := newDispatcher(t, 20)
	var patience time.Time
	if err := d.sweep(t.Context(), clock.Now(), &patience); err != nil {
		t.Fatal(err)
	}
	if n := waiting(t, d); n != 20 {
		t.Fatalf("%d queue messages for 20 steps", n)
	}
	// The list goes, the mark stays: as after a restart from an older snapshot.
	if err := d.Queue.client.Del(t.Context(), "asynq:{"+d.Queue.name("t")+"}:pending").Err(); err != nil {
		t.Fatal(err)
	}
	clock.Move(redispatchAfter + time.Second)
	if err := d.sweep(t.Context(), clock.Now(), &patience); err != nil {
		t.Fatal(err)
	}
	if n := waiting(t, d); n != 20 {
		t.Errorf("%d queue messages are sent again, want 20", n)
	}
}

func TestAsynqErrorsAreLoggedOnceAMinute(t *testing.T) {
	var said bytes.Buffer
	a := &asynqLog{log: slog.New(slog.NewTextHandler(&said, nil))}
	for range 100 {
		a.Error("dial tcp: connection refused")
	}
	if n := strings.Count(said.String(), "\n"); n != 1 {
		t.Errorf("asynq's errors came through %d times", n)
	}
}
