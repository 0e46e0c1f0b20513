package jobs

import (
	"bytes"
	"context"
	"errors"
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
	var q quietly
	for i := range 100 {
		q.say(log, "ringing", errors.New("from port "+string(rune('0'+i%10))))
		q.say(log, "sweeping", nil)
	}
	q.say(log, "ringing", nil)
	q.say(log, "ringing", nil)
	if lines := strings.Count(said.String(), "\n"); lines != 2 {
		t.Errorf("said %d times, want once that it began and once that it is over:\n%s", lines, said.String())
	}
	said.Reset()
	a := &asynqLog{log: log}
	for range 100 {
		a.Error("dial tcp: connection refused")
	}
	if lines := strings.Count(said.String(), "\n"); lines != 1 {
		t.Errorf("asynq's errors came through %d times", lines)
	}
}
