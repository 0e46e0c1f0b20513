package identity

import (
	"context"
	"sync"

	"muster/app"
)

// workerKey signs tokens of workers. It is the same for all servers of an installation.
type workerKey struct {
	mu  sync.Mutex
	key []byte
}

func (k *workerKey) Get(ctx context.Context, s app.ProvisionerStore) ([]byte, error) {
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
