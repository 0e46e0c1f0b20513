package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/portal/wire"
)

var _ execution.ResourceFetcher = (*Remote)(nil)

// fetchPause is how long a content that comes may stand still.
const fetchPause = time.Minute

func (r *Remote) FetchResource(ctx context.Context, w app.WorkerID, f app.Fence, hash string, from int64) (io.ReadCloser, error) {
	b, err := json.Marshal(wire.FetchMessage{Worker: w, Fence: f, Hash: hash, From: from})
	if err != nil {
		return nil, fmt.Errorf("jobs: resource: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(r.URL, "/")+pathWorker+"resource", bytes.NewReader(b))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("jobs: resource: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+r.Token())
	// What is packed already would only be packed once more.
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := r.HTTP.Do(req)
	if err != nil {
		cancel()
		return nil, r.unreachable(err)
	}
	if resp.StatusCode != http.StatusOK {
		defer cancel()
		defer resp.Body.Close()
		b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		if err != nil {
			return nil, r.unreachable(err)
		}
		return nil, refused(resp, b)
	}
	return &moving{r: resp.Body, cancel: cancel, remote: r, still: time.AfterFunc(fetchPause, cancel)}, nil
}

func (r *Remote) HoldResources(ctx context.Context, w app.WorkerID, hashes []string) error {
	return r.ask(ctx, "resource_held", wire.HoldMessage{Worker: w, Hashes: hashes}, &wire.Empty{})
}

// moving is an answer that may be as long as it likes, but not stand still.
type moving struct {
	r      io.ReadCloser
	cancel context.CancelFunc
	remote *Remote
	still  *time.Timer
}

func (m *moving) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	if n > 0 {
		m.still.Reset(fetchPause)
	}
	if err != nil && err != io.EOF { //nolint:errorlint // a reader ends with io.EOF itself; a wrapped one is a failure
		err = m.remote.unreachable(err)
	}
	return n, err
}

func (m *moving) Close() error {
	m.still.Stop()
	m.cancel()
	return m.r.Close()
}
