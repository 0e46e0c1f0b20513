package form

import (
	"muster/app/humanize"
	"muster/app/template"
	"time"
)

type scalingDoc struct {
	Min          int                `yaml:"min" doc:"Smallest number of nodes."`
	Max          int                `yaml:"max" doc:"Largest number of nodes."`
	Schedule     []scalingTimeDoc   `yaml:"schedule" doc:"Times that set the number of nodes, or the minimum."`
	Metrics      []scalingMetricDoc `yaml:"metrics" doc:"Numbers that are measured. If they disagree, the largest size counts."`
	Step         int                `yaml:"step" doc:"How many nodes a metric adds or removes at once. Default: 1."`
	Every        duration           `yaml:"every" doc:"How often to measure, 1s to 1h. With health checks, scripts run in their interval. Default: 1m."`
	CoolDownUp   *duration          `yaml:"cool_down_up" doc:"How long after a change of size a metric can add nodes, at most 7d. Default: 3m."`
	CoolDownDown *duration          `yaml:"cool_down_down" doc:"How long after a change of size a metric can remove nodes, at most 7d. Default: 10m."`
	Brake        int                `yaml:"brake" doc:"After how many failures in a row scaling pauses until someone resumes it. Default: 3."`
	DryRun       bool               `yaml:"dry_run" doc:"Only the history says what would happen."`
}

type scalingTimeDoc struct {
	At    string `yaml:"at" doc:"Weekdays and a time, such as Mon-Fri 08:00, or five crontab fields."`
	Zone  string `yaml:"zone" doc:"Time zone, such as Europe/Berlin. Default: UTC."`
	Nodes int    `yaml:"nodes" doc:"Number of nodes to have at that time. Metrics can change it afterwards."`
	Min   int    `yaml:"min" doc:"Minimum from that time on, until the next entry with a minimum."`
}

type scalingMetricDoc struct {
	Name      string   `yaml:"name" doc:"Name of the metric. A cluster's own rules use it to refer to the script."`
	Script    string   `yaml:"script" doc:"Script run with sh on every node as root, for at most 20s. The last line that it prints is the number."`
	Service   string   `yaml:"service" doc:"Only nodes with this service are measured."`
	Aggregate string   `yaml:"aggregate" doc:"average, max or sum of the nodes' numbers. Default: average."`
	URL       string   `yaml:"url" doc:"Address of Prometheus, instead of a script. The server must be allowed to connect to it, as to webhooks."`
	Query     string   `yaml:"query" doc:"PromQL query with one number as its answer."`
	Above     *float64 `yaml:"above" doc:"Add nodes above this number."`
	Below     *float64 `yaml:"below" doc:"Remove nodes below this number."`
	Target    *float64 `yaml:"target" doc:"Number that each node should have, instead of above and below."`
	Samples   int      `yaml:"samples" doc:"How many measurements in a row must agree, 1 to 20. Default: 1."`
}

func lengthText(d *duration) string {
	if d == nil {
		return ""
	}
	if *d == 0 {
		return "0s"
	}
	return humanize.DurationField(time.Duration(*d))
}

func lengthDoc(text string) *duration {
	got, err := template.ParseLength(text)
	if err != nil || text == "" {
		return nil
	}
	d := duration(got)
	return &d
}

func (s *scalingDoc) policy() *template.ScalingPolicy {
	if s == nil {
		return nil
	}
	p := &template.ScalingPolicy{Min: s.Min, Max: s.Max, Step: s.Step, CoolDownUp: lengthText(s.CoolDownUp), CoolDownDown: lengthText(s.CoolDownDown),
		Brake: s.Brake, DryRun: s.DryRun}
	if s.Every != 0 {
		p.Every = lengthText(&s.Every)
	}
	for _, t := range s.Schedule {
		p.Schedule = append(p.Schedule, template.ScalingTime(t))
	}
	for _, m := range s.Metrics {
		p.Metrics = append(p.Metrics, template.ScalingMetric{Name: m.Name, Script: m.Script, Service: m.Service,
			Aggregate: template.ScalingAggregation(m.Aggregate), URL: m.URL, Query: m.Query, Above: m.Above, Below: m.Below, Target: m.Target, Samples: m.Samples})
	}
	return p
}

func scalingDocOf(p *template.ScalingPolicy) *scalingDoc {
	if p == nil {
		return nil
	}
	s := &scalingDoc{Min: p.Min, Max: p.Max, Step: p.Step, CoolDownUp: lengthDoc(p.CoolDownUp), CoolDownDown: lengthDoc(p.CoolDownDown), Brake: p.Brake,
		DryRun: p.DryRun}
	if d := lengthDoc(p.Every); d != nil {
		s.Every = *d
	}
	for _, t := range p.Schedule {
		s.Schedule = append(s.Schedule, scalingTimeDoc(t))
	}
	for _, m := range p.Metrics {
		s.Metrics = append(s.Metrics, scalingMetricDoc{Name: m.Name, Script: m.Script, Service: m.Service, Aggregate: string(m.Aggregate), URL: m.URL,
			Query: m.Query, Above: m.Above, Below: m.Below, Target: m.Target, Samples: m.Samples})
	}
	return s
}
