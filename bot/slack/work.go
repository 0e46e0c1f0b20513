package slack

import (
	"context"
	"sync"
)

// workers work on what takes longer than Slack waits, beside its requests.
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
	wk := &workers{base: ba, free: make(chan struct{}, mostAtOnce)}
	wk.life, wk.end = context.WithCancel(context.Background())
	return wk
}

// close ends what is still worked on and waits for it.
func (wk *workers) close() {
	wk.mu.Lock()
	wk.shut = true
	wk.mu.Unlock()
	wk.end()
	wk.work.Wait()
}

// begin works on something beside the request, unless there is too much of it or the server ends.
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

// full tells that nothing more can be begun. It is asked before something is noted as seen, so that it is heard when it comes again.
func (wk *workers) full() bool { return len(wk.free) == cap(wk.free) }
