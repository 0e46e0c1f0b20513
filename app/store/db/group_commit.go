package db

import (
	"context"
	"slices"
	"sync"

	"muster/app"
)

// GroupCommit lets calls of the same kind that come together share one set of statements. Those that come while one batch is
// being written make up the next.
type GroupCommit[C any] struct {
	Act  func(*Tx, []C) error
	Most int // calls in a batch

	mu      sync.Mutex
	waiting []*groupedCall[C]
	busy    bool
}

type groupedCall[C any] struct {
	call C
	err  error
	done chan struct{}
}

// Do returns once the call has been carried out and is on disk. A caller that goes away before it was begun takes it back.
func (g *GroupCommit[C]) Do(ctx context.Context, s *DB, call C) error {
	c := &groupedCall[C]{call: call, done: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, c)
	if !g.busy {
		g.busy = true
		go g.run(s)
	}
	g.mu.Unlock()
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.waiting, c)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	g.mu.Unlock()
	if i >= 0 {
		return &app.Error{Code: app.ETimeout, Message: "the database was too busy", Err: ctx.Err()}
	}
	<-c.done
	return c.err
}

// run writes batches for as long as there are any.
func (g *GroupCommit[C]) run(s *DB) {
	for {
		var batch []*groupedCall[C]
		begun := false
		take := func() {
			if !begun { // else it runs once more
				begun, batch = true, g.take()
			}
		}
		err := s.Write(context.Background(), func(t *Tx) error {
			take()
			return g.carryOut(t, batch)
		})
		take() // where it could not even begin, err says why
		switch {
		case err != nil && len(batch) > 1 && app.CodeOf(err) == app.EInternal:
			g.commitEach(s, batch)
		default:
			for _, c := range batch {
				c.err = err
				close(c.done)
			}
		}
		g.mu.Lock()
		if len(g.waiting) == 0 {
			g.busy = false
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
	}
}

func (g *GroupCommit[C]) carryOut(t *Tx, batch []*groupedCall[C]) error {
	if len(batch) == 0 {
		return nil
	}
	calls := make([]C, len(batch))
	for i, c := range batch {
		calls[i] = c.call
	}
	return g.Act(t, calls)
}

// commitEach writes each call by itself: one of them goes wrong, and must not keep the others.
func (g *GroupCommit[C]) commitEach(s *DB, batch []*groupedCall[C]) {
	for _, c := range batch {
		c.err = s.Write(context.Background(), func(t *Tx) error { return g.Act(t, []C{c.call}) })
		close(c.done)
	}
}

func (g *GroupCommit[C]) take() []*groupedCall[C] {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), g.Most)
	batch := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	return batch
}

// MaxGroupCommit is how many calls share a set, so that the first of them does not wait for very many.
const MaxGroupCommit = 256
