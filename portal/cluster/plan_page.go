package cluster

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/portal/page"
	"muster/portal/plan"

	"github.com/a-h/templ"
)

type picture struct{ kind, word string }

// pictures are the views of a plan.
var pictures = []picture{{"graph", "Graph"}, {"timeline", "Timeline"}, {"matrix", "Steps by node"}}

// matrixCells is the largest number of steps for which a cluster's page starts with the matrix.
const matrixCells = 240

// draw prepares the view that an address names; "" is the one that suits the plan.
func (c *Show) draw(kind string, op app.Operation, from int) {
	c.PlanOf, c.PlanFrom = op.ID, from
	acts := 0
	for _, s := range c.Steps {
		if !s.Join {
			acts++
		}
	}
	switch {
	case kind == "graph" || kind == "timeline" || kind == "matrix":
		c.Picture = kind
	case c.Pinned != nil || acts > matrixCells:
		c.Picture = "graph"
	default:
		c.Picture = "matrix"
	}
	switch c.Picture {
	case "graph":
		c.Graph = plan.NewGraph(c.Steps)
	case "timeline":
		c.Gantt = plan.NewGantt(c.Now, op, c.Steps, c.Tries, plan.GanttQuery{From: from, Span: c.GanttSpan})
	}
}

// PlanOperation is the operation whose plan is shown; nil where there is none.
func (c Show) PlanOperation() *app.Operation {
	if c.Pinned != nil {
		return c.Pinned
	}
	return c.Operation()
}

func planPath(c Show) string {
	if c.Pinned != nil {
		return page.OperationURL(c.View.ID, c.Pinned.ID)
	}
	return "/clusters/" + c.View.ID
}

func (c Show) pictureURL(kind string) string {
	return planPath(c) + "?" + url.Values{"plan": {kind}}.Encode() + "#plan"
}

func (c Show) ganttPages() page.Pages {
	_, all, size := plan.GanttNodes(c.Steps, c.PlanFrom)
	return page.Pages{From: c.PlanFrom, Size: size, All: all, Noun: "node", URL: func(from int) string {
		return planPath(c) + "?" + url.Values{"plan": {"timeline"}, "rows": {strconv.Itoa(from)}}.Encode() + "#plan"
	}}
}

func tookWords(now time.Time, o app.Operation) string {
	if o.EndedAt.IsZero() {
		return humanize.Duration(now.Sub(o.StartedAt)) + " so far"
	}
	return humanize.Duration(o.EndedAt.Sub(o.StartedAt))
}

// tookTick keeps tookWords current.
func tookTick(o app.Operation) templ.Attributes {
	if o.EndedAt.IsZero() {
		return page.TickFor(o.StartedAt)
	}
	return nil
}

// operationSentence says how an operation ended, or its progress.
func (c Show) operationSentence(o app.Operation) string {
	if c.Operation() != nil && c.Operation().ID == o.ID && !o.Status.Ended() {
		return progressSentence(c, &o)
	}
	s := fmt.Sprintf("%s %s", humanize.Upper(o.Kind.The()), o.Status)
	switch o.Status {
	case app.OperationSucceeded:
	case app.OperationCancelled:
		s = fmt.Sprintf("%s was cancelled after %d of %s", humanize.Upper(o.Kind.The()), o.Done, humanize.Count(o.Total, "step"))
	default:
		s = fmt.Sprintf("%s is %s, %d of %s", humanize.Upper(o.Kind.The()), o.Status, o.Done, humanize.Count(o.Total, "step"))
		if o.Status == app.OperationFailed {
			s = fmt.Sprintf("%s failed after %d of %s", humanize.Upper(o.Kind.The()), o.Done, humanize.Count(o.Total, "step"))
		}
	}
	if t := opTook(c.Now, o); t != "" && !o.EndedAt.IsZero() {
		s += " and " + t
		if d := o.EndedAt.Sub(o.StartedAt); o.Expected > 0 && d > o.Expected+o.Expected/4 && d-o.Expected > 10*time.Second {
			s += ", " + humanize.Duration(d-o.Expected) + " longer than expected"
		}
	}
	return s + "."
}

// still is c without the line that marks now, which would change every second.
func (c Show) still() Show {
	c.Gantt.NowX = -1
	return c
}
