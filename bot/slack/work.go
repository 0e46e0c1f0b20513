package slack

import (
	"context"
	"sync"
)

// workers run work that takes longer than Slack waits.
type workers struct {
	*base
	life context.Context
	end  context.CancelFunc
	mu   sync.Mutex // over shut, and over adding to work
	shut bool
	work sync.WaitGroup
	free chan struct{}
}

func newWorkers(ba *base) *workers {
	wk := &workers{base: ba, free: make(chan struct{}, maxConcurrent)}
	wk.life, wk.end = context.WithCancel(context.Background())
	return wk
}

// close stops and waits for all work.
func (wk *workers) close() {
	wk.mu.Lock()
	wk.shut = true
	wk.mu.Unlock()
	wk.end()
	wk.work.Wait()
}

// begin starts background work, unless there's too much of it or the server is stopping.
func (wk *workers) begin(f func(ctx context.Context)) bool {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	if wk.shut {
		return false
	}
	select {
	case wk.free <- struct{}{}:
	default:
		return false
	}
	wk.work.Go(func() {
		defer func() { <-wk.free }()
		defer func() {
			if trouble := recover(); trouble != nil {
				wk.log.Error("slack: a command panicked", "panic", trouble)
			}
		}()
		ctx, cancel := context.WithTimeout(wk.life, workTime)
		defer cancel()
		f(ctx)
	})
	return true
}

// full reports that no more work can be started. It's checked before a payload is recorded as seen, so that a repeated one is handled.
func (wk *workers) full() bool { return len(wk.free) == cap(wk.free) }
