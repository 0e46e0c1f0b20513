package plan

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/app"
)

// drawnPlan makes plans of many sizes and forms: nodes alike and not, in batches, with joins between.
func drawnPlan(t *rapid.T) []app.Step {
	nodes := rapid.IntRange(0, 300).Draw(t, "nodes")
	kinds := rapid.IntRange(1, 5).Draw(t, "kinds")
	services := rapid.IntRange(1, 40).Draw(t, "services")
	batch := rapid.IntRange(0, 3).Draw(t, "batch")
	states := []app.StepState{app.StepWaiting, app.StepRunning, app.StepSucceeded, app.StepFailed, app.StepDropped}
	var steps []app.Step
	add := func(node string, a app.Action, service string, join bool, needs ...int) int {
		s := app.Step{Index: len(steps), ID: fmt.Sprint(len(steps)), Node: node, Action: a, Service: service, Join: join, State: states[len(steps)*7%len(states)]}
		for _, n := range needs {
			if n >= 0 {
				s.Needs = append(s.Needs, n)
			}
		}
		steps = append(steps, s)
		return len(steps) - 1
	}
	before := -1
	for n := range nodes {
		name := app.NodeName(n + 1)
		at := add(name, app.ActionCreate, "", false, before)
		for k := range services * (n%kinds + 1) / kinds {
			for _, a := range []app.Action{app.ActionInstall, app.ActionStart} {
				at = add(name, a, fmt.Sprint("s", k), false, at)
			}
		}
		if batch > 0 && n%(batch*10) == 9 {
			before = add("", "", "", true, at)
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		if !s.Join {
			s.Rank += time.Second
		}
		for _, n := range s.Needs {
			steps[n].Rank = max(steps[n].Rank, s.Rank)
		}
	}
	return steps
}

// TestGraphProperty: each step is in one shape, no two shapes overlap, lines lead onwards, there are never too many, and the same
// plan returns the same picture.
func TestGraphProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := drawnPlan(t)
		g := NewGraph(steps)
		in := map[int]int{}
		for k, s := range g.Shapes {
			if s.Title == "" || s.On == "" || s.Total != len(s.Steps) || s.X < 0 || s.Y < 0 || s.X+ShapeWidth > g.Width || s.Y+ShapeHeight > g.Height {
				t.Fatalf("shape %d is %+v in %d by %d", k, s, g.Width, g.Height)
			}
			for _, i := range s.Steps {
				in[i]++
			}
			for j, o := range g.Shapes[:k] {
				if abs(s.X-o.X) < ShapeWidth && abs(s.Y-o.Y) < ShapeHeight {
					t.Fatalf("shapes %d and %d lie over one another", j, k)
				}
			}
		}
		for i, s := range steps {
			if want := map[bool]int{true: 0, false: 1}[s.Join]; in[i] != want {
				t.Fatalf("step %d is in %d shapes", i, in[i])
			}
		}
		if len(g.Shapes) > graphShapes {
			t.Fatalf("%d shapes are drawn", len(g.Shapes))
		}
		for _, e := range g.Edges {
			if g.Shapes[e.From].X >= g.Shapes[e.To].X {
				t.Fatalf("a line leads backwards: %+v", e)
			}
		}
		if again := NewGraph(steps); !reflect.DeepEqual(g, again) {
			t.Fatal("the same plan is drawn differently")
		}
		now := time.Unix(1_800_000_000, 0)
		op := app.Operation{Status: app.OperationRunning, StartedAt: now.Add(-time.Minute)}
		bars := 0
		for _, r := range NewGantt(now, op, WithExpected(steps), nil, GanttQuery{}).Rows {
			for _, b := range r.Bars {
				if bars++; b.X < 0 || b.W < 1 || b.X+b.W > ganttWidth+ganttGrain {
					t.Fatalf("%s has the bar %+v", r.Node, b)
				}
			}
		}
		if bars > 2*ganttBars {
			t.Fatalf("%d bars are drawn", bars)
		}
	})
}

func abs(n int) int { return max(n, -n) }

func TestGraphFoldsAlike(t *testing.T) {
	var steps []app.Step
	add := func(node string, a app.Action, service string, state app.StepState, needs ...int) int {
		steps = append(steps, app.Step{Index: len(steps), ID: node + "." + string(a), Node: node, Action: a, Service: service, State: state, Needs: needs})
		return len(steps) - 1
	}
	for n := range 20 {
		state := app.StepSucceeded
		if n >= 9 {
			state = app.StepRunning
		}
		at := add(app.NodeName(n+1), app.ActionCreate, "", app.StepSucceeded)
		add(app.NodeName(n+1), app.ActionStart, "web", state, at)
	}
	g := NewGraph(steps)
	if len(g.Shapes) != 2 || len(g.Edges) != 1 || !g.Folded {
		t.Fatalf("it has %d shapes and %d lines", len(g.Shapes), len(g.Edges))
	}
	if s := g.Shapes[1]; s.Title != "start web" || s.Text() != "×20, 9 done" || s.State != app.StepRunning || s.Fill() != ShapeWidth*9/20 {
		t.Errorf("what is started is shown as %q %q %s", s.Title, s.Text(), s.State)
	}
	for i := range steps {
		steps[i].State = app.StepSucceeded
	}
	if now := g.states(steps); now[1].State != app.StepSucceeded || now[1].Done != 20 {
		t.Errorf("when all is done it is %+v", now[1])
	}
	steps = nil
	add("n1", app.ActionNames, "", app.StepSucceeded)
	if got := NewGraph(steps).Shapes[0].Title; got != "write names" {
		t.Errorf("a step that writes names is shown as %q", got)
	}
}

func TestGanttShowsTriesAndWhatIsLeft(t *testing.T) {
	begun := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begun.Add(time.Duration(s) * time.Second) }
	steps := []app.Step{
		{Index: 0, Node: "n1", Action: app.ActionCreate, State: app.StepSucceeded, Attempt: 2, StartedAt: at(20), EndedAt: at(40), Expected: 20 * time.Second},
		{Index: 1, Node: "n1", Action: app.ActionStart, Service: "web", State: app.StepRunning, Attempt: 1, StartedAt: at(40), Expected: 20 * time.Second, Needs: []int{0}},
		{Index: 2, Node: "n1", Action: app.ActionCheck, Service: "web", State: app.StepWaiting, Expected: 20 * time.Second, Needs: []int{1}},
	}
	log := []app.LogLine{{Attempt: 1, At: at(0)}, {Attempt: 1, At: at(10)}, {Attempt: 2, At: at(20)}}
	tries := Tries{0: TriesFromLog(steps[0], log)}
	g := NewGantt(at(50), app.Operation{Status: app.OperationRunning, StartedAt: begun}, steps, tries, GanttQuery{})
	var kinds []string
	for _, b := range g.Rows[0].Bars {
		kinds = append(kinds, b.Kind)
	}
	if fmt.Sprint(kinds) != "[failed done run to]" || g.Span < 80*time.Second || g.Span > 100*time.Second {
		t.Fatalf("the bars are %v over %v", kinds, g.Span)
	}
	if b := g.Rows[0].Bars; b[0].W <= 2 || b[3].X < b[2].X+b[2].W-ganttGrain || g.NowX <= b[2].X {
		t.Errorf("they are %+v, now is %d", b, g.NowX)
	}
	got := ""
	for _, b := range g.Rows[0].Bars {
		got += b.Words + "; "
	}
	if !strings.Contains(got, "attempt 1: failed after 10 s") || !strings.Contains(got, "took 20 s, attempt 2") || !strings.Contains(got, "expected to take 20 s") {
		t.Errorf("said in words it is %q", got)
	}
}

// Labels stay inside their shapes, and are whole where they fit.
func TestLabelsFit(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"start web":               "start web",
		"configure database":      "configure datab…",
		"install wwwwwwwwwwwwwww": "install wwww…",
		"MMMMMMMMMMMMMMMM":        "MMMMMMMM…",
		"ÿÿ":                      "ÿÿ",
	} {
		if got := Label(text, 26, TitleSize); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
