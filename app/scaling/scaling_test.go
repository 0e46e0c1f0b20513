package scaling

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
)

var start = time.Date(2030, 1, 7, 9, 0, 0, 0, time.UTC) // a Monday

func number(v float64) *float64 { return &v }

// points are measurements of the metric queue, a minute apart, the last one at start.
func points(nodes int, values ...float64) (list []Point) {
	for i, v := range values {
		list = append(list, Point{At: start.Add(time.Duration(i-len(values)+1) * time.Minute), Nodes: nodes, Values: map[string]Value{"queue": {Number: v}}})
	}
	return list
}

func TestDecisions(t *testing.T) {
	policy := func(change func(*template.ScalingPolicy)) *template.ScalingPolicy {
		p := &template.ScalingPolicy{Min: 2, Max: 6, Metrics: []template.ScalingMetric{{Name: "queue", Script: "x", Above: number(10), Below: number(2)}}}
		if change != nil {
			change(p)
		}
		return p
	}
	metric := func(change func(*template.ScalingMetric)) *template.ScalingPolicy {
		return policy(func(p *template.ScalingPolicy) { change(&p.Metrics[0]) })
	}
	target := metric(func(m *template.ScalingMetric) { m.Above, m.Below, m.Target = nil, nil, number(10) })
	total := metric(func(m *template.ScalingMetric) { m.Aggregate, m.Above, m.Below, m.Target = "sum", nil, nil, number(10) })
	slow := policy(func(p *template.ScalingPolicy) { p.CoolDownUp = "5m" })
	two := policy(func(p *template.ScalingPolicy) {
		p.Metrics = append(p.Metrics, template.ScalingMetric{Name: "busy", URL: "https://p.example.com", Query: "x", Above: number(50)})
	})
	old := []Point{{At: start.Add(-time.Hour), Nodes: 3, Values: map[string]Value{"queue": {Number: 11}}}}
	wrong := points(3, 1)
	wrong[0].Values["queue"] = Value{Wrong: "n1: failed"}
	partly := points(3, 1)
	partly[0].Values["queue"] = Value{Number: 1, Partial: true}
	other := points(3, 1)
	other[0].Values["busy"] = Value{Number: 100}
	for name, c := range map[string]struct {
		p     *template.ScalingPolicy
		s     State
		nodes int
		to    int
		out   Outcome
		rule  string
	}{
		"nothing is measured":             {policy(nil), State{}, 3, 3, "", "queue"},
		"above":                           {policy(nil), State{Points: points(3, 11)}, 3, 4, "", "queue"},
		"exactly at the threshold":        {policy(nil), State{Points: points(3, 10)}, 3, 3, "", "queue"},
		"below":                           {policy(nil), State{Points: points(3, 1)}, 3, 2, "", "queue"},
		"above at the maximum":            {policy(nil), State{Points: points(6, 11)}, 6, 6, Bound, "queue"},
		"below at the minimum":            {policy(nil), State{Points: points(2, 1)}, 2, 2, Bound, "queue"},
		"a larger step":                   {policy(func(p *template.ScalingPolicy) { p.Step = 2 }), State{Points: points(3, 11)}, 3, 5, "", "queue"},
		"a step beyond the maximum":       {policy(func(p *template.ScalingPolicy) { p.Step = 9 }), State{Points: points(3, 11)}, 3, 6, "", "queue"},
		"measured with other nodes":       {policy(nil), State{Points: points(4, 11)}, 3, 3, "", "queue"},
		"an old measurement":              {policy(nil), State{Points: old}, 3, 3, "", "queue"},
		"a measurement before the change": {policy(nil), State{Points: points(3, 11), ChangedAt: start.Add(time.Second)}, 3, 3, "", "queue"},
		"too soon to grow":                {slow, State{Points: points(3, 11), ChangedAt: start.Add(-4 * time.Minute)}, 3, 3, CoolDown, "queue"},
		"late enough to grow":             {policy(nil), State{Points: points(3, 11), ChangedAt: start.Add(-4 * time.Minute)}, 3, 4, "", "queue"},
		"too soon to shrink":              {policy(nil), State{Points: points(3, 1), ChangedAt: start.Add(-4 * time.Minute)}, 3, 3, CoolDown, "queue"},
		"three in a row agree":            {metric(func(m *template.ScalingMetric) { m.Samples = 3 }), State{Points: points(3, 5, 11, 12, 13)}, 3, 4, "", "queue"},
		"one of three is lower":           {metric(func(m *template.ScalingMetric) { m.Samples = 3 }), State{Points: points(3, 11, 5, 13)}, 3, 3, "", "queue"},
		"two of three are measured":       {metric(func(m *template.ScalingMetric) { m.Samples = 3 }), State{Points: points(3, 11, 13)}, 3, 3, "", "queue"},
		"not measured":                    {policy(nil), State{Points: wrong}, 3, 3, Unknown, "queue"},
		"not all nodes answer":            {policy(nil), State{Points: partly}, 3, 3, "", "queue"},
		"a target, by an average":         {target, State{Points: points(3, 14)}, 3, 4, "", "queue"},
		"a target, nearly met":            {target, State{Points: points(3, 10.9)}, 3, 3, "", "queue"},
		"a target, by a sum":              {total, State{Points: points(3, 35)}, 3, 4, "", "queue"},
		"a target that nothing reaches":   {target, State{Points: points(3, 0)}, 3, 2, "", "queue"},
		"fewer nodes than the minimum":    {policy(nil), State{}, 1, 2, "", "min"},
		"more nodes than the maximum":     {policy(nil), State{ChangedAt: start}, 9, 6, "", "max"},
		"a minimum by the schedule":       {policy(nil), State{Min: 4}, 3, 4, "", "min"},
		"a number by the schedule":        {policy(nil), State{Wanted: 5, WantedAt: start}, 3, 5, "", "schedule"},
		"a number beyond the maximum":     {policy(nil), State{Wanted: 9, WantedAt: start}, 3, 6, "", "schedule"},
		"paused":                          {policy(nil), State{Points: points(3, 11), PausedAt: start}, 3, 3, "", ""},
		"after a failure":                 {policy(nil), State{Wanted: 5, WantedAt: start, Failures: 1, ChangedAt: start.Add(-time.Minute)}, 3, 3, CoolDown, ""},
		"another metric isn't measured":   {two, State{Points: points(3, 1)}, 3, 3, "", "busy"},
		"the metric that wants more wins": {two, State{Points: other}, 3, 4, "", "busy"},
	} {
		d := c.s.Decide(c.p, c.nodes, start)
		if d.To != c.to || d.Outcome != c.out || c.rule != d.Rule {
			t.Errorf("%s: %d %q by %q, want %d %q by %q", name, d.To, d.Outcome, d.Rule, c.to, c.out, c.rule)
		}
	}
}

// Whatever is measured, and however nodes come and go: a decision is within the bounds, at most a step away where a metric made it, and never
// sooner after a change than the cool-down says.
func TestDecisionsKeepTheRules(t *testing.T) {
	grew, shrank := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := &template.ScalingPolicy{Min: 1 + r.IntN(4), Step: r.IntN(4), CoolDownUp: "2m", CoolDownDown: "5m"}
		p.Max = p.Min + r.IntN(8)
		m := template.ScalingMetric{Name: "queue", Script: "x", Samples: r.IntN(4)}
		if r.IntN(2) == 0 {
			m.Target = number(float64(1 + r.IntN(20)))
		} else {
			m.Above, m.Below = number(10), number(3)
		}
		p.Metrics = []template.ScalingMetric{m}
		s, now, nodes := State{}, start, p.Min
		var changed time.Time
		for range 200 {
			now = now.Add(time.Duration(10+r.IntN(80)) * time.Second)
			v := Value{Number: float64(r.IntN(25)), Partial: r.IntN(10) == 0}
			if r.IntN(12) == 0 {
				v = Value{Wrong: "failed"}
			}
			s = s.With(Point{At: now, Nodes: nodes, Values: map[string]Value{"queue": v}})
			if r.IntN(40) == 0 {
				nodes = 1 + r.IntN(14) // a person resizes
			}
			if r.IntN(60) == 0 {
				s.Wanted, s.WantedAt = 1+r.IntN(12), now
			}
			d := s.Decide(p, nodes, now)
			if d.To == nodes {
				continue
			}
			if d.To < p.Min || d.To > p.Max {
				t.Fatalf("seed %d: %d nodes of %d to %d", seed, d.To, p.Min, p.Max)
			}
			if d.Rule == "queue" {
				wait := p.UpAfter()
				if d.To < nodes {
					wait = p.DownAfter()
					shrank++
				} else {
					grew++
				}
				if far := d.To - nodes; far > p.StepOr1() || -far > p.StepOr1() {
					t.Fatalf("seed %d: from %d to %d by steps of %d", seed, nodes, d.To, p.StepOr1())
				}
				if !changed.IsZero() && now.Sub(changed) < wait {
					t.Fatalf("seed %d: %s after the last change", seed, now.Sub(changed))
				}
				if v.Wrong != "" || d.To < nodes && v.Partial {
					t.Fatalf("seed %d: what isn't known changed the size", seed)
				}
			}
			nodes, changed = d.To, now
			s.ChangedAt, s.Wanted = now, 0
		}
	}
	if grew == 0 || shrank == 0 {
		t.Errorf("it grew %d times and shrank %d times", grew, shrank)
	}
}

func TestSchedule(t *testing.T) {
	p := &template.ScalingPolicy{Min: 1, Max: 9, Schedule: []template.ScalingTime{
		{At: "Mon-Fri 08:00", Min: 4}, {At: "Mon-Fri 19:00", Min: 1}, {At: "Mon 10:00", Nodes: 6}}}
	s := State{}.Scheduled(p, start)
	if s.Min != 4 || s.Wanted != 0 {
		t.Errorf("the rules are set at 9:00 on a Monday: %+v", s)
	}
	if at := Next(p, start); !at.Equal(start.Add(time.Hour)) {
		t.Errorf("next at %s", at)
	}
	s = s.Scheduled(p, start.Add(time.Hour))
	if s.Wanted != 6 {
		t.Errorf("at 10:00: %+v", s)
	}
	if s = s.Scheduled(p, start.Add(2*time.Hour)); s.Wanted != 6 || !s.WantedAt.Equal(start.Add(time.Hour)) {
		t.Errorf("at 11:00: %+v", s)
	}
	if s = s.Scheduled(p, start.Add(48*time.Hour)); s.Min != 4 {
		t.Errorf("no one was there for two days: %+v", s)
	}
	if s = s.Scheduled(p, start.Add(60*time.Hour)); s.Min != 1 {
		t.Errorf("in the evening: %+v", s)
	}
}

func TestInvalidRules(t *testing.T) {
	good := func() *template.ScalingPolicy {
		return &template.ScalingPolicy{Min: 1, Max: 5, Schedule: []template.ScalingTime{{At: "Mon 08:00", Nodes: 2}},
			Metrics: []template.ScalingMetric{{Name: "queue", Script: "x", Above: number(10), Below: number(2)},
				{Name: "load", URL: "https://p.example.com", Query: "x", Target: number(3)}}}
	}
	if err := Check(good(), start); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*template.ScalingPolicy){
		"min":               func(p *template.ScalingPolicy) { p.Min = 0 },
		"max":               func(p *template.ScalingPolicy) { p.Min = 6 },
		"":                  func(p *template.ScalingPolicy) { p.Metrics, p.Schedule = nil, nil },
		"step":              func(p *template.ScalingPolicy) { p.Step = -1 },
		"brake":             func(p *template.ScalingPolicy) { p.Brake = 1000 },
		"every":             func(p *template.ScalingPolicy) { p.Every = "2h" },
		"cool_down_up":      func(p *template.ScalingPolicy) { p.CoolDownUp = "soon" },
		"cool_down_down":    func(p *template.ScalingPolicy) { p.CoolDownDown = "8d" },
		"schedule.0.at":     func(p *template.ScalingPolicy) { p.Schedule[0].At = "Mon 25:00" },
		"schedule.0.zone":   func(p *template.ScalingPolicy) { p.Schedule[0].Zone = "Mars/Olympus" },
		"schedule.0.nodes":  func(p *template.ScalingPolicy) { p.Schedule[0].Nodes = 6 },
		"schedule.0.min":    func(p *template.ScalingPolicy) { p.Schedule[0].Nodes, p.Schedule[0].Min = 0, 6 },
		"metrics.0.name":    func(p *template.ScalingPolicy) { p.Metrics[0].Name = "A b" },
		"metrics.1.name":    func(p *template.ScalingPolicy) { p.Metrics[1].Name = "queue" },
		"metrics.0.script":  func(p *template.ScalingPolicy) { p.Metrics[0].Script = "" },
		"metrics.0.below":   func(p *template.ScalingPolicy) { p.Metrics[0].Below = number(11) },
		"metrics.0.above":   func(p *template.ScalingPolicy) { p.Metrics[0].Above, p.Metrics[0].Below = nil, nil },
		"metrics.1.target":  func(p *template.ScalingPolicy) { p.Metrics[1].Target = number(0) },
		"metrics.1.url":     func(p *template.ScalingPolicy) { p.Metrics[1].URL = "https://ann:x@p.example.com" },
		"metrics.1.query":   func(p *template.ScalingPolicy) { p.Metrics[1].Query = " " },
		"metrics.0.samples": func(p *template.ScalingPolicy) { p.Metrics[0].Samples = 99 },
	} {
		p := good()
		change(p)
		if e := app.AsError(Check(p, start)); e == nil || e.Code != app.EInvalid || e.Field != field {
			t.Errorf("%s: %+v", field, e)
		}
	}
}

// A cluster's owner runs no scripts but those of its template.
func TestOwnRulesTakeTheTemplatesScripts(t *testing.T) {
	of := &template.ScalingPolicy{Min: 1, Max: 3, Metrics: []template.ScalingMetric{{Name: "queue", Script: "wc -l", Aggregate: "sum", Above: number(1)}}}
	own := &template.ScalingPolicy{Min: 1, Max: 5, Metrics: []template.ScalingMetric{{Name: "queue", Above: number(7)}}}
	p := Rules{Template: of, Own: own}.Effective()
	if m := p.Metrics[0]; m.Script != "wc -l" || m.Aggregate != "sum" || *m.Above != 7 || p.Max != 5 {
		t.Errorf("%+v", p)
	}
	if len((Rules{Own: own}).Effective().Metrics) != 0 {
		t.Error("a script that the template doesn't have any more is run")
	}
	for _, m := range []template.ScalingMetric{{Name: "queue", Script: "rm -rf /"}, {Name: "other"}, {Name: "other", Script: "wc -l"}} {
		if _, err := Resolve(&template.ScalingPolicy{Metrics: []template.ScalingMetric{m}}, of); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%+v: %v", m, err)
		}
	}
	if (Rules{Template: of, Off: true}).Effective() != nil {
		t.Error("it's turned off, and has rules")
	}
}

func TestNumbersOfNodes(t *testing.T) {
	for said, want := range map[string]string{"12": "", "warning: x\n 3.5 ": "", "": "isn't a number", "NaN": "isn't a number", "many": "isn't a number"} {
		if _, wrong := ReadNumber(0, said); !strings.Contains(wrong, want) || want == "" && wrong != "" {
			t.Errorf("%q: %q", said, wrong)
		}
	}
	if _, wrong := ReadNumber(124, ""); !strings.Contains(wrong, "no answer within") {
		t.Error(wrong)
	}
	p := &template.ScalingPolicy{Metrics: []template.ScalingMetric{{Name: "a", Script: "x"},
		{Name: "b", Script: "x", Aggregate: "max"}, {Name: "c", Script: "x", Aggregate: "sum"}}}
	var said []NodeNumber
	for _, name := range []string{"a", "b", "c"} {
		said = append(said, NodeNumber{Node: "n1", Name: name, Value: 2}, NodeNumber{Node: "n2", Name: name, Value: 4})
	}
	got := Gather(p, said, 2)
	if got["a"] != (Value{Number: 3}) || got["b"] != (Value{Number: 4}) || got["c"] != (Value{Number: 6}) {
		t.Errorf("%+v", got)
	}
	said[0] = NodeNumber{Node: "n1", Name: "a", Wrong: "failed"}
	if got = Gather(p, said, 3); got["a"] != (Value{Number: 4, Partial: true}) || !got["b"].Partial {
		t.Errorf("%+v", got)
	}
	if got = Gather(p, nil, 3); got["a"].Wrong == "" {
		t.Errorf("%+v", got)
	}
}
