package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// How long a probe waits for an answer, and for how long one is given again: whoever asks a thousand times a second costs the database one question.
const (
	probeTime = 2 * time.Second
	probeKept = time.Second
)

// Probe says how this server is to whatever watches it: a load balancer, systemd, Kubernetes. It needs no token, since it says nothing that would
// help anybody else.
type Probe struct {
	Database, Queue func(context.Context) error
	Leaving         atomic.Bool // the server is being stopped

	mu    sync.Mutex
	Asked time.Time
	ready bool
	words string
}

// Serve answers /livez, which says that the process answers at all, and /readyz, which says whether to send people here: the database answers, and
// the server is not
// being stopped. Without Redis it is ready, since the ledger takes requests all the same; they are carried out a little later.
func (p *Probe) Serve(mux *http.ServeMux) {
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		switch ready, words := p.look(r.Context()); {
		case p.Leaving.Load():
			say(w, http.StatusServiceUnavailable, "server: being stopped\n")
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

// look asks everything at once, a line each. Those who ask meanwhile wait for the same answer.
func (p *Probe) look(ctx context.Context) (ready bool, words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.Asked) < probeKept {
		return p.ready, p.words
	}
	// Who goes away does not spoil the answer for those who wait.
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
			word = "no answer" // no more than that: errors name hosts
		}
		fmt.Fprintf(&b, "%s: %s\n", name, word)
	}
	line("database", database)
	line("queue", queue)
	p.Asked, p.ready, p.words = time.Now(), database == nil, b.String()
	return p.ready, p.words
}
