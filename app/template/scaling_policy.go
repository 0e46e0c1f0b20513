package template

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// ScalingPolicy says how many nodes a cluster has, by the time of day and by what is measured. Durations are written as people do: 90s, 10m, 2h.
type ScalingPolicy struct {
	Min      int             `json:"min"`
	Max      int             `json:"max"`
	Schedule []ScalingTime   `json:"schedule,omitempty"`
	Metrics  []ScalingMetric `json:"metrics,omitempty"`
	// Step is how many nodes a metric adds or removes at once; 0 means 1.
	Step int `json:"step,omitempty"`
	// Every is how often metrics are measured; health checks of the template have their own interval. "" means 1m.
	Every string `json:"every,omitempty"`
	// CoolDownUp and CoolDownDown are how long after a change of size metrics may grow and shrink the cluster; "" means 3m and 10m.
	CoolDownUp   string `json:"cool_down_up,omitempty"`
	CoolDownDown string `json:"cool_down_down,omitempty"`
	// Brake is after how many failures in a row scaling pauses; 0 means 3.
	Brake  int  `json:"brake,omitempty"`
	DryRun bool `json:"dry_run,omitempty"` // only the history says what would happen
}

// ScalingTime sets a number of nodes, once, or the minimum from then on. At is weekdays and a time, or five fields as in crontab.
type ScalingTime struct {
	At    string `json:"at"`
	Zone  string `json:"zone,omitempty"`
	Nodes int    `json:"nodes,omitempty"`
	Min   int    `json:"min,omitempty"`
}

// ScalingMetric is a number that is measured, and what follows from it.
type ScalingMetric struct {
	Name string `json:"name"`
	// Script prints the number on each node. What a cluster's owner writes has none: a metric with the name of one of the template's takes its script.
	Script    string             `json:"script,omitempty"`
	Service   string             `json:"service,omitempty"`   // only nodes with it are measured
	Aggregate ScalingAggregation `json:"aggregate,omitempty"` // of the nodes' numbers; "" means average
	// URL and Query are of Prometheus, instead of a script.
	URL   string `json:"url,omitempty"`
	Query string `json:"query,omitempty"`
	// Above adds nodes, Below removes some. Target, instead of both, is the number that each node is to have.
	Above  *float64 `json:"above,omitempty"`
	Below  *float64 `json:"below,omitempty"`
	Target *float64 `json:"target,omitempty"`
	// Samples is how many measurements in a row must agree; 0 means 1.
	Samples int `json:"samples,omitempty"`
}

// ScalingAggregation says how the numbers of nodes become one.
type ScalingAggregation string

// The aggregations.
const (
	ScalingAverage ScalingAggregation = "average"
	ScalingMax     ScalingAggregation = "max"
	ScalingSum     ScalingAggregation = "sum"
)

// ScalingAggregations are all of them.
var ScalingAggregations = []ScalingAggregation{ScalingAverage, ScalingMax, ScalingSum}

// Bounds of scaling rules.
const (
	ScalingScriptTime  = 20 * time.Second
	MostScalingNodes   = 10_000
	MostScalingMetrics = 10
	MostScalingTimes   = 50
	MostScalingSamples = 20
	mostScalingURL     = 2000
	mostScalingQuery   = 4000
	mostCoolDown       = 7 * 24 * time.Hour
	mostScalingEvery   = time.Hour
	mostBrake          = 100
)

var scalingName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// None reports whether nothing is scaled.
func (p *ScalingPolicy) None() bool { return p == nil || len(p.Schedule) == 0 && len(p.Metrics) == 0 }

// Scripts reports whether nodes are asked.
func (p *ScalingPolicy) Scripts() bool {
	return p != nil && slices.ContainsFunc(p.Metrics, func(m ScalingMetric) bool { return m.Script != "" })
}

// Queries reports whether Prometheus is asked.
func (p *ScalingPolicy) Queries() bool {
	return p != nil && slices.ContainsFunc(p.Metrics, func(m ScalingMetric) bool { return m.URL != "" })
}

func lengthOr(text string, other time.Duration) time.Duration {
	if d, err := ParseLength(text); err == nil && text != "" {
		return d
	}
	return other
}

// EveryOr1m is how often metrics are measured.
func (p *ScalingPolicy) EveryOr1m() time.Duration { return lengthOr(p.Every, time.Minute) }

// UpAfter is how long after a change metrics may grow the cluster.
func (p *ScalingPolicy) UpAfter() time.Duration { return lengthOr(p.CoolDownUp, 3*time.Minute) }

// DownAfter is how long after a change metrics may shrink the cluster.
func (p *ScalingPolicy) DownAfter() time.Duration { return lengthOr(p.CoolDownDown, 10*time.Minute) }

// StepOr1 is how many nodes a metric adds or removes at once.
func (p *ScalingPolicy) StepOr1() int { return max(p.Step, 1) }

// BrakeOr3 is after how many failures in a row scaling pauses.
func (p *ScalingPolicy) BrakeOr3() int {
	if p.Brake == 0 {
		return 3
	}
	return p.Brake
}

// SamplesOr1 is how many measurements in a row must agree.
func (m ScalingMetric) SamplesOr1() int { return max(m.Samples, 1) }

// AggregateOrAverage is how the numbers of nodes become one.
func (m ScalingMetric) AggregateOrAverage() ScalingAggregation {
	if m.Aggregate == "" {
		return ScalingAverage
	}
	return m.Aggregate
}

// Total reports whether the number is of the whole cluster, and not that of a node.
func (m ScalingMetric) Total() bool { return m.URL != "" || m.Aggregate == ScalingSum }

// Words says what follows from the number: "above 10: grow; below 2: shrink".
func (m ScalingMetric) Words() string {
	var list []string
	if m.Target != nil {
		list = append(list, fmt.Sprintf("%g per node", *m.Target))
	}
	if m.Above != nil {
		list = append(list, fmt.Sprintf("above %g: grow", *m.Above))
	}
	if m.Below != nil {
		list = append(list, fmt.Sprintf("below %g: shrink", *m.Below))
	}
	return strings.Join(list, "; ")
}

type scalingWrong func(field, hint, format string, args ...any) error

func wrongScaling(field, hint, format string, args ...any) error {
	return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// Check tells what is wrong with the rules: EInvalid, with Field such as "metrics.0.above"; nil where nothing is. Times of the schedule are checked
// by package scaling.
func (p *ScalingPolicy) Check() error {
	wrong := scalingWrong(wrongScaling)
	switch {
	case p.Min < 1 || p.Min > MostScalingNodes:
		return wrong("min", "for example, min: 1", "must be from 1 to %d", MostScalingNodes)
	case p.Max < p.Min || p.Max > MostScalingNodes:
		return wrong("max", "raise max or lower min", "must be from min, %d, to %d", p.Min, MostScalingNodes)
	case p.None():
		return wrong("", "add an entry to schedule or metrics", "at least one rule is required")
	case p.Step < 0 || p.Step > MostScalingNodes:
		return wrong("step", "", "must be from 1 to %d", MostScalingNodes)
	case p.Brake < 0 || p.Brake > mostBrake:
		return wrong("brake", "", "must be from 1 to %d", mostBrake)
	case len(p.Schedule) > MostScalingTimes:
		return wrong("schedule", "combine entries: Mon-Fri 08:00 is one", "at most %d entries are allowed", MostScalingTimes)
	case len(p.Metrics) > MostScalingMetrics:
		return wrong("metrics", "", "at most %d metrics are allowed", MostScalingMetrics)
	}
	for _, d := range []struct {
		field, text string
		least, most time.Duration
	}{{"every", p.Every, time.Second, mostScalingEvery}, {"cool_down_up", p.CoolDownUp, 0, mostCoolDown}, {"cool_down_down", p.CoolDownDown, 0, mostCoolDown}} {
		if d.text == "" {
			continue
		}
		if got, err := ParseLength(d.text); err != nil || got < d.least || got > d.most {
			return wrong(d.field, "use a form such as 90s, 10m or 2h", "must be from %s to %s, not %.40q", humanize.DurationField(d.least),
				humanize.DurationField(d.most), d.text)
		}
	}
	for i, s := range p.Schedule {
		if err := p.checkTime(fmt.Sprintf("schedule.%d.", i), s); err != nil {
			return err
		}
	}
	var names []string
	for i, m := range p.Metrics {
		at := fmt.Sprintf("metrics.%d.", i)
		if slices.Contains(names, m.Name) {
			return wrong(at+"name", "give each metric a name of its own", "%q is used twice", m.Name)
		}
		names = append(names, m.Name)
		if err := m.check(at, wrong); err != nil {
			return err
		}
	}
	return nil
}

func (p *ScalingPolicy) checkTime(at string, s ScalingTime) error {
	switch {
	case (s.Nodes == 0) == (s.Min == 0):
		return wrongScaling(at+"nodes", "nodes sets the number once; min sets the minimum from then on", "set either nodes or min")
	case s.Nodes != 0 && (s.Nodes < p.Min || s.Nodes > p.Max):
		return wrongScaling(at+"nodes", "choose a number within min and max", "must be from %d to %d, not %d", p.Min, p.Max, s.Nodes)
	case s.Min != 0 && (s.Min < p.Min || s.Min > p.Max):
		return wrongScaling(at+"min", "choose a number within min and max", "must be from %d to %d, not %d", p.Min, p.Max, s.Min)
	}
	return nil
}

func (m ScalingMetric) check(at string, wrong scalingWrong) error {
	finite := func(v *float64) bool { return v == nil || !math.IsNaN(*v) && !math.IsInf(*v, 0) }
	switch {
	case !scalingName.MatchString(m.Name):
		return wrong(at+"name", "for example, queue", "must have 1 to 40 lowercase letters, digits, - or _, and begin with a letter or digit")
	case (m.Script == "") == (m.URL == ""):
		return wrong(at+"script", "script runs on the nodes; url and query ask Prometheus", "set either script, or url and query")
	case len(m.Script) > maxHealthCommand || strings.ContainsRune(m.Script, 0):
		return wrong(at+"script", "install a script and run it", "must be at most %d bytes, with no NUL bytes", maxHealthCommand)
	case m.Aggregate != "" && !slices.Contains(ScalingAggregations, m.Aggregate):
		return wrong(at+"aggregate", "use average, max or sum", "unknown aggregation %.40q", string(m.Aggregate))
	case m.URL != "" && (m.Service != "" || m.Aggregate != ""):
		return wrong(at+"url", "aggregate in the query instead", "service and aggregate are for scripts")
	case m.URL != "" && (strings.TrimSpace(m.Query) == "" || len(m.Query) > mostScalingQuery):
		return wrong(at+"query", `for example, sum(rate(http_requests_total[5m]))`, "must have 1 to %d bytes", mostScalingQuery)
	case m.URL == "" && m.Query != "":
		return wrong(at+"url", "for example, https://prometheus.example.com", "a query needs the URL of Prometheus")
	case !finite(m.Above) || !finite(m.Below) || !finite(m.Target):
		return wrong(at+"above", "", "must be a number")
	case m.Target != nil && (m.Above != nil || m.Below != nil):
		return wrong(at+"target", "remove one of them", "target can't be combined with above or below")
	case m.Target != nil && *m.Target <= 0:
		return wrong(at+"target", "", "must be more than 0")
	case m.Target == nil && m.Above == nil && m.Below == nil:
		return wrong(at+"above", "for example, above: 10", "set above, below or target")
	case m.Above != nil && m.Below != nil && *m.Below >= *m.Above:
		return wrong(at+"below", "a gap between them keeps the size from going up and down", "must be less than above, %g", *m.Above)
	case m.Samples < 0 || m.Samples > MostScalingSamples:
		return wrong(at+"samples", "", "must be from 1 to %d", MostScalingSamples)
	}
	if m.URL == "" {
		return nil
	}
	u, err := url.Parse(m.URL)
	if err != nil || len(m.URL) > mostScalingURL || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return wrong(at+"url", "for example, https://prometheus.example.com", "isn't a URL that starts with https://")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return wrong(at+"url", "use the address alone, such as https://prometheus.example.com", "can't hold credentials, parameters or a fragment")
	}
	return nil
}
