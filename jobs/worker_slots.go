package jobs

import (
	"context"
	"sync"
	"time"

	"muster/app/execution"
	"muster/jobs/internal/loop"
)

// slots are the steps that a worker may carry out at the same time. Their number may change while they are used.
type slots struct {
	mu    sync.Mutex
	most  int
	taken int
	freed chan struct{} // closed, and made again, when there may be a free one
}

func newSlots(most int) *slots { return &slots{most: most, freed: make(chan struct{})} }

// take waits for a free slot; false when ctx has ended.
func (s *slots) take(ctx context.Context) bool {
	for {
		s.mu.Lock()
		if ctx.Err() == nil && s.taken < s.most {
			s.taken++
			s.mu.Unlock()
			return true
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (s *slots) tryTake() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= s.most {
		return false
	}
	s.taken++
	return true
}

func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.wake()
}

func (s *slots) wake() {
	close(s.freed)
	s.freed = make(chan struct{})
}

// resize sets the number, and reports whether it has grown.
func (s *slots) resize(most int) (grown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	grown = most > s.most
	s.most = most
	s.wake()
	return grown
}

// over reports whether more are taken than there are.
func (s *slots) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken > s.most
}

// Resize sets how many steps the worker carries out at the same time. Running ones continue; where they are too many, no new
// ones begin until they are not.
func (w *Worker) Resize(most int) {
	if w.slots.resize(most) {
		w.wakeAnother()
	}
}

const (
	// dispatchLate is after how long a worker with a queue asks for a step of which it got no wake-up: another worker may have
	// taken it and not been able to take the step.
	dispatchLate = time.Second
	// askAgain is how long a worker waits before it asks again whether there is more, after it went for some.
	askAgain = 100 * time.Millisecond
)

// Follow asks the server whether there is work, until ctx ends, and sends free slots to work when there is. A worker without a
// queue, or whose Redis does not answer, lives by it alone; for others it makes up for wake-ups that were lost.
func (w *Worker) Follow(ctx context.Context, server execution.WorkWaiter) {
	var trouble loop.Trouble
	for failed := 0; ctx.Err() == nil && !w.draining(); {
		if !w.slots.take(ctx) {
			return
		}
		w.slots.give() // it only wanted to know that there is one
		some, err := server.AwaitWork(ctx, w.id(), w.patience(ctx))
		if ctx.Err() != nil {
			return
		}
		trouble.Say(w.Log, "Claiming work", err)
		switch {
		case err != nil:
			failed++
			_ = loop.Pause(ctx, min(loop.BackOff(100*time.Millisecond, failed), 5*time.Second))
		case some:
			failed = 0
			w.wakeAnother()
			_ = loop.Pause(ctx, askAgain)
		default:
			failed = 0
		}
	}
}

// Seek looks for work at once, since steps may have been dispatched before, and from then on whenever the server has some;
// server is nil where wake-ups alone do.
func (w *Worker) Seek(server execution.WorkWaiter) {
	if server != nil {
		go w.Follow(w.ctx, server)
	}
	w.wakeAnother()
}

func (w *Worker) draining() bool {
	w.gate.RLock()
	defer w.gate.RUnlock()
	return w.drains
}

// patience is how long a step may wait for its wake-up.
func (w *Worker) patience(ctx context.Context) time.Duration {
	if w.Queue == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if w.Queue.Ping(ctx) != nil {
		return 0
	}
	return dispatchLate
}
