package aws

import (
	"sync"
	"time"
)

// cacheTTL is how long what seldom changes is not asked for again.
const cacheTTL = 5 * time.Minute

// ttlCache holds what seldom changes, such as images. Nothing of it is ever changed in place. The zero value is empty.
type ttlCache[T any] struct {
	mu sync.Mutex
	of map[string]cacheEntry[T]
}

type cacheEntry[T any] struct {
	value T
	until time.Time
}

// get returns what is kept under a key, or asks. Errors are not kept.
func (k *ttlCache[T]) get(key string, ask func() (T, error)) (T, error) {
	k.mu.Lock()
	one, ok := k.of[key]
	k.mu.Unlock()
	if ok && time.Now().Before(one.until) {
		return one.value, nil
	}
	v, err := ask()
	if err != nil {
		return v, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) > 1000 {
		k.of = map[string]cacheEntry[T]{}
	}
	k.of[key] = cacheEntry[T]{v, time.Now().Add(cacheTTL)}
	return v, nil
}

// forget has everything be asked for again.
func (k *ttlCache[T]) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.of = nil
}
