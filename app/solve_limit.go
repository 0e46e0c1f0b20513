package app

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// MaxNodes is the most nodes that a cluster can have. Solving and planning take memory by the node, so larger sizes are refused before anything is
// worked out.
const MaxNodes = 10_000

// Bounds of solving and planning. A tenant whose people ask for much at the same time waits for itself, and not the others for it.
const (
	mostSolving     = 2  // of a tenant at the same time
	mostSolvingWait = 32 // more of a tenant that wait; the next is refused
)

// solveAgain is when to ask again after being refused.
const solveAgain = 5 * time.Second

// checkSize refuses a size that no cluster can have, with EInvalid; 0 is for the template to say.
func checkSize(size int) error {
	if size >= 0 && size <= MaxNodes {
		return nil
	}
	return &Error{Code: EInvalid, Reason: "size", Field: "size", Message: fmt.Sprintf("A cluster has 1 to %d nodes, not %d.", MaxNodes, size), Hint: "Ask for fewer nodes, or for several clusters."}
}

// solving bounds how many layouts and plans are worked out at the same time, of each tenant and of all. Its zero value is ready.
type solving struct {
	mu  sync.Mutex
	of  map[string]*tenantTurns
	all chan struct{}
}

type tenantTurns struct {
	turns chan struct{}
	users int // at work and waiting
}

// enter waits for a turn and returns what gives it back. ERateLimit, reason busy, where too many of the tenant wait already; ETimeout where ctx
// ends before there is a turn.
func (s *solving) enter(ctx context.Context, tenant string) (leave func(), err error) {
	s.mu.Lock()
	if s.of == nil {
		s.of, s.all = map[string]*tenantTurns{}, make(chan struct{}, max(2*mostSolving, 2*runtime.GOMAXPROCS(0)))
	}
	t := s.of[tenant]
	if t == nil {
		t = &tenantTurns{turns: make(chan struct{}, mostSolving)}
		s.of[tenant] = t
	}
	if t.users >= mostSolving+mostSolvingWait {
		s.mu.Unlock()
		return nil, busySolving()
	}
	t.users++
	s.mu.Unlock()
	gone := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(s.of, tenant)
		}
	}
	for _, turns := range []chan struct{}{t.turns, s.all} { // the tenant's own turn first, so that who waits for it keeps nobody else waiting
		select {
		case turns <- struct{}{}:
		case <-ctx.Done():
			if turns == s.all {
				<-t.turns
			}
			gone()
			e := busySolving()
			e.Code, e.Err = ETimeout, ctx.Err()
			return nil, e
		}
	}
	return func() {
		<-s.all
		<-t.turns
		gone()
	}, nil
}

func busySolving() *Error {
	return &Error{Code: ERateLimit, Reason: "busy", RetryAfter: solveAgain, Message: "Too many layouts are being worked out for this tenant right now.", Hint: "Try again in a few seconds."}
}
