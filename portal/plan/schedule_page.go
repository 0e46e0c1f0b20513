package plan

import (
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	appplan "muster/app/plan"
	"muster/portal/page"
)

// span is the expected start and end of a step, from the start of the plan.
type span struct{ start, end time.Duration }

// schedule simulates a plan on unlimited workers, one step at a time per node, and among a node's ready steps the
// one of highest rank first, as the plan will run. The result has an entry for every step; joins are
// empty spans. Without estimates, each step takes one second, so that the plan can still be drawn.
func schedule(p appplan.Plan) []span {
	n := len(p.Steps)
	out := make([]span, n)
	waits := make([]int, n)
	next := make([][]int, n)
	for i, s := range p.Steps {
		waits[i] = len(s.Needs)
		for _, need := range s.Needs {
			next[need] = append(next[need], i)
		}
	}
	own := durations(p, next)
	ready := make([]time.Duration, n)
	free := map[string]time.Duration{}
	q := &queue{plan: p}
	for i := range p.Steps {
		if waits[i] == 0 {
			heap.Push(q, due{step: i})
		}
	}
	for q.Len() > 0 {
		d := heap.Pop(q).(due)
		s := p.Steps[d.step]
		if !s.Join {
			// The node may have become busy since: come back when it is free, and compete again.
			if busy := free[s.Node]; busy > d.at {
				heap.Push(q, due{step: d.step, at: busy})
				continue
			}
		}
		end := d.at + own[d.step]
		out[d.step] = span{d.at, end}
		if !s.Join {
			free[s.Node] = end
		}
		for _, t := range next[d.step] {
			ready[t] = max(ready[t], end)
			if waits[t]--; waits[t] == 0 {
				heap.Push(q, due{step: t, at: ready[t]})
			}
		}
	}
	return out
}

// durations derives the estimate of each step from the ranks, which run from a step's start to the plan's end.
func durations(p appplan.Plan, next [][]int) []time.Duration {
	own := make([]time.Duration, len(p.Steps))
	known := p.Duration() > 0
	for i, s := range p.Steps {
		switch {
		case s.Join:
		case !known:
			own[i] = time.Second
		default:
			var after time.Duration
			for _, t := range next[i] {
				after = max(after, p.Steps[t].Rank)
			}
			own[i] = max(0, s.Rank-after)
		}
	}
	return own
}

type due struct {
	step int
	at   time.Duration
}

// queue orders due steps by time, then by rank, then by place in the plan.
type queue struct {
	plan appplan.Plan
	due  []due
}

func (q *queue) Len() int      { return len(q.due) }
func (q *queue) Swap(i, j int) { q.due[i], q.due[j] = q.due[j], q.due[i] }
func (q *queue) Push(x any)    { q.due = append(q.due, x.(due)) }
func (q *queue) Pop() any {
	last := q.due[len(q.due)-1]
	q.due = q.due[:len(q.due)-1]
	return last
}
func (q *queue) Less(i, j int) bool {
	a, b := q.due[i], q.due[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if ra, rb := q.plan.Steps[a.step].Rank, q.plan.Steps[b.step].Rank; ra != rb {
		return ra > rb
	}
	return a.step < b.step
}

// Timeline is a plan as a picture: rows are nodes, bars are steps from their estimated start to their estimated end.
type Timeline struct {
	Rows    []TimelineRow
	Ticks   []Tick
	Actions []app.Action // those that occur, for the legend
	Total   time.Duration
	Hidden  int // the number of nodes left out
	// ManualSteps are its manual steps.
	ManualSteps []string
}

// TimelineRow is one node, or several neighbours whose bars are all the same.
type TimelineRow struct {
	First, Last string
	Count       int
	Bars        []Bar
	Words       []Words
}

// Label names the nodes of the row.
func (r TimelineRow) Label() string {
	switch r.Count {
	case 1:
		return r.First
	case 2:
		return r.First + ", " + r.Last
	}
	return r.First + "–" + r.Last
}

// Bar is one step. Left and Width are percentages of the picture's width, ready for SVG attributes.
type Bar struct {
	Left, Width string
	Action      app.Action
	Title       string
	Asks        bool // a manual step, whose duration is unknown
}

// Words is what happens to a service on a node, in order: "app: install, configure, start". Service is "" for the
// machine itself.
type Words struct {
	Service string
	Actions []app.Action
}

// Tick is a mark on the time axis.
type Tick struct{ Left, Label string }

// BarMarks are the patterns of bars, as paths in a square of 6: no two actions look alike without their colours. "" is a plain bar.
var BarMarks = map[app.Action]string{
	app.ActionCreate:     "M0 3H6",
	app.ActionConfirm:    "M2 3H4",
	app.ActionBootstrap:  "M-1 5 1 7M-1 -1 7 7M5 -1 7 1",
	app.ActionInstall:    "M-1 1 1 -1M-1 7 7 -1M5 7 7 5",
	app.ActionConfigure:  "M3 0V6",
	app.ActionInitialize: "M0 0 6 6M6 0 0 6",
	app.ActionStart:      "",
	app.ActionStop:       "M0 3H6M3 0V6",
	app.ActionRemove:     "M0 4 1.5 2 4.5 5 6 4",
	app.ActionDelete:     "M0 1.5H3M3 4.5H6",
	app.ActionSleep:      "M0 2H6M0 5H6",
	app.ActionWake:       "M1 0V6M4 0V6",
	app.ActionAttach:     "M1 4H5M3 1V4",
	app.ActionDetach:     "M1 2H5M3 2V5",
	app.ActionIsolate:    "M1 1H5V5H1Z",
	app.ActionBake:       "M1 5H5V2L3 1L1 2Z",
	app.ActionReload:     "M1 3A2 2 0 1 1 3 5",
	app.ActionCheck:      "M1 3 2.5 4.5 5 1.5",
	app.ActionCompare:    "M1 2H5M1 4H5",
	app.ActionRun:        "M1 1L3 3L1 5M3 5H5",
	app.ActionHook:       "M1 1V5H5",
	app.ActionNames:      "M1 1H5V5",
	app.ActionAsk:        "M3 1 5 3 3 5 1 3Z",
	BarFailed:            "M1.5 1.5 4.5 4.5M4.5 1.5 1.5 4.5",
}

// BarFailed is the look of an attempt that failed, whatever it did.
const BarFailed app.Action = "failed"

func BarFill(a app.Action) string { return "url(#bar-" + string(a) + ")" }

const timelineRows = 60

// NewTimeline draws a plan. From foldFrom nodes on, neighbours with the same bars share a row; what is more than
// 60 rows is left out and counted in Hidden.
func NewTimeline(p appplan.Plan) Timeline {
	const foldFrom = 9
	spans := schedule(p)
	t := Timeline{}
	byNode := map[string][]int{}
	for i, s := range p.Steps {
		t.Total = max(t.Total, spans[i].end)
		if s.Join || s.Node == "" {
			continue
		}
		byNode[s.Node] = append(byNode[s.Node], i)
		if !slices.Contains(t.Actions, s.Action) {
			t.Actions = append(t.Actions, s.Action)
		}
	}
	nodes := sortedNodes(byNode)
	prints := ""
	for _, node := range nodes {
		steps := byNode[node]
		slices.SortStableFunc(steps, func(a, b int) int { return int(spans[a].start - spans[b].start) })
		print := fingerprint(p, spans, steps)
		if last := len(t.Rows) - 1; last >= 0 && len(nodes) >= foldFrom && print == prints {
			t.Rows[last].Last = node
			t.Rows[last].Count++
			continue
		}
		prints = print
		if len(t.Rows) == timelineRows {
			t.Hidden++
			prints = ""
			continue
		}
		t.Rows = append(t.Rows, t.row(p, spans, node, steps))
	}
	if p.Duration() > 0 {
		t.Ticks = ticks(t.Total)
	}
	for _, name := range slices.Sorted(maps.Keys(p.ManualSteps)) {
		q := p.ManualSteps[name]
		t.ManualSteps = append(t.ManualSteps, fmt.Sprintf("%s: manual step, waits up to %s. %s", name, humanize.Duration(q.AnswerTime()), q.Ask))
	}
	return t
}

func (t Timeline) row(p appplan.Plan, spans []span, node string, steps []int) TimelineRow {
	r := TimelineRow{First: node, Last: node, Count: 1}
	for _, i := range steps {
		s, at := p.Steps[i], spans[i]
		title := page.StepWords(node, s.Action, s.Service)
		if q := p.ManualStep(i); q != nil {
			title += ": manual step, waits up to " + humanize.Duration(q.AnswerTime())
		} else if p.Duration() > 0 {
			title += fmt.Sprintf(", from %s for %s", clock(at.start), humanize.Duration(at.end-at.start))
		}
		r.Bars = append(r.Bars, Bar{
			Left: percent(at.start, t.Total), Width: percent(at.end-at.start, t.Total), Action: s.Action, Title: title, Asks: s.Asks != "",
		})
		if k := len(r.Words) - 1; k >= 0 && r.Words[k].Service == s.Service {
			r.Words[k].Actions = append(r.Words[k].Actions, s.Action)
		} else {
			r.Words = append(r.Words, Words{s.Service, []app.Action{s.Action}})
		}
	}
	return r
}

func fingerprint(p appplan.Plan, spans []span, steps []int) string {
	var b strings.Builder
	for _, i := range steps {
		fmt.Fprintf(&b, "%s/%s/%d/%d ", p.Steps[i].Service, p.Steps[i].Action, spans[i].start, spans[i].end)
	}
	return b.String()
}

// ticks cuts the time into three to six parts of a length that people use.
func ticks(total time.Duration) []Tick {
	step := 24 * time.Hour
	for _, s := range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute,
		2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
		6 * time.Hour, 12 * time.Hour,
	} {
		if total/s <= 5 {
			step = s
			break
		}
	}
	var out []Tick
	for at := time.Duration(0); at < total && len(out) < 50; at += step {
		// A label too near to the right edge would be cut off.
		if at > 0 && float64(at) > 0.95*float64(total) {
			break
		}
		out = append(out, Tick{percent(at, total), clock(at)})
	}
	return out
}

// clock writes a time since the start: "0:00", "2:30", "1:02:00".
func clock(d time.Duration) string {
	d = d.Round(time.Second)
	h, m, s := int(d/time.Hour), int(d%time.Hour/time.Minute), int(d%time.Minute/time.Second)
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%d:%02d", m, s)
}

func percent(d, total time.Duration) string {
	if total <= 0 {
		return "0%"
	}
	return strconv.FormatFloat(100*float64(d)/float64(total), 'f', 2, 64) + "%"
}

// sortedNodes returns the keys in node order: n2 before n10, and names that are not of that form last.
func sortedNodes[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.SortFunc(out, compareNodes)
	return out
}

func compareNodes(a, b string) int {
	na, nb := app.NodeNumber(a), app.NodeNumber(b)
	switch {
	case na > 0 && nb > 0:
		return na - nb
	case na > 0:
		return -1
	case nb > 0:
		return 1
	}
	return strings.Compare(a, b)
}
