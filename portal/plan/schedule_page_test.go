package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/plan"
	"pgregory.net/rapid"
)

// drawPlan makes any plan: needs point backwards, some steps are joins, ranks follow from durations.
func drawPlan(t *rapid.T) plan.Plan {
	n := rapid.IntRange(0, 40).Draw(t, "steps")
	p := plan.Plan{Kind: app.OperationCreate}
	for i := range n {
		s := plan.Step{ID: fmt.Sprint("s", i), Join: rapid.IntRange(0, 9).Draw(t, "join") == 0}
		if !s.Join {
			s.Node, s.Action = app.NodeName(rapid.IntRange(1, 5).Draw(t, "node")), app.ActionInstall
		}
		if i > 0 {
			s.Needs = rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 3), rapid.ID[int]).Draw(t, "needs")
		}
		p.Steps = append(p.Steps, s)
	}
	if rapid.Bool().Draw(t, "estimates known") {
		for i := n - 1; i >= 0; i-- {
			s := &p.Steps[i]
			if !s.Join {
				s.Rank += time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * time.Second
			}
			for _, need := range s.Needs {
				p.Steps[need].Rank = max(p.Steps[need].Rank, s.Rank)
			}
		}
	}
	return p
}

func TestSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		spans := schedule(p)
		var end time.Duration
		for i, s := range p.Steps {
			end = max(end, spans[i].end)
			if spans[i].end < spans[i].start {
				t.Fatalf("step %d ends before it begins", i)
			}
			for _, n := range s.Needs {
				if spans[n].end > spans[i].start {
					t.Fatalf("step %d begins at %v, before step %d ends at %v", i, spans[i].start, n, spans[n].end)
				}
			}
			for k := range i {
				o := p.Steps[k]
				if !s.Join && !o.Join && s.Node == o.Node && spans[i].start < spans[k].end && spans[k].start < spans[i].end {
					t.Fatalf("%s has two steps at a time: %d at %v and %d at %v", s.Node, i, spans[i], k, spans[k])
				}
			}
		}
		if end < p.Duration() {
			t.Fatalf("it is played in %v, but the longest path takes %v", end, p.Duration())
		}
	})
}

func alike(nodes int) plan.Plan {
	p := plan.Plan{}
	for i := range nodes {
		name := app.NodeName(i + 1)
		p.Steps = append(p.Steps,
			plan.Step{ID: name + ".create", Node: name, Action: app.ActionCreate, Rank: 90 * time.Second},
			plan.Step{ID: name + ".web.install", Node: name, Action: app.ActionInstall, Service: "web", Rank: 60 * time.Second, Needs: []int{2 * i}})
	}
	return p
}

func TestTimeline(t *testing.T) {
	small := NewTimeline(alike(3))
	if len(small.Rows) != 3 || small.Total != 90*time.Second {
		t.Errorf("3 nodes have %d rows over %v", len(small.Rows), small.Total)
	}
	bar := small.Rows[1].Bars[1]
	if bar.Left != "33.33%" || bar.Width != "66.67%" || bar.Title != "install web on n2, from 0:30 for 1 min" {
		t.Errorf("the second bar of n2 is %+v", bar)
	}
	if got := fmt.Sprint(small.Ticks); got != "[{0.00% 0:00} {33.33% 0:30} {66.67% 1:00}]" {
		t.Errorf("the ticks are %s", got)
	}
	big := NewTimeline(alike(500))
	if len(big.Rows) != 1 || big.Rows[0].Label() != "n1–n500" || big.Hidden != 0 {
		t.Errorf("500 equal nodes have %d rows, the first is %s", len(big.Rows), big.Rows[0].Label())
	}
	p := alike(100)
	for i := range p.Steps {
		p.Steps[i].Rank += time.Duration(i) * time.Second // no two nodes are the same
	}
	if many := NewTimeline(p); len(many.Rows) != 60 || many.Hidden != 40 {
		t.Errorf("100 different nodes have %d rows and %d hidden", len(many.Rows), many.Hidden)
	}
	if none := NewTimeline(plan.Plan{}); len(none.Rows) != 0 {
		t.Error("an empty plan has rows")
	}
}

func TestMatrix(t *testing.T) {
	var steps []app.Step
	add := func(node string, a app.Action, service string, st app.StepState) {
		steps = append(steps, app.Step{Operation: 7, Index: len(steps), Node: node, Action: a, Service: service, State: st})
	}
	add("n10", app.ActionCreate, "", app.StepSucceeded)
	add("n2", app.ActionCreate, "", app.StepRunning)
	add("n2", app.ActionStart, "web", app.StepWaiting)
	steps = append(steps, app.Step{Index: 3, Join: true})
	add("n2", app.ActionInstall, "web", app.StepFailed)
	m := NewMatrix(steps)
	var b strings.Builder
	for _, g := range m.Groups {
		fmt.Fprintf(&b, "%s%v ", g.Title(), g.Actions)
	}
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "\n%s", r.Node)
		for _, c := range r.Cells {
			if c.Step == nil {
				b.WriteString(" -")
			} else {
				fmt.Fprintf(&b, " %s", c.Step.State)
			}
		}
	}
	want := "machine[create] web[install start] \nn2 running failed waiting\nn10 succeeded - -"
	if b.String() != want {
		t.Errorf("the matrix is\n%s\nnot\n%s", b.String(), want)
	}

	steps = steps[:0]
	for i := range 230 {
		add(app.NodeName(i+1), app.ActionCreate, "", app.StepSucceeded)
	}
	steps[229].State = app.StepFailed
	m = NewMatrix(steps)
	if len(m.Rows) != matrixRows || m.Hidden != 230-matrixRows || m.Rows[matrixRows-1].Node != "n230" {
		t.Errorf("of 230 nodes %d are drawn, the last is %s; the one in trouble must be", len(m.Rows), m.Rows[len(m.Rows)-1].Node)
	}
}
