package bot

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/policy"
)

// plans shows current and possible plans.
type plans struct {
	clusters Clusters
	activity Activity
	creates  *creates
}

// show shows the plan of a cluster's operation or, given a template, of a create.
func (ps plans) show(ctx context.Context, r request) (Answer, error) {
	if len(r.words) == 0 {
		return Answer{}, r.usage()
	}
	if len(r.words) == 1 {
		v, err := ps.clusters.Cluster(ctx, r.actor, r.words[0])
		if err == nil {
			return ps.of(ctx, r, v)
		}
		if app.CodeOf(err) != app.ENotFound {
			return Answer{}, err
		}
		c, e := ps.creates.catalogs.Catalog(ctx, r.actor)
		if e != nil {
			return Answer{}, e
		}
		if c.Templates[r.words[0]] == nil {
			return Answer{}, err
		}
	}
	q, ok, err := parseCreate(r.words)
	if err != nil {
		return Answer{}, err
	}
	if !ok {
		return Answer{}, r.usage()
	}
	if q, _, err = ps.creates.fitted(ctx, r, q); err != nil {
		return Answer{}, err
	}
	p, err := ps.creates.creates.Preview(ctx, r.actor, q)
	if err != nil {
		return Answer{}, err
	}
	left, err := ps.creates.quotas.QuotaLeft(ctx, r.actor)
	if err != nil {
		return Answer{}, err
	}
	name := "New cluster"
	if q.Name != "" {
		name = q.Name
	}
	open := action{Do: doCreate, Template: q.Template}.button("Create cluster…", false)
	return Answer{Title: fmt.Sprintf("%s: %s from %s", name, humanize.Count(p.Layout.Size(), "node"), q.Template), Lines: r.previewLines(p, left),
		Buttons: []Button{open}, Links: []Link{{"Open in portal", r.Page(app.Subject{Kind: app.SubjectNewCluster})}}}, nil
}

// previewFacts is a create's cost and duration in one line.
func (v voice) previewFacts(p cluster.Preview) string {
	var facts []string
	if cost := priceOf(p.Layout); cost != "" {
		facts = append(facts, cost)
	}
	switch {
	case p.Lease == 0:
		facts = append(facts, "no expiry")
	case p.Cost > 0:
		facts = append(facts, humanize.Money(p.Cost, p.Layout.Currency)+" over "+humanize.Duration(p.Lease))
	default:
		facts = append(facts, "for "+humanize.Duration(p.Lease))
	}
	facts = append(facts, humanize.Count(p.Plan.Acts(), "step"))
	if p.Duration > 0 {
		facts = append(facts, takes(p.Duration, p.Plan.Expects))
	}
	if people := p.Plan.PeopleInWords(); people != "" {
		facts = append(facts, people)
	}
	return strings.Join(facts, ", ")
}

// previewLines is the preview of a create.
func (v voice) previewLines(p cluster.Preview, left policy.QuotaLeft) []string {
	lines := append(p.Layout.Lines(2*maxLayout), v.previewFacts(p))
	if words := p.Plan.FallbackWords(); words != "" {
		lines = append(lines, words)
	}
	lines = append(lines, p.Baked...)
	if p.FromPools != nil {
		lines = append(lines, p.FromPools.Text())
	}
	if words := p.Cheaper.Text(); words != "" {
		lines = append(lines, words)
	}
	lines = append(append(append(lines, p.Decision.Sentences()...), p.ProblemLines()...), p.Warnings...)
	var rest []string
	for _, l := range left.Tightest {
		rest = append(rest, l.Text())
	}
	if len(rest) > 0 {
		lines = append(lines, "Quota left: "+strings.Join(rest, "; ")+".")
	}
	return lines
}

// of shows the latest operation of a cluster, step by step.
func (ps plans) of(ctx context.Context, r request, v cluster.View) (Answer, error) {
	a := Answer{Title: v.Name + " has no plan", Links: []Link{{"View cluster", r.Page(app.ClusterSubject(v.ID))}}}
	if len(v.Operations) == 0 {
		return a, nil
	}
	o := v.Operations[0]
	for _, other := range v.Operations {
		if !other.Status.Ended() && other.Status != app.OperationWaiting {
			o = other
		}
	}
	steps, err := ps.activity.Steps(ctx, r.actor, v.ID, o.ID)
	if err != nil {
		return Answer{}, err
	}
	a.Title = o.Headline(v.Cluster)
	a.Lines = []string{bar(o.Done, o.Total, "step")}
	if p := r.pace(o, r.now()); p != "" {
		a.Lines = append(a.Lines, p)
	}
	a.Lines = append(a.Lines, stepLines(steps)...)
	return a, nil
}

// stepLines lists steps with a line per node, nodes with running or failed steps first.
func stepLines(steps []app.Step) []string {
	marks := map[app.StepState]string{app.StepSucceeded: "✓ ", app.StepFailed: "✗ ", app.StepRunning: "▶ ", app.StepDropped: "– "}
	var nodes []string
	words, hot := map[string][]string{}, map[string]bool{}
	for _, s := range steps {
		if s.Join || s.Node == "" {
			continue
		}
		if words[s.Node] == nil {
			nodes = append(nodes, s.Node)
		}
		words[s.Node] = append(words[s.Node], marks[s.State]+strings.TrimSpace(string(s.Action)+" "+s.Service))
		hot[s.Node] = hot[s.Node] || s.State == app.StepRunning || s.State == app.StepFailed || s.State == app.StepQueued
	}
	var lines []string
	for _, now := range []bool{true, false} {
		for _, n := range nodes {
			if hot[n] == now {
				lines = append(lines, n+": "+strings.Join(words[n], ", "))
			}
		}
	}
	if len(lines) > maxListed {
		lines = append(lines[:maxListed:maxListed], humanize.Count(len(lines)-maxListed, "more node")+" in the portal.")
	}
	return lines
}
