package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/observe"
	"muster/portal/page"
	planpage "muster/portal/plan"
	"muster/portal/site"

	"github.com/a-h/templ"
)

// live is one open page. It keeps only hashes of what the page shows.
type live struct {
	p          *clusterPage
	a          app.Actor
	id         string
	node, step string            // the log's filter
	from       int               // the first node that is shown
	operation  int64             // whose plan the page shows
	after      int64             // the last log line sent
	sent       map[string]uint32 // by element id
	have       map[string]uint32 // what the page came with, until the first update
	states     []cell            // by step
	view       string            // "": the cluster's page; "operation", "logs"
	drawn      site.Drawn
	shared     *sharedLook       // while it is sent: what was read, and drawn already
	mine       bool              // it was read for this page
	filter     cluster.LogFilter // of the page of logs
	shapes     []planpage.ShapeState
	graph      planpage.Graph // of the operation whose plan the page shows, without what changes
}

// cell is what a page shows of a step: its state's index in page.States, from 1, and the attempt.
type cell struct{ state, attempt uint8 }

// begin reads what the page shows from its address. A page that reconnects shows something else than when it was loaded.
func (l *live) begin(q url.Values, again string) {
	l.node, l.step, l.sent = q.Get("node"), q.Get("step"), map[string]uint32{}
	l.operation, _ = strconv.ParseInt(q.Get("operation"), 10, 64)
	l.view, l.drawn = q.Get("view"), site.DrawnBy(q)
	_, l.filter, _ = logQuery(q)
	l.from, _ = strconv.Atoi(q.Get("from"))
	l.from = max(l.from, 0)
	for _, s := range []string{again, q.Get("after")} {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
			l.after = n
			break
		}
	}
	if again == "" {
		l.have = readDigests(q.Get("have"))
	}
}

// send sends what has changed since the last time.
func (l *live) send(ctx context.Context, out *site.Stream, c Show) (rest, error) {
	defer func() { l.shared = nil }()
	var err error
	switch l.view {
	case "logs":
		err = l.log(ctx, out)
	case "operation":
		if err = l.part(ctx, out, "now", OperationNow(c)); err == nil {
			err = l.plan(ctx, out, c)
		}
	default:
		err = l.overview(ctx, out, c)
	}
	if err != nil {
		return moving, err
	}
	if err := l.bell(ctx, out, c); err != nil {
		return moving, err
	}
	l.have = nil
	return l.restOf(c), out.Flush()
}

// bell sends the number of the reader's unread notifications, which no other page shares. While an operation runs, it has nothing to say.
func (l *live) bell(ctx context.Context, out *site.Stream, c Show) error {
	if op := c.Operation(); op != nil && !op.Status.Ended() {
		return nil
	}
	shared := l.shared
	l.shared = nil
	defer func() { l.shared = shared }()
	return l.part(ctx, out, "bell", page.Bell(l.p.Unread(ctx, l.a), false))
}

func (l *live) overview(ctx context.Context, out *site.Stream, c Show) error {
	for _, part := range c.Parts() {
		if err := l.part(ctx, out, part.ID, part.Component); err != nil {
			return err
		}
	}
	if op := c.Operation(); op != nil && op.ID != l.operation {
		l.operation, l.states, l.shapes, l.graph = op.ID, nil, nil, planpage.Graph{}
		c.Opened = true
		if err := l.part(ctx, out, "plan", Plan(c)); err != nil {
			return err
		}
	}
	if err := l.plan(ctx, out, c); err != nil {
		return err
	}
	if err := l.nodes(ctx, out, c); err != nil {
		return err
	}
	return l.log(ctx, out)
}

// plan sends the changes of the plan's view.
func (l *live) plan(ctx context.Context, out *site.Stream, c Show) error {
	switch c.Picture {
	case "graph":
		if err := l.shapesOf(out, c); err != nil {
			return err
		}
	case "timeline":
		rows := make([]Part, len(c.Gantt.Rows))
		for i, r := range c.Gantt.Rows {
			rows[i] = Part{ID: "tl-" + r.ID(), Component: GanttRowPicture(c.still(), r)}
		}
		l.drawn.Span = c.Gantt.Span
		if err := l.rows(ctx, out, Part{ID: "gantt", Component: GanttPicture(c.still())}, rows, c.Gantt.Span.String()); err != nil {
			return err
		}
	}
	return l.steps(out, c)
}

// part sends a piece of the page if it has changed.
func (l *live) part(ctx context.Context, out *site.Stream, id string, c templ.Component) error {
	var p drawnPart
	var err error
	if l.shared != nil {
		p, err = l.shared.part(ctx, id, c)
	} else {
		p, err = drawPart(ctx, c)
	}
	if err != nil {
		return err
	}
	if was, known := l.sent[id]; known && was == p.sum {
		return nil
	}
	l.sent[id] = p.sum
	if was, known := l.have[id]; known && was == p.sum {
		return nil
	}
	out.Add("", "part", p.html)
	return nil
}

// nodes sends the rows of the table of nodes that changed.
func (l *live) nodes(ctx context.Context, out *site.Stream, c Show) error {
	rows := []Part{{ID: "nodes-head", Component: NodesHead(c)}}
	for _, n := range c.NodeRows() {
		rows = append(rows, Part{ID: "node-" + n.Name, Component: NodeRow(c, n)})
	}
	return l.rows(ctx, out, Part{ID: "nodes", Component: Nodes(c)}, rows, "")
}

// rows sends those that changed, or all if the rows or their scale are different.
func (l *live) rows(ctx context.Context, out *site.Stream, all Part, rows []Part, measure string) error {
	h := fnv.New32a()
	_, _ = h.Write([]byte(measure))
	for _, r := range rows {
		_, _ = h.Write([]byte(r.ID + " "))
	}
	into, list := out, all.ID+" rows"
	if l.sent[list] != h.Sum32() {
		l.sent[list] = h.Sum32()
		var b bytes.Buffer
		if err := all.Component.Render(ctx, &b); err != nil {
			return err
		}
		if was, known := l.have[all.ID]; !known || was != digest(b.Bytes()) {
			out.Add("", "part", b.Bytes())
		}
		into = &site.Stream{Meter: observe.MeterOf(nil)} // the page has them; only their digests are needed
	}
	for _, r := range rows {
		if err := l.part(ctx, into, r.ID, r.Component); err != nil {
			return err
		}
	}
	return nil
}

// shapesOf sends the shapes of a graph that changed, as {"g12": ["running", "×12, 9 done", 103], …}.
func (l *live) shapesOf(out *site.Stream, c Show) error {
	changed := map[string][3]any{}
	for i, s := range c.Graph.Shapes {
		if i >= len(l.shapes) {
			l.shapes = append(l.shapes, planpage.ShapeState{})
		}
		if l.shapes[i] != s.ShapeState {
			l.shapes[i] = s.ShapeState
			changed[planpage.ShapeID(i)] = [3]any{s.State, s.Text(), s.Fill()}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if was, known := l.have["steps"]; known && was == stepsDigest(c.Steps) {
		return nil
	}
	b, err := json.Marshal(changed)
	if err != nil {
		return err
	}
	out.Add("", "shapes", b)
	return nil
}

// steps holds the states of steps, and the counts by state.
type steps struct {
	Cells  map[string][2]any     `json:"cells,omitempty"`
	Counts map[app.StepState]int `json:"counts"`
}

// steps sends the cells that changed as {"c12": ["running", 1], …} and how many steps are in each state.
func (l *live) steps(out *site.Stream, c Show) error {
	cells := map[string][2]any{}
	counts := map[app.StepState]int{}
	for _, s := range planpage.States {
		counts[s] = 0
	}
	for _, s := range c.Steps {
		if s.Join {
			continue
		}
		counts[s.State]++
		if s.Index >= len(l.states) {
			l.states = append(l.states, make([]cell, s.Index+1-len(l.states))...)
		}
		now := cell{uint8(1 + stateIndex(s.State)), uint8(min(s.Attempt, 255))}
		if l.states[s.Index] != now {
			l.states[s.Index] = now
			cells[planpage.CellID(s.Index)] = [2]any{s.State, s.Attempt}
		}
	}
	if len(cells) == 0 {
		return nil
	}
	if c.Picture != "matrix" {
		cells = nil
	}
	b, err := json.Marshal(steps{cells, counts})
	if err != nil {
		return err
	}
	if was, known := l.have["steps"]; known && was == stepsDigest(c.Steps) {
		return nil
	}
	out.Add("", "steps", b)
	return nil
}

func stateIndex(s app.StepState) int {
	for i, known := range planpage.States {
		if known == s {
			return i
		}
	}
	return -1
}

// The most log lines in one event, and the most events in one update. The rest comes with the next update.
const (
	logBatch   = 500
	logBatches = 10
)

// log sends the lines after the last one.
func (l *live) log(ctx context.Context, out *site.Stream) error {
	for range logBatches {
		lines, next, err := l.lines(ctx)
		if err != nil {
			return err
		}
		rows := make([][5]string, len(lines))
		for i, line := range lines {
			rows[i] = [5]string{strconv.FormatInt(line.Seq, 10), page.Machine(line.At), line.Step, StreamClass(line.Stream), line.Text}
			l.after = max(l.after, line.Seq)
		}
		l.after = max(l.after, next)
		if len(rows) > 0 {
			b, err := json.Marshal(rows)
			if err != nil {
				return err
			}
			out.Add(strconv.FormatInt(l.after, 10), "log", b)
		}
		if len(lines) < logBatch && next == 0 {
			return nil
		}
	}
	return nil
}

// lines reads the next lines of the log.
func (l *live) lines(ctx context.Context) (lines []app.LogLine, next int64, err error) {
	if l.view != "logs" {
		since := max(l.p.Broadcaster.Now(l.id), l.p.Broadcaster.Now(outputOf(l.id)))
		lines, mine, err := l.p.logs.Get(ctx, l.logKey(), since, func(ctx context.Context) ([]app.LogLine, error) {
			return l.p.Feed.Logs(ctx, l.a, l.id, cluster.LogFilter{Node: l.node, Step: l.step, After: l.after, Limit: logBatch})
		})
		l.mine = l.mine || mine
		return lines, 0, err
	}
	l.mine = true
	f := l.filter
	f.After, f.Limit = l.after, logBatch
	found, err := l.p.Feed.SearchLogs(ctx, l.a, l.id, f)
	return found.Lines, found.Next, err
}

// digest names a piece of a page.
func digest(html []byte) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(html)
	return h.Sum32()
}

// stepsDigest names the states of all steps.
func stepsDigest(steps []app.Step) uint32 {
	h := fnv.New32a()
	for _, s := range steps {
		if !s.Join {
			_, _ = h.Write([]byte{byte(s.Index), byte(s.Index >> 8), byte(stateIndex(s.State)), byte(s.Attempt)})
		}
	}
	return h.Sum32()
}

// Digests identify what the page shows, for its stream: "head:1a2b3c4d,nodes:…".
func Digests(ctx context.Context, c Show) (string, error) {
	var out []string
	add := func(id string, part templ.Component) error {
		var b bytes.Buffer
		err := part.Render(ctx, &b)
		out = append(out, fmt.Sprintf("%s:%08x", id, digest(b.Bytes())))
		return err
	}
	for _, part := range c.Parts() {
		if err := add(part.ID, part.Component); err != nil {
			return "", err
		}
	}
	if c.Pinned == nil {
		if err := add("nodes", Nodes(c)); err != nil {
			return "", err
		}
	}
	if c.Picture == "timeline" {
		if err := add("gantt", GanttPicture(c.still())); err != nil {
			return "", err
		}
	}
	out = append(out, fmt.Sprintf("steps:%08x", stepsDigest(c.Steps)))
	return strings.Join(out, ","), nil
}

func readDigests(s string) map[string]uint32 {
	m := map[string]uint32{}
	for part := range strings.SplitSeq(s, ",") {
		id, hex, _ := strings.Cut(part, ":")
		if n, err := strconv.ParseUint(hex, 16, 32); err == nil && len(m) < 64 {
			m[id] = uint32(n)
		}
	}
	return m
}
