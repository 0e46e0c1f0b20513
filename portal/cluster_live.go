package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"muster/app"
	"muster/portal/page"
)

// clusterLive is the event stream of a cluster's page. It begins with how things are, so a reader that was away misses
// nothing; log lines go on after the number in Last-Event-ID, or in the query where the page was just loaded. When
// nothing more will happen by itself it says "end", and the page closes it. Events: head, questions, waiting, plan, nodes, change, more (HTML that
// replaces the element of that id), steps (JSON), log (JSON), end.
func (p *Portal) clusterLive(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	l := &live{
		p: p, a: a, id: chi.URLParam(r, "id"), node: q.Get("node"), step: q.Get("step"),
		sent: map[string]string{}, states: map[int]cell{},
	}
	for _, s := range []string{r.Header.Get("Last-Event-ID"), q.Get("after")} {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
			l.after = n
			break
		}
	}
	l.operation, _ = strconv.ParseInt(q.Get("operation"), 10, 64)

	free, err := p.streams.take(a)
	if err != nil {
		return err
	}
	defer free()
	// Watching begins before the first look, so that nothing falls between the two.
	changed, stop := p.muster.Watch(a, l.id)
	defer stop()
	c, err := l.read(r.Context())
	if err != nil {
		return err
	}
	out, err := openStream(w)
	if err != nil {
		return nil // the reader is gone; there is nobody to tell
	}
	if err := l.run(r.Context(), out, c, changed); err != nil {
		p.log.DebugContext(r.Context(), "live page ended", "error", err, "cluster", l.id)
	}
	return nil
}

// live is one open page.
type live struct {
	p          *Portal
	a          app.Actor
	id         string
	node, step string // the log's filter
	operation  int64  // whose plan the page shows
	after      int64  // the last log line sent
	sent       map[string]string
	states     map[int]cell
}

// cell is what a page knows of a step.
type cell struct {
	state   app.StepState
	attempt int
}

// run sends updates until the cluster comes to rest, the reader leaves, or the portal closes.
func (l *live) run(ctx context.Context, out *stream, c page.ClusterShow, changed <-chan struct{}) error {
	look := time.NewTicker(streamLook)
	defer look.Stop()
	for {
		begun := time.Now()
		if err := l.send(ctx, out, c); err != nil {
			return err
		}
		if !c.Running() {
			out.add("", "end", []byte("end"))
			return out.flush()
		}
		// What costs us much is done less often.
		if err := l.wait(ctx, streamGap+2*time.Since(begun), nil, nil); err != nil {
			return err
		}
		if err := l.wait(ctx, 0, changed, look.C); err != nil {
			return err
		}
		var err error
		if c, err = l.read(ctx); err != nil {
			return err
		}
		out.ping()
	}
}

// wait pauses for a time, or, where d is 0, until one of the channels has something to say.
func (l *live) wait(ctx context.Context, d time.Duration, changed <-chan struct{}, look <-chan time.Time) error {
	var over <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.p.closing:
		return http.ErrServerClosed
	case <-over:
	case <-look:
	case <-changed:
	}
	return nil
}

func (l *live) read(ctx context.Context) (page.ClusterShow, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c, err := l.p.readCluster(ctx, l.a, l.id)
	c.Node, c.Step = l.node, l.step
	return c, err
}

// send says what is new since the last time.
func (l *live) send(ctx context.Context, out *stream, c page.ClusterShow) error {
	if err := l.part(ctx, out, "head", page.ClusterHead(c)); err != nil {
		return err
	}
	if err := l.part(ctx, out, "questions", page.ClusterQuestions(c)); err != nil {
		return err
	}
	if err := l.part(ctx, out, "waiting", page.ClusterWait(c)); err != nil {
		return err
	}
	if op := c.Operation(); op != nil && op.ID != l.operation {
		l.operation, l.states = op.ID, map[int]cell{}
		if err := l.part(ctx, out, "plan", page.ClusterPlan(c)); err != nil {
			return err
		}
	}
	if err := l.steps(out, c); err != nil {
		return err
	}
	if err := l.part(ctx, out, "nodes", page.ClusterNodes(c)); err != nil {
		return err
	}
	if err := l.part(ctx, out, "change", page.ClusterChange(c)); err != nil {
		return err
	}
	if err := l.part(ctx, out, "more", page.ClusterMore(c)); err != nil {
		return err
	}
	if err := l.log(ctx, out); err != nil {
		return err
	}
	return out.flush()
}

// part sends a piece of the page when it is not what was sent before.
func (l *live) part(ctx context.Context, out *stream, name string, c templ.Component) error {
	var b bytes.Buffer
	if err := c.Render(ctx, &b); err != nil {
		return err
	}
	if html := b.String(); html != l.sent[name] {
		l.sent[name] = html
		out.add("", name, b.Bytes())
	}
	return nil
}

// steps sends the cells that changed as {"c12": ["running", 1], …} and how many steps are in each state.
func (l *live) steps(out *stream, c page.ClusterShow) error {
	cells := map[string][2]any{}
	counts := map[app.StepState]int{}
	for _, s := range page.States {
		counts[s] = 0
	}
	for _, s := range c.Steps {
		if s.Join {
			continue
		}
		counts[s.State]++
		now := cell{s.State, s.Attempt}
		if l.states[s.Index] != now {
			l.states[s.Index] = now
			cells[page.CellID(s.Index)] = [2]any{s.State, s.Attempt}
		}
	}
	if len(cells) == 0 {
		return nil
	}
	b, err := json.Marshal(map[string]any{"cells": cells, "counts": counts})
	if err != nil {
		return err
	}
	out.add("", "steps", b)
	return nil
}

// How many log lines go into one event, and how many events into one update. What is more comes with the next update.
const (
	logBatch   = 500
	logBatches = 10
)

// log sends the lines after the last one.
func (l *live) log(ctx context.Context, out *stream) error {
	for range logBatches {
		lines, err := l.p.muster.Logs(ctx, l.a, l.id, app.LogFilter{Node: l.node, Step: l.step, After: l.after, Limit: logBatch})
		if err != nil || len(lines) == 0 {
			return err
		}
		rows := make([][4]string, len(lines))
		for i, line := range lines {
			rows[i] = [4]string{line.At.UTC().Format("15:04:05"), line.Step, page.StreamClass(line.Stream), line.Text}
			l.after = max(l.after, line.Seq)
		}
		b, err := json.Marshal(rows)
		if err != nil {
			return err
		}
		out.add(strconv.FormatInt(l.after, 10), "log", b)
		if len(lines) < logBatch {
			return nil
		}
	}
	return nil
}
