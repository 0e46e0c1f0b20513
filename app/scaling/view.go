package scaling

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// View is how a cluster is scaled, and what has been decided.
type View struct {
	Cluster string `json:"cluster"`
	Name    string `json:"name"`
	Status  string `json:"status"` // of the cluster
	Nodes   int    `json:"nodes"`
	State   string `json:"state"` // none, off, paused, dry_run or on
	// Rules are those that count; Source says whose they are: template, cluster or none.
	Rules     *template.ScalingPolicy `json:"rules,omitempty"`
	Source    string                  `json:"source"`
	Template  *template.ScalingPolicy `json:"template_rules,omitempty"` // that the cluster's own rules replace
	ChangedBy string                  `json:"changed_by,omitempty"`
	ChangedAt time.Time               `json:"changed_at,omitzero"`
	Min       int                     `json:"min,omitempty"` // now, by the schedule
	Max       int                     `json:"max,omitempty"`
	Next      time.Time               `json:"next,omitzero"` // of the schedule
	Failures  int                     `json:"failures,omitempty"`
	PausedAt  time.Time               `json:"paused_at,omitzero"`
	Note      string                  `json:"note,omitempty"` // why it is paused
	Points    []Point                 `json:"measurements"`   // the latest, oldest first
	History   []Entry                 `json:"history"`        // newest first
	MaySet    bool                    `json:"may_set"`        // by the one who asks
}

// Bounds of what is shown and set.
const (
	ShownHistory = 50
	leastOwn     = 10 * time.Second // between measurements, by rules of a cluster's owner
)

// Latest is what was measured of a metric last; nil for nothing.
func (v View) Latest(metric string) *Value {
	for _, p := range slices.Backward(v.Points) {
		if x, is := p.Values[metric]; is {
			return &x
		}
	}
	return nil
}

// Sentence says how it is scaled, for people.
func (v View) Sentence() string {
	switch v.State {
	case "none":
		return "No scaling rules."
	case "off":
		return "Scaling is turned off for this cluster."
	case "paused":
		return fmt.Sprintf("Scaling is paused after %s. %s", humanize.Count(v.Failures, "failure"), v.Note)
	case "dry_run":
		return fmt.Sprintf("Dry run: the history says what would happen. %s now; bounds %d to %d.", humanize.Count(v.Nodes, "node"), v.Min, v.Max)
	}
	return fmt.Sprintf("%s now; scales from %d to %d.", humanize.Count(v.Nodes, "node"), v.Min, v.Max)
}

// Text is a decision in a line: "queue is 12: 1 → 2 nodes, started".
func (e Entry) Text() string {
	text := e.Rule
	if e.Value != nil {
		text += fmt.Sprintf(" is %s", Short(*e.Value))
	}
	if text != "" {
		text += ": "
	}
	if e.From != e.To {
		text += fmt.Sprintf("%d → %s, ", e.From, humanize.Count(e.To, "node"))
	}
	text += e.Outcome.Text()
	if e.Note != "" {
		text += ". " + e.Note
	}
	return humanize.Upper(text)
}

// Short is a number for people.
func Short(v float64) string { return fmt.Sprintf("%.4g", v) }

// Text is the outcome for people.
func (o Outcome) Text() string {
	switch o {
	case DryRun:
		return "would resize (dry run)"
	case CoolDown:
		return "waits for the cool-down"
	case Bound:
		return "at the bound"
	case Busy:
		return "not possible now"
	case Approval:
		return "waits for approval"
	case Window:
		return "waits for a maintenance window"
	case Quota:
		return "refused by a quota"
	case Brake:
		return "scaling paused"
	case Unknown:
		return "not measured"
	}
	return string(o)
}

// ClusterScaling tells how a cluster is scaled.
func (a *Service) ClusterScaling(ctx context.Context, actor app.Actor, id string) (View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ClusterScaling", id)
	if err != nil {
		return View{}, err
	}
	v := View{Cluster: c.ID, Name: c.Name, Status: string(c.Status), Nodes: c.Size, State: "none", Source: "none", Points: []Point{}, History: []Entry{},
		MaySet: actor.MayIn("SetClusterScaling", c) && c.Status != app.ClusterDeleted}
	if h, err := a.Store.ScalingHistory(ctx, c.Tenant, c.ID, ShownHistory); err != nil {
		return View{}, err
	} else if h != nil {
		v.History = h
	}
	k, err := a.Store.Scaling(ctx, c.Tenant, c.ID)
	if err != nil || k == nil {
		return v, err
	}
	v.Rules, v.Template, v.ChangedBy, v.ChangedAt = k.Rules.Effective(), k.Rules.Template, k.ChangedBy, k.ChangedAt
	v.Source = "template"
	if k.Rules.Own != nil || k.Rules.Off {
		v.Source = "cluster"
	}
	if k.Rules.Off {
		v.State = "off"
		return v, nil
	}
	if v.Rules.None() {
		v.Rules = nil
		return v, nil
	}
	s := k.State
	v.Min, v.Max = s.bounds(v.Rules)
	v.Next = Next(v.Rules, a.Now())
	v.Failures, v.PausedAt, v.Note = s.Failures, s.PausedAt, s.Note
	if s.Points != nil {
		v.Points = s.Points
	}
	switch {
	case s.Paused():
		v.State = "paused"
	case v.Rules.DryRun:
		v.State = "dry_run"
	default:
		v.State = "on"
	}
	return v, nil
}

func (a *Service) find(ctx context.Context, actor app.Actor, useCase, id string) (app.Cluster, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, useCase, id)
	if err != nil {
		return c, err
	}
	if err := actor.MayChange(useCase, c); err != nil {
		return c, err
	}
	if c.Status == app.ClusterDeleted {
		return c, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	return c, nil
}

// Setting is what someone sets of a cluster's scaling: rules of its own, off, or neither for the template's rules.
type Setting struct {
	Rules *template.ScalingPolicy `json:"rules,omitempty"`
	Off   bool                    `json:"off,omitempty"`
}

// SetClusterScaling sets rules of a cluster itself instead of the template's, turns scaling off, or lets the cluster use the template's rules again.
// Own rules have no scripts but those of the template's metrics.
func (a *Service) SetClusterScaling(ctx context.Context, actor app.Actor, id string, s Setting) (View, error) {
	c, err := a.find(ctx, actor, "SetClusterScaling", id)
	if err != nil {
		return View{}, err
	}
	if s.Off && s.Rules != nil {
		return View{}, &app.Error{Code: app.EInvalid, Field: "off", Message: "Rules can't be combined with off.", Hint: "Set one of them."}
	}
	if s.Rules != nil {
		if s.Rules, err = a.checkOwn(ctx, c, *s.Rules); err != nil {
			return View{}, err
		}
	}
	if err := a.Store.SetScaling(ctx, Change{Tenant: c.Tenant, Cluster: c.ID, Who: actor, Now: a.Now(), Own: s.Rules, Off: s.Off}); err != nil {
		return View{}, err
	}
	return a.ClusterScaling(ctx, actor, c.ID)
}

// checkOwn checks rules of a cluster's owner, and returns them without the template's scripts.
func (a *Service) checkOwn(ctx context.Context, c app.Cluster, own template.ScalingPolicy) (*template.ScalingPolicy, error) {
	k, err := a.Store.Scaling(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	var of *template.ScalingPolicy
	if k != nil {
		of = k.Rules.Template
	}
	if len(own.Metrics) > template.MostScalingMetrics || len(own.Schedule) > template.MostScalingTimes {
		return nil, said(own.Check())
	}
	p, err := Resolve(&own, of)
	if err == nil {
		err = Check(p, a.Now())
	}
	if err != nil {
		return nil, said(err)
	}
	if p.EveryOr1m() < leastOwn {
		return nil, &app.Error{Code: app.EInvalid, Field: "every", Message: "every is too short.", Hint: "Choose at least " + humanize.Duration(leastOwn) + "."}
	}
	for i, m := range p.Metrics {
		if m.Script != "" {
			p.Metrics[i].Script = "" // it stays the template's
			continue
		}
		if err := a.checkURL(m.URL); err != nil {
			e := *app.AsError(err)
			e.Field = fmt.Sprintf("metrics.%d.url", i)
			return nil, &e
		}
	}
	return p, nil
}

func (a *Service) checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || a.Guard == nil && u.Scheme != "https":
		return &app.Error{Code: app.EInvalid, Message: "The URL must start with https://.", Hint: "For example, https://prometheus.example.com."}
	case a.Guard == nil:
		return nil
	}
	return a.Guard.CheckURL(u)
}

// said makes a sentence of what is wrong in rules.
func said(err error) error {
	e := *app.AsError(err)
	if e.Code == app.EInvalid && !strings.HasSuffix(e.Message, ".") {
		e.Message = strings.TrimSuffix("Invalid scaling rules: "+e.Field, ": ") + ": " + e.Message + "."
	}
	if e.Hint != "" && !strings.HasSuffix(e.Hint, ".") {
		e.Hint = humanize.Upper(e.Hint) + "."
	}
	return &e
}

// ResumeScaling releases the brake. EConflict where scaling isn't paused.
func (a *Service) ResumeScaling(ctx context.Context, actor app.Actor, id string) (View, error) {
	c, err := a.find(ctx, actor, "ResumeScaling", id)
	if err != nil {
		return View{}, err
	}
	if err := a.Store.SetScaling(ctx, Change{Tenant: c.Tenant, Cluster: c.ID, Who: actor, Now: a.Now(), Resume: true}); err != nil {
		return View{}, err
	}
	return a.ClusterScaling(ctx, actor, c.ID)
}
