package blob

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app/cloudurl"
)

// memory is for trials: it is gone with the process.
type memory struct {
	mu  sync.Mutex
	all map[string]memObject
}

type memObject struct {
	content []byte
	at      time.Time
}

func openMem(_ context.Context, u *url.URL) (backend, error) {
	return &memory{all: map[string]memObject{}}, cloudurl.Of(u).Err()
}

func (m *memory) open(_ context.Context, name string, from int64) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.all[name]
	if !ok {
		return nil, errAbsent
	}
	return io.NopCloser(bytes.NewReader(r.content[min(from, int64(len(r.content))):])), nil
}

func (m *memory) size(_ context.Context, name string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.all[name]
	if !ok {
		return -1, nil
	}
	return int64(len(r.content)), nil
}

func (m *memory) write(ctx context.Context, name string, content *io.SectionReader) error {
	b, err := io.ReadAll(reader{ctx, content})
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[name] = memObject{b, time.Now()}
	return nil
}

func (m *memory) remove(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, name)
	return nil
}

func (m *memory) list(_ context.Context, prefix string, each func(name string, at time.Time) error) error {
	m.mu.Lock()
	all := maps.Clone(m.all)
	m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if err := each(name, all[name].at); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) close() error { return nil }
