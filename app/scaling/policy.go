package scaling

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/template"
	"muster/app/window"
)

// Check tells what is wrong with rules, their schedule included: EInvalid, with Field such as "schedule.0.at"; nil where nothing is.
func Check(p *template.ScalingPolicy, now time.Time) error {
	if err := p.Check(); err != nil {
		return err
	}
	for i, s := range p.Schedule {
		if _, err := window.Start(s.At, s.Zone, now); err != nil {
			e := *app.AsError(err)
			if e.Field != "zone" {
				e.Field = "at"
			}
			e.Field = fmt.Sprintf("schedule.%d.%s", i, e.Field)
			return &e
		}
	}
	return nil
}

// Resolve adds to the rules of a cluster's owner the scripts of its template's metrics with the same names. EInvalid for a script of their own.
func Resolve(own, of *template.ScalingPolicy) (*template.ScalingPolicy, error) {
	out := *own
	out.Metrics = nil
	for i, m := range own.Metrics {
		var from *template.ScalingMetric
		if of != nil {
			for j := range of.Metrics {
				if of.Metrics[j].Name == m.Name && of.Metrics[j].Script != "" {
					from = &of.Metrics[j]
				}
			}
		}
		switch {
		case m.URL != "" || m.Query != "":
		case from != nil && (m.Script == "" || m.Script == from.Script):
			m.Script = from.Script
			if m.Service == "" {
				m.Service = from.Service
			}
			if m.Aggregate == "" {
				m.Aggregate = from.Aggregate
			}
		case m.Script != "":
			return nil, &app.Error{Code: app.EInvalid, Field: fmt.Sprintf("metrics.%d.script", i), Message: "A cluster's own scaling rules can't have scripts.",
				Hint: "Put the script in the template's scaling rules, and use its metric by name."}
		default:
			return nil, &app.Error{Code: app.EInvalid, Field: fmt.Sprintf("metrics.%d.name", i),
				Message: fmt.Sprintf("The template has no metric %.40q with a script.", m.Name),
				Hint:    "Use the name of one of the template's metrics, or set url and query to ask Prometheus."}
		}
		out.Metrics = append(out.Metrics, m)
	}
	return &out, nil
}

// Rules are those of a cluster: the template's, and its owner's instead of them.
type Rules struct {
	Template *template.ScalingPolicy `json:"template,omitempty"`
	Own      *template.ScalingPolicy `json:"own,omitempty"`
	Off      bool                    `json:"off,omitempty"` // turned off for the cluster
}

// Effective are the rules that count; nil for none. Own rules whose template has lost a script of theirs count without that metric.
func (r Rules) Effective() *template.ScalingPolicy {
	switch {
	case r.Off:
		return nil
	case r.Own == nil:
		return r.Template
	}
	if p, err := Resolve(r.Own, r.Template); err == nil {
		return p
	}
	p := *r.Own
	p.Metrics = nil
	for _, m := range r.Own.Metrics {
		one := template.ScalingPolicy{Metrics: []template.ScalingMetric{m}}
		if got, err := Resolve(&one, r.Template); err == nil {
			p.Metrics = append(p.Metrics, got.Metrics...)
		}
	}
	return &p
}
