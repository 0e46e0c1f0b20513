package site

import (
	"context"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
)

// Rooms wake the open pages of clusters: one watch for all pages of a cluster. They count what happened, which tells whether what was
// read of a cluster still holds.
type Rooms struct {
	mu    sync.Mutex
	M     map[string]*room
	count int64 // never falls, so that nothing that was read for a room before is taken for news in the next one
}

type room struct {
	pages map[chan struct{}]bool
	count int64 // when something happened last
	leave func()
}

// Enter wakes a page by what it returns, until it leaves.
func (s *Rooms) Enter(cluster string, watch func() (<-chan struct{}, func())) (changed <-chan struct{}, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.M == nil {
		s.M = map[string]*room{}
	}
	r := s.M[cluster]
	if r == nil {
		s.count++
		r = &room{pages: map[chan struct{}]bool{}, count: s.count}
		happened, stop := watch()
		over, ended := make(chan struct{}), make(chan struct{})
		r.leave = func() { close(over); <-ended; stop() }
		go func() {
			defer close(ended)
			for {
				select {
				case <-over:
					return
				case <-happened:
					s.wake(r)
				}
			}
		}()
		s.M[cluster] = r
	}
	page := make(chan struct{}, 1)
	r.pages[page] = true
	return page, func() {
		s.mu.Lock()
		delete(r.pages, page)
		last := len(r.pages) == 0
		if last {
			delete(s.M, cluster)
		}
		s.mu.Unlock()
		if last {
			r.leave()
		}
	}
}

func (s *Rooms) wake(r *room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	r.count = s.count
	for page := range r.pages {
		select {
		case page <- struct{}{}:
		default: // it has not looked since the last one
		}
	}
}

// Now says up to what a page in the room may know of the cluster.
func (s *Rooms) Now(cluster string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.M[cluster]; r != nil {
		return r.count
	}
	return 0
}

// Joint reads the same once for all who ask at about the same time.
type Joint[V any] struct {
	mu sync.Mutex
	m  map[string]*jointRead[V]
}

type jointRead[V any] struct {
	since int64 // what had happened when it began
	done  chan struct{}
	value V
	err   error
}

// Get returns what was read after all that happened up to since, and not long ago. Whoever comes first reads for all: only that one
// reads. What is given is shared, and not to be changed.
func (s *Joint[V]) Get(ctx context.Context, key string, since int64, read func(context.Context) (V, error)) (v V, mine bool, err error) {
	s.mu.Lock()
	k := s.m[key]
	if mine = k == nil || k.since < since; mine {
		k = &jointRead[V]{since: since, done: make(chan struct{})}
		if s.m == nil {
			s.m = map[string]*jointRead[V]{}
		}
		s.m[key] = k
	}
	s.mu.Unlock()
	if mine {
		// That the first one leaves is no reason for the others to see nothing.
		s.run(context.WithoutCancel(ctx), key, k, read)
		return k.value, true, k.err
	}
	select {
	case <-ctx.Done():
		return v, false, ctx.Err()
	case <-k.done:
		return k.value, false, k.err
	}
}

func (s *Joint[V]) run(ctx context.Context, key string, k *jointRead[V], read func(context.Context) (V, error)) {
	k.err = ErrBug // unless it comes back
	forget := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.m[key] == k {
			delete(s.m, key)
		}
	}
	defer func() {
		close(k.done)
		if k.err != nil {
			forget()
			return
		}
		time.AfterFunc(LookKept, forget)
	}()
	ctx, cancel := context.WithTimeout(ctx, RequestTime)
	defer cancel()
	k.value, k.err = read(ctx)
}

// ClusterFacts are what is the same of a cluster for everyone of a role.
type ClusterFacts struct {
	Steps   []app.Step
	Waiting execution.Waiting
}
