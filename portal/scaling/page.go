package scaling

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/scaling"
	"muster/app/template"
	"muster/portal/page"
)

// Show is the page of a cluster's scaling.
type Show struct {
	Now     time.Time
	View    scaling.View
	Cluster app.Cluster
	Form    form // with empty rows to fill in
	Bad     page.Complaint
}

func newShow(now time.Time, v scaling.View, c app.Cluster, typed *form, bad page.Complaint) Show {
	s := Show{Now: now, View: v, Cluster: c, Bad: bad}
	if typed != nil {
		s.Form = *typed
	} else {
		s.Form = formOf(v)
	}
	if len(s.Form.Times) < template.MostScalingTimes {
		s.Form.Times = append(s.Form.Times, timeRow{})
	}
	if len(s.Form.Metrics) < template.MostScalingMetrics {
		s.Form.Metrics = append(s.Form.Metrics, metricRow{})
	}
	return s
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// formOf fills in the rules that count, or the template's.
func formOf(v scaling.View) form {
	p := v.Rules
	if p == nil {
		p = v.Template
	}
	if p == nil {
		return form{Min: "1", Max: strconv.Itoa(max(v.Nodes, 1))}
	}
	f := form{Min: count(p.Min), Max: count(p.Max), Step: count(p.Step), Brake: count(p.Brake), Up: p.CoolDownUp, Down: p.CoolDownDown, Every: p.Every,
		DryRun: p.DryRun}
	for _, t := range p.Schedule {
		row := timeRow{At: t.At, Zone: t.Zone, What: "nodes", Nodes: count(t.Nodes)}
		if t.Min > 0 {
			row.What, row.Nodes = "min", count(t.Min)
		}
		f.Times = append(f.Times, row)
	}
	for _, m := range p.Metrics {
		f.Metrics = append(f.Metrics, metricRow{Name: m.Name, URL: m.URL, Query: m.Query, Above: decimal(m.Above), Below: decimal(m.Below), Target: decimal(m.Target),
			Samples: count(m.Samples)})
	}
	return f
}

// source says whose rules count.
func (s Show) source() string {
	switch {
	case s.View.State == "off":
		return "Scaling is turned off for this cluster."
	case s.View.Source == "cluster":
		return "This cluster has its own scaling rules."
	case s.View.Source == "template" && s.View.Rules != nil:
		return "These are the template's scaling rules."
	}
	return "No scaling rules: the cluster keeps its size until someone changes it."
}

func (s Show) action() string { return "/clusters/" + s.Cluster.ID + "/scaling" }

func rowID(field string, i int) string { return field + "-" + strconv.Itoa(i+1) }

// rowName is the heading of a row of the form.
func rowName(kind, name string) string {
	if name == "" {
		return "New " + kind
	}
	return name
}

func timeWords(t template.ScalingTime) string {
	zone := t.Zone
	if zone == "" {
		zone = "UTC"
	}
	if t.Min > 0 {
		return fmt.Sprintf("%s (%s): at least %s", t.At, zone, humanize.Count(t.Min, "node"))
	}
	return fmt.Sprintf("%s (%s): %s", t.At, zone, humanize.Count(t.Nodes, "node"))
}

// valueWords is what was measured of a metric last.
func (s Show) valueWords(name string) string {
	switch x := s.View.Latest(name); {
	case x == nil:
		return "not measured yet"
	case x.Wrong != "":
		return "not measured: " + x.Wrong
	default:
		return "now " + scaling.Short(x.Number)
	}
}

// The size of a chart, in its own units.
const (
	chartWide = 240
	chartHigh = 40
)

// chart draws the latest values of a metric, or with "" the number of nodes, as the points of a line; "" for less than two.
func (s Show) chart(metric string) string {
	var values []float64
	for _, p := range s.View.Points {
		if metric == "" {
			values = append(values, float64(p.Nodes))
		} else if x, is := p.Values[metric]; is && x.Wrong == "" {
			values = append(values, x.Number)
		}
	}
	if len(values) < 2 {
		return ""
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	var b strings.Builder
	y := chartHigh / 2.0
	for i, v := range values {
		before := y
		if high > low {
			y = 2 + (high-v)/(high-low)*(chartHigh-4)
		}
		x := float64(i) / float64(len(values)-1) * chartWide
		if metric == "" && i > 0 { // nodes change in steps
			fmt.Fprintf(&b, "%.1f,%.1f ", x, before)
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", x, y)
	}
	return strings.TrimSpace(b.String())
}

// tone is the colour of an outcome.
func tone(o scaling.Outcome) string {
	switch o {
	case scaling.Started, scaling.Done:
		return "ok"
	case scaling.Failed, scaling.Brake, scaling.Quota, scaling.Refused, scaling.Missed:
		return "bad"
	}
	return "soft"
}
