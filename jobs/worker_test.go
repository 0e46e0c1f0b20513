package jobs

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
)

// busy is a coordinator that notes how many slots ask at the same time.
type busy struct {
	app.Coordinator
	worker *Worker
	most   int
}

func (b *busy) Claim(_ context.Context, _ app.WorkerID, most int) ([]*app.Assignment, error) {
	time.Sleep(time.Millisecond) // in a bubble that is until nobody else can go on: those who ask meanwhile have gathered
	d := b.worker.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	b.most = max(b.most, most+len(d.claims))
	return nil, nil
}

// However many bells asynq hands over at the same time, a worker has as many slots as it was given.
func TestSlotsHoldWhateverTheQueueDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{}
		w := newWorker(WorkerConfig{Slots: 2, Coordinator: b, Log: slog.New(slog.DiscardHandler)})
		b.worker = w
		defer w.close()
		defer w.drop()
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				if err := w.serve(t.Context(), nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.work.Wait()
		if b.most != 2 {
			t.Errorf("%d steps at the same time in 2 slots", b.most)
		}
	})
}

func TestTroubleIsSaidOnce(t *testing.T) {
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	lines := func() int { defer said.Reset(); return strings.Count(said.String(), "\n") }
	synctest.Test(t, func(t *testing.T) {
		var q quietly
		shut := &app.Error{Code: app.ECredentials, Message: "refused"}
		want := func(when string, n int) {
			t.Helper()
			if text := said.String(); lines() != n {
				t.Errorf("%s: want %d lines:\n%s", when, n, text)
			}
		}
		minutes := func(n int, errs ...error) {
			for i := range n {
				q.say(log, "looking after account a", errs[i%len(errs)])
				q.say(log, "sweeping", nil)
				time.Sleep(time.Minute)
			}
		}
		away := func(port int) error { return fmt.Errorf("from port %d", port) }
		minutes(50, away(1), away(2), away(3))
		want("when it begins", 1)
		minutes(9, shut)
		want("when it is of another kind", 1)
		minutes(120, away(4), shut)
		want("while it goes to and fro for two hours, each kind once an hour", 4)
		minutes(2, nil)
		want("when it is over", 1)
		minutes(1, shut)
		want("when it comes back", 1)
	})
	said.Reset()
	a := &asynqLog{log: log}
	for range 100 {
		a.Error("dial tcp: connection refused")
	}
	if n := lines(); n != 1 {
		t.Errorf("asynq's errors came through %d times", n)
	}
}
