package site

import (
	"context"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
)

// Broadcaster wake the open pages of clusters, with one watch for all pages of a cluster. They count events, so that pages know whether their
// data is still current.
type Broadcaster struct {
	mu    sync.Mutex
	M     map[string]*topic
	count int64 // never decreases, so that old data isn't mistaken for new data in the next topic
}

type topic struct {
	pages map[chan struct{}]bool
	count int64 // at the last event
	leave func()
}

// Enter returns a channel that wakes a page until it leaves.
func (s *Broadcaster) Enter(cluster string, watch func() (<-chan struct{}, func())) (changed <-chan struct{}, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.M == nil {
		s.M = map[string]*topic{}
	}
	r := s.M[cluster]
	if r == nil {
		s.count++
		r = &topic{pages: map[chan struct{}]bool{}, count: s.count}
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

func (s *Broadcaster) wake(r *topic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	r.count = s.count
	for page := range r.pages {
		select {
		case page <- struct{}{}:
		default: // it hasn't handled the last one yet
		}
	}
}

// Now returns the current event count.
func (s *Broadcaster) Now(cluster string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.M[cluster]; r != nil {
		return r.count
	}
	return 0
}

// SharedRead shares one read between concurrent callers.
type SharedRead[V any] struct {
	mu sync.Mutex
	m  map[string]*sharedRead[V]
}

type sharedRead[V any] struct {
	since int64 // event count when it started
	done  chan struct{}
	value V
	err   error
}

// Get returns a recent result that was read after event count since. The first caller reads for all. The result is shared and must not be
// changed.
func (s *SharedRead[V]) Get(ctx context.Context, key string, since int64, read func(context.Context) (V, error)) (v V, mine bool, err error) {
	s.mu.Lock()
	k := s.m[key]
	if mine = k == nil || k.since < since; mine {
		k = &sharedRead[V]{since: since, done: make(chan struct{})}
		if s.m == nil {
			s.m = map[string]*sharedRead[V]{}
		}
		s.m[key] = k
	}
	s.mu.Unlock()
	if mine {
		// The read continues for the others if the first caller leaves.
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

func (s *SharedRead[V]) run(ctx context.Context, key string, k *sharedRead[V], read func(context.Context) (V, error)) {
	k.err = ErrBug // unless the read returns
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

// ClusterFacts are the data of a cluster that are the same for everyone with a role.
type ClusterFacts struct {
	Steps   []app.Step
	Waiting execution.Waiting
}
