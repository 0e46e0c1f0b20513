package identity

import (
	"context"
	"sync"
)

// WorkerKeys keeps the key that signs tokens of workers. It is the same for all servers of an installation.
type WorkerKeys struct {
	mu  sync.Mutex
	key []byte
}

// Get returns the key, which is made when it is first asked for.
func (k *WorkerKeys) Get(ctx context.Context, s interface {
	WorkerKey(ctx context.Context) ([]byte, error)
}) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key == nil {
		key, err := s.WorkerKey(ctx)
		if err != nil {
			return nil, err
		}
		k.key = key
	}
	return k.key, nil
}
