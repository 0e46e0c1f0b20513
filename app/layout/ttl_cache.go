package layout

import (
	"context"
	"sync"
	"time"

	"muster/app"
)

// How long an answer is kept that took long: so many times as long as it took, and never longer than a minute. What took less than
// minCachedTime is not kept, so that people with few clusters see everything as it is.
const (
	minCachedTime = 50 * time.Millisecond
	ttlFactor     = 100
	maxTTL        = time.Minute
)

// TTLCache keep what takes long to add up for a while, and let those who ask at the same time wait for the same answer. What is
// given is shared, and not to be changed.
type TTLCache[K comparable, V any] struct {
	// Large tells by an answer whether it is one to keep, however long it took; nil: what took minCachedTime is.
	Large func(V) bool

	mu   sync.Mutex
	kept map[K]*ttlEntry[V]
}

type ttlEntry[V any] struct {
	done  chan struct{}
	value V
	err   error

	begun, until time.Time // between which it is good
}

// validAt also tells false where the clock was set back since.
func (a *ttlEntry[V]) validAt(now time.Time) bool {
	return !now.Before(a.begun) && now.Before(a.until)
}

// Get returns an answer that is kept, or works it out.
func (s *TTLCache[K, V]) Get(ctx context.Context, clock func() time.Time, key K, work func(context.Context) (V, error)) (V, error) {
	for {
		now := clock()
		s.mu.Lock()
		if s.kept == nil {
			s.kept = map[K]*ttlEntry[V]{}
		}
		a := s.kept[key]
		if a != nil {
			s.mu.Unlock()
			select {
			case <-ctx.Done():
				return *new(V), ctx.Err()
			case <-a.done:
			}
			// The one who worked it out may have gone away; that is no answer.
			if a.err == nil && a.validAt(clock()) {
				return a.value, nil
			}
			s.forget(key, a)
			continue
		}
		for k, old := range s.kept { // there are only ever a few
			select {
			case <-old.done:
				if !old.validAt(now) {
					delete(s.kept, k)
				}
			default:
			}
		}
		a = &ttlEntry[V]{done: make(chan struct{}), begun: now}
		s.kept[key] = a
		s.mu.Unlock()
		return s.work(ctx, clock, key, a, work)
	}
}

func (s *TTLCache[K, V]) work(ctx context.Context, clock func() time.Time, key K, a *ttlEntry[V], work func(context.Context) (V, error)) (V, error) {
	finished := false
	defer func() {
		if took := clock().Sub(a.begun); finished && a.err == nil && s.keeps(a.value, took) {
			a.until = a.begun.Add(took + min(took*ttlFactor, maxTTL))
		} else {
			if !finished {
				a.err = app.Errorf(app.EInternal, "The result couldn't be computed.")
			}
			s.forget(key, a)
		}
		close(a.done)
	}()
	a.value, a.err = work(ctx)
	finished = true
	return a.value, a.err
}

func (s *TTLCache[K, V]) keeps(v V, took time.Duration) bool {
	if s.Large != nil {
		return s.Large(v)
	}
	return took >= minCachedTime
}

func (s *TTLCache[K, V]) forget(key K, a *ttlEntry[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[key] == a {
		delete(s.kept, key)
	}
}
