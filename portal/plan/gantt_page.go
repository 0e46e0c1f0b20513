package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/portal/page"
)

// Gantt shows past and expected steps over time, by node.
type Gantt struct {
	Start time.Time
	Span  time.Duration // of the whole width
	NowX  int           // the position of now; -1 if outside
	Rows  []GanttRow    // one page
	// Actions are the actions of all rows, for the legend.
	Actions []app.Action
	All     int // the total number of rows
}

// GanttRow is one node; "" is for steps of no node.
type GanttRow struct {
	Node string
	Bars []GanttBar
}

// GanttBar is one attempt of a step, or an expected one. Kind is "done", "run", "failed" or "to".
type GanttBar struct {
	Kind   string
	Action app.Action
	X, W   int // of a thousand
	Words  string
}

// Try is one earlier attempt of a step.
type Try struct{ Begun, Ended time.Time }

// Tries are the earlier attempts of steps, by index.
type Tries map[int][]Try

const (
	ganttWidth = 1000
	ganttBars  = 300 // on one page, approximately
	ganttRows  = 30
	ganttGrain = ganttWidth / 50 // the resolution of expected steps, so that they don't move every second
)

// GanttQuery is the part to draw, and the least span.
type GanttQuery struct {
	From int
	Span time.Duration // the least
}

// GanttNodes returns the nodes of a page of rows, the total and the page size. If there are several pages, nodes with problems come first.
func GanttNodes(steps []app.Step, from int) (nodes []string, all, size int) {
	count, trouble := map[string]int{}, map[string]bool{}
	most := 1
	for _, s := range steps {
		if s.Join {
			continue
		}
		count[s.Node]++
		most = max(most, count[s.Node])
		trouble[s.Node] = trouble[s.Node] || s.State == app.StepFailed
	}
	nodes = sortedNodes(count)
	size = min(ganttRows, max(5, ganttBars/most))
	all = len(nodes)
	if all > size {
		slices.SortStableFunc(nodes, func(a, b string) int { return rank(trouble[a]) - rank(trouble[b]) })
	}
	cut, to := page.Pages{From: from, Size: size, All: all}.Cut()
	return nodes[cut:to], all, size
}

// NewGantt draws the steps of one operation.
func NewGantt(now time.Time, op app.Operation, steps []app.Step, tries Tries, q GanttQuery) Gantt {
	nodes, all, _ := GanttNodes(steps, q.From)
	shown := map[string]int{}
	g := Gantt{Start: cmp.Or(op.StartedAt, op.CreatedAt), All: all, NowX: -1}
	for i, n := range nodes {
		shown[n] = i
		g.Rows = append(g.Rows, GanttRow{Node: n})
	}
	begin, end := forecast(now, steps)
	last := op.EndedAt
	if last.IsZero() {
		last = now
	}
	for i, s := range steps {
		if !s.Join && end[i].After(last) {
			last = end[i]
		}
	}
	g.Span = max(niceSpan(last.Sub(g.Start)), q.Span)
	if x := g.x(now); op.EndedAt.IsZero() && x <= ganttWidth {
		g.NowX = x
	}
	for i, s := range steps {
		if !s.Join && !slices.Contains(g.Actions, s.Action) {
			g.Actions = append(g.Actions, s.Action)
		}
		row, ok := shown[s.Node]
		if s.Join || !ok {
			continue
		}
		r := &g.Rows[row]
		what := strings.TrimSpace(string(s.Action) + " " + s.Service)
		for k, t := range tries[s.Index] {
			r.Bars = append(r.Bars, g.bar("failed", s.Action, t.Begun, t.Ended, fmt.Sprintf("%s, attempt %d: failed after %s", what, k+1, humanize.Duration(t.Ended.Sub(t.Begun)))))
		}
		kind, words := "to", "expected to take "+humanize.Duration(s.Expected)
		switch s.State {
		case app.StepSucceeded:
			kind, words = "done", "took "+humanize.Duration(s.EndedAt.Sub(s.StartedAt))
		case app.StepFailed:
			kind, words = "failed", "failed after "+humanize.Duration(s.EndedAt.Sub(s.StartedAt))
		case app.StepRunning, app.StepAsked:
			kind, words = "run", "running"
			if s.State == app.StepAsked {
				words = "waiting for an answer"
			}
		case app.StepDropped:
			continue
		}
		if begin[i].IsZero() || op.Status.Ended() && kind == "to" {
			continue
		}
		if s.Attempt > 1 {
			words += fmt.Sprintf(", attempt %d", s.Attempt)
		}
		b := g.bar(kind, s.Action, begin[i], end[i], what+": "+words)
		if kind == "to" {
			b.X -= b.X % ganttGrain
			b.W = max(b.W-b.W%ganttGrain, ganttGrain/4)
		}
		r.Bars = append(r.Bars, b)
	}
	return g
}

// forecast returns the start and end of each step, actual or expected.
func forecast(now time.Time, steps []app.Step) (begin, end []time.Time) {
	begin, end = make([]time.Time, len(steps)), make([]time.Time, len(steps))
	free := map[string]time.Time{}
	for i, s := range steps {
		ready := now
		for _, n := range s.Needs {
			if n >= 0 && n < i && end[n].After(ready) {
				ready = end[n]
			}
		}
		switch {
		case s.Join:
			begin[i], end[i] = ready, ready
			continue
		case s.State.Ended():
			begin[i], end[i] = s.StartedAt, s.EndedAt
			continue
		case s.State == app.StepRunning || s.State == app.StepAsked:
			begin[i], end[i] = s.StartedAt, later(now, s.StartedAt.Add(s.Expected))
		default:
			begin[i] = later(later(ready, free[s.Node]), s.NotBefore)
			end[i] = begin[i].Add(s.Expected)
		}
		if s.Node != "" {
			free[s.Node] = later(free[s.Node], end[i])
		}
	}
	return begin, end
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// niceSpan rounds up in steps of a quarter, so that the scale seldom changes.
func niceSpan(d time.Duration) time.Duration {
	s := max(d.Seconds(), 1)
	return time.Duration(math.Pow(1.25, math.Ceil(math.Log(s)/math.Log(1.25)-1e-9)) * float64(time.Second))
}

func (g Gantt) x(t time.Time) int {
	return int(int64(ganttWidth) * int64(max(t.Sub(g.Start), 0)/time.Millisecond) / max(1, int64(g.Span/time.Millisecond)))
}

func (g Gantt) bar(kind string, a app.Action, from, to time.Time, words string) GanttBar {
	x := min(max(g.x(from), 0), ganttWidth-2)
	return GanttBar{Kind: kind, Action: a, X: x, W: max(2, min(g.x(to), ganttWidth)-x), Words: words}
}

// Fill is the fill of the bar: a failure hides the action.
func (b GanttBar) Fill() string {
	if b.Kind == "failed" {
		return BarFill(BarFailed)
	}
	return BarFill(b.Action)
}

// GanttAt is a position or width in a row.
func GanttAt(x int) string { return fmt.Sprintf("%d.%d%%", x/10, x%10) }

// ID is the element id of the row.
func (r GanttRow) ID() string { return cmp.Or(r.Node, "between") }

// Name is the label of the row.
func (r GanttRow) Name() string { return cmp.Or(r.Node, "between") }

// ganttTick is a label. Time is that of the first one for machines; the others are counted from it.
type ganttTick struct{ At, Anchor, Word, Time string }

// Ticks are the labels above the rows.
func (g Gantt) Ticks() []ganttTick {
	var out []ganttTick
	for k := range 5 {
		t := ganttTick{strconv.Itoa(25*k) + "%", "middle", humanize.Duration(g.Span * time.Duration(k) / 4), ""}
		switch k {
		case 0:
			t.Anchor, t.Word, t.Time = "start", g.Start.UTC().Format("15:04:05")+" UTC", page.Machine(g.Start)
		case 4:
			t.Anchor = "end"
		}
		out = append(out, t)
	}
	return out
}

// TriesFromLog returns the earlier attempts of a step, as far as its log shows them.
func TriesFromLog(s app.Step, lines []app.LogLine) []Try {
	by := map[int]Try{}
	for _, l := range lines {
		t, known := by[l.Attempt]
		if !known {
			t.Begun = l.At
		}
		t.Ended = l.At
		by[l.Attempt] = t
	}
	var out []Try
	for n := 1; n < s.Attempt && n <= 20; n++ {
		if t, known := by[n]; known {
			out = append(out, t)
		}
	}
	return out
}
