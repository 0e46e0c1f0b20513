package layout

import (
	"context"
	"runtime"
	"sync"
	"time"

	"muster/app"
)

// Bounds of solving and planning for people who ask. A busy tenant only delays itself. What was approved, and what Muster does on its own, doesn't wait.
const (
	mostSolving     = 2  // of a tenant at the same time
	mostSolvingWait = 32 // more of a tenant that wait; the next is refused
)

// solveAgain is when to ask again after being refused.
const solveAgain = 5 * time.Second

// SolveTime is how long a layout may be looked for before the person learns that it takes too long.
const SolveTime = 10 * time.Second

// SolveLimit limits how many layouts and plans are computed at the same time, per tenant and in total. The zero value is ready to use.
type SolveLimit struct {
	mu  sync.Mutex
	of  map[string]*tenantTurns
	all chan struct{}
}

type tenantTurns struct {
	turns chan struct{}
	users int // at work and waiting
}

// Enter waits for a turn, for at most SolveTime, and returns the function that ends it. ERateLimit, reason busy, if too many requests of the tenant
// are waiting already, or if no turn came in time.
func (s *SolveLimit) Enter(ctx context.Context, tenant string) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, SolveTime)
	defer cancel()
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
	for _, turns := range []chan struct{}{t.turns, s.all} { // the tenant's own turn first: a request that waits for it holds no turn of the others
		select {
		case turns <- struct{}{}:
		case <-ctx.Done():
			if turns == s.all {
				<-t.turns
			}
			gone()
			return nil, busySolving()
		}
	}
	return func() {
		<-s.all
		<-t.turns
		gone()
	}, nil
}

func busySolving() *app.Error {
	return &app.Error{Code: app.ERateLimit, Reason: "busy", RetryAfter: solveAgain, Message: "This tenant has too many previews and changes in progress.", Hint: "Try again in a few seconds."}
}
