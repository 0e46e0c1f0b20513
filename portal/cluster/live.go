package cluster

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"muster/app"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Live is the event stream of a cluster's page. It starts with the current state, as far as the page doesn't show it
// already, so a client that was disconnected misses nothing. Log lines continue after the number in Last-Event-ID, or in the query if the
// page was just loaded. The stream of an idle cluster stays open, so that a page learns of other people's requests; only that of a deleted
// cluster ends with "end". Events: part (HTML of elements with ids, which replace those of the page), steps (JSON), log (JSON), end.
func (p *clusterPage) Live(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	l := &live{p: p, a: a, id: chi.URLParam(r, "id")}
	again := r.Header.Get("Last-Event-ID")
	l.begin(r.URL.Query(), again)

	free, err := p.Streams.Take(a)
	if err != nil {
		return err
	}
	defer free()
	// Watching starts before the first read, so that no change is missed.
	changed, stop := p.Broadcaster.Enter(l.id, func() (<-chan struct{}, func()) { return p.Feed.Watch(a, app.ClusterTopic(l.id)) })
	defer stop()
	var output <-chan struct{}
	if l.view != "operation" {
		var stop func()
		output, stop = p.Broadcaster.Enter(outputOf(l.id), func() (<-chan struct{}, func()) { return p.Feed.Watch(a, app.OutputTopic(l.id)) })
		defer stop()
	}
	c, err := l.read(r.Context())
	if err != nil {
		return err
	}
	out, err := site.OpenStream(w, p.Meter)
	if err != nil {
		return nil // the client has disconnected
	}
	out.Add(strconv.FormatInt(l.after, 10), "open", []byte("open"))
	rest, err := l.send(r.Context(), out, c)
	if err == nil {
		err = l.run(r.Context(), out, rest, changed, output)
	}
	if err != nil {
		p.Log.DebugContext(r.Context(), "live page ended", "error", err, "cluster", l.id)
	}
	return nil
}

// rest is when a page changes again.
type rest int

const (
	moving  rest = iota // with time, or with what happens to other clusters
	resting             // when something happens to its cluster
	over                // never again
)

// outputOf is the key under which the pages of a cluster wait for lines of its log.
func outputOf(cluster string) string { return cluster + " output" }

func (l *live) restOf(c Show) rest {
	switch {
	case l.view == "operation" && c.Pinned != nil && c.Pinned.Status.Ended():
		return over
	case moves(c):
		return moving
	case c.View.Status == app.ClusterDeleted:
		return over
	}
	return resting
}

// run sends updates until the cluster is deleted, the client disconnects, or the portal shuts down. It keeps nothing of what was read
// between two reads, since hundreds of pages may stay open all night.
func (l *live) run(ctx context.Context, out *site.Stream, now rest, changed, output <-chan struct{}) error {
	look, ping := time.NewTimer(lookEvery(now)), time.NewTicker(site.StreamPing)
	defer look.Stop()
	defer ping.Stop()
	var cost time.Duration
	for now != over {
		// Expensive reads are done less often.
		if err := l.pause(ctx, site.StreamGap+4*cost); err != nil {
			return err
		}
		ticked, said := false, false
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-l.p.Closing:
				return http.ErrServerClosed
			case <-ping.C:
				out.Ping()
				if err := out.Flush(); err != nil {
					return err
				}
			case <-look.C:
				waiting, ticked = false, true
			case <-changed:
				waiting = false
			case <-output:
				waiting, said = false, true
			}
		}
		begun := time.Now()
		was := now
		var err error
		if said {
			err = l.tail(ctx, out)
		} else {
			now, err = l.look(ctx, out)
		}
		if err != nil {
			return err
		}
		if cost = 0; l.mine {
			cost = time.Since(begun)
		}
		if ticked || now != was {
			look.Reset(lookEvery(now))
		}
	}
	out.Add("", "end", []byte("end"))
	return out.Flush()
}

// lookEvery is the time until the next read without a wake-up. It is random: otherwise hundreds of pages
// opened at once, as after a restart, would always read at the same moment, and updates would be late.
func lookEvery(now rest) time.Duration {
	d := site.StreamRest
	if now == moving {
		d = site.StreamMove
	}
	return d - rand.N(d/2)
}

// pause waits for a time.
func (l *live) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.p.Closing:
		return http.ErrServerClosed
	case <-t.C:
		return nil
	}
}

// tail sends new lines of the log, and reads nothing else.
func (l *live) tail(ctx context.Context, out *site.Stream) error {
	ctx, cancel := context.WithTimeout(ctx, site.RequestTime)
	defer cancel()
	l.mine = false
	if err := l.log(ctx, out); err != nil {
		return err
	}
	return out.Flush()
}

// look reads the current state and sends what is new.
func (l *live) look(ctx context.Context, out *site.Stream) (rest, error) {
	c, err := l.read(ctx)
	if err != nil {
		return resting, err
	}
	return l.send(ctx, out, c)
}

// read returns what the page shows. A page of logs only needs to know whether an operation is in progress.
func (l *live) read(ctx context.Context) (c Show, err error) {
	ctx, cancel := context.WithTimeout(ctx, site.RequestTime)
	defer cancel()
	l.mine = true
	switch l.view {
	case "operation":
		return l.p.ReadOperation(ctx, l.a, l.id, l.operation, l.drawn)
	case "logs":
		c = Show{Now: l.p.Now(), Actor: l.a, Apps: l.p.AppsDomain != ""}
		c.View, err = l.p.Clusters.Cluster(ctx, l.a, l.id)
		return c, err
	}
	k, mine, err := l.shareLook(ctx)
	if err != nil {
		return c, err
	}
	l.shared, l.mine = k, mine
	return k.c, nil
}
