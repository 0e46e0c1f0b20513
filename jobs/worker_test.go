package jobs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"muster/app"
)

// busy is a coordinator that counts how many ask at the same time.
type busy struct {
	app.Coordinator
	now, most atomic.Int32
}

func (b *busy) Claim(context.Context, app.WorkerID, int) ([]*app.Assignment, error) {
	n := b.now.Add(1)
	defer b.now.Add(-1)
	for m := b.most.Load(); n > m && !b.most.CompareAndSwap(m, n); m = b.most.Load() {
	}
	return nil, nil
}

// However many bells asynq hands over at the same time, a worker has as many slots as it was given.
func TestSlotsHoldWhateverTheQueueDoes(t *testing.T) {
	b := &busy{}
	w := &Worker{WorkerConfig: WorkerConfig{Slots: 2, Coordinator: b}, slots: make(chan struct{}, 2)}
	w.ctx, w.drop = context.WithCancel(t.Context())
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
	if n := b.most.Load(); n > 2 {
		t.Errorf("%d steps at the same time in 2 slots", n)
	}
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
