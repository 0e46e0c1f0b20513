package portal

import (
	"slices"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"
)

// memory keeps sessions in memory, without its own goroutine: expired ones are dropped when a session is stored, at most once a minute.
type memory struct {
	mu    sync.Mutex
	m     map[string]kept
	swept time.Time
}

type kept struct {
	data   []byte
	expiry time.Time
}

var _ scs.Store = (*memory)(nil)

func newMemory() *memory { return &memory{m: map[string]kept{}} }

// Find returns the session of a token, and whether there is one.
func (s *memory) Find(token string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.m[token]
	if !ok || time.Now().After(k.expiry) {
		return nil, false, nil
	}
	return slices.Clone(k.data), true, nil
}

// Commit stores a session until its expiry.
func (s *memory) Commit(token string, data []byte, expiry time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.swept) > time.Minute {
		s.swept = now
		for t, k := range s.m {
			if now.After(k.expiry) {
				delete(s.m, t)
			}
		}
	}
	s.m[token] = kept{slices.Clone(data), expiry}
	return nil
}

// Delete deletes a session, if it exists.
func (s *memory) Delete(token string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, token)
	return nil
}
