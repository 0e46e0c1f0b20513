package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"muster/jobs/queue"
)

// Each answer of Redis is reported, and nothing while it is away.
func TestPingLoopReportsAnswers(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	q, err := queue.Open("redis://"+redis.Addr(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	var answers atomic.Int32
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); q.PingLoop(ctx, func() { answers.Add(1) }) }()
	more := func(within time.Duration) bool {
		before := answers.Load()
		for end := time.Now().Add(within); answers.Load() == before; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				return false
			}
		}
		return true
	}
	if !more(hangs) {
		t.Error("Redis is there, but not reported")
	}
	redis.SetError("LOADING Redis is loading the dataset in memory")
	more(3 * time.Second) // a question may be pending
	if more(3 * time.Second) {
		t.Error("an error of Redis is reported as an answer")
	}
	redis.SetError("")
	if !more(hangs) {
		t.Error("Redis is back, but not reported")
	}
	stop()
	<-done
}
