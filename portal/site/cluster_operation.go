package site

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"muster/app"
	planpage "muster/portal/plan"
)

// Graph returns the steps of an operation for its graph; operation 0 is the latest.
func (p *Site) Graph(ctx context.Context, a app.Actor, cluster string, operation int64) (steps []app.Step, err error) {
	steps, err = p.Feed.StepGraph(ctx, a, cluster, operation)
	return planpage.WithExpected(steps), err
}

// Drawn selects a picture of a plan.
type Drawn struct {
	Kind string
	From int // the first row of a timeline
	Span time.Duration
}

func DrawnBy(q url.Values) Drawn {
	d := Drawn{Kind: q.Get("plan")}
	d.From, _ = strconv.Atoi(q.Get("rows"))
	d.From = max(d.From, 0)
	if n, err := strconv.ParseInt(q.Get("span"), 10, 64); err == nil && n > 0 && n < 1e6 {
		d.Span = time.Duration(n) * time.Second
	}
	return d
}

// Limits for reading earlier attempts: steps, and lines of each.
const (
	TriedShown = 20
	TriedLines = 1000
)
