package jobs

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/execution"
)

// busy is a coordinator that notes how many slots ask at the same time.
type busy struct {
	execution.Coordinator
	worker *Worker
	most   int
}

func (b *busy) Claim(_ context.Context, _ app.WorkerID, most int) ([]*execution.Assignment, error) {
	time.Sleep(time.Millisecond) // in a bubble that is until no one else can continue: those who ask meanwhile have gathered
	d := b.worker.batcher
	d.mu.Lock()
	defer d.mu.Unlock()
	b.most = max(b.most, most+len(d.claims))
	return nil, nil
}

// However many wake-ups asynq hands over at the same time, a worker has as many slots as it was given.
func TestSlotsHoldWhenTheQueueMisbehaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{}
		w := newWorker(WorkerConfig{Slots: 2, Coordinator: b, Log: slog.New(slog.DiscardHandler)})
		b.worker = w
		defer w.close()
		defer w.drop()
		var all sync.WaitGroup
		for range 200 {
			all.Go(w.serve)
		}
		all.Wait()
		w.work.Wait()
		if b.most != 2 {
			t.Errorf("%d steps at the same time in 2 slots", b.most)
		}
	})
}
