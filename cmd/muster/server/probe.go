package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/app/humanize"
)

// Timeout of a probe, and how long its result is cached: even a thousand probes a second cost the database one query.
const (
	probeTime = 2 * time.Second
	probeKept = time.Second
)

// Probe is the health endpoint for load balancers, systemd and Kubernetes. It needs no token, since it reveals nothing useful to others.
type Probe struct {
	Database, Queue func(context.Context) error
	Leaving         atomic.Bool // the server is stopping

	mu    sync.Mutex
	Asked time.Time
	ready bool
	words string
}

// Serve serves /livez, which says that the process is alive, and /readyz, which says whether to send traffic: the database answers, and the
// server isn't stopping. It's ready without Redis, since the ledger still accepts requests; they run a little later.
func (p *Probe) Serve(mux *http.ServeMux) {
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		switch ready, words := p.look(r.Context()); {
		case p.Leaving.Load():
			say(w, http.StatusServiceUnavailable, "server: stopping\n")
		case !ready:
			say(w, http.StatusServiceUnavailable, words)
		default:
			say(w, http.StatusOK, words)
		}
	})
}

func say(w http.ResponseWriter, status int, words string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, words)
}

// look runs all probes concurrently, a line each. Concurrent callers wait for the same result.
func (p *Probe) look(ctx context.Context) (ready bool, words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.Asked) < probeKept {
		return p.ready, p.words
	}
	// A caller that leaves doesn't cancel the others' result.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	defer cancel()
	var wg sync.WaitGroup
	var database, queue error
	wg.Go(func() { database = p.Database(ctx) })
	wg.Go(func() { queue = p.Queue(ctx) })
	wg.Wait()
	var b strings.Builder
	line := func(name string, err error) {
		word := "ok"
		if err != nil {
			word = "unreachable" // no details: errors name hosts
			if errors.Is(err, context.DeadlineExceeded) {
				word = "no response within " + humanize.Duration(probeTime)
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", name, word)
	}
	line("database", database)
	line("queue", queue)
	p.Asked, p.ready, p.words = time.Now(), database == nil, b.String()
	return p.ready, p.words
}
