package scaling

import (
	"fmt"
	"math"
	"time"

	"muster/app"
	"muster/app/template"
	"muster/app/window"
)

// Outcome says what happened to a decision.
type Outcome string

// The outcomes.
const (
	Started  Outcome = "started"   // a resize began
	Done     Outcome = "done"      // it succeeded
	DryRun   Outcome = "dry_run"   // it would have begun
	CoolDown Outcome = "cool_down" // the last change is too recent
	Bound    Outcome = "bound"     // min or max is reached
	Busy     Outcome = "busy"      // another operation is running, or the cluster isn't active
	Approval Outcome = "approval"  // a request waits for approval
	Window   Outcome = "window"    // a request waits for a maintenance window
	Quota    Outcome = "quota"
	Refused  Outcome = "refused" // by a policy, or the owner may not
	Failed   Outcome = "failed"
	Brake    Outcome = "brake"   // scaling is paused from now on
	Unknown  Outcome = "unknown" // nothing could be measured
	Missed   Outcome = "missed"  // the schedule's time is over
	Changed  Outcome = "changed" // someone changed the rules, or resumed scaling
)

// Decision is what is to be done. To equals the number of nodes where nothing is; Outcome then says why not, "" where nothing was wanted.
type Decision struct {
	To      int
	Rule    string // "schedule", "min", "max", or a metric
	Value   *float64
	Outcome Outcome
	Note    string
}

// Scheduled is the state after the schedule was seen to, up to now. What came while no one was there counts still where it's a minimum, also where it
// was before the rules were set.
func (s State) Scheduled(p *template.ScalingPolicy, now time.Time) State {
	from, first := s.Until, s.Until.IsZero()
	if from.After(now) {
		from = now
	}
	if far := now.Add(-farBack); from.Before(far) {
		from = far
	}
	var minAt time.Time
	for _, t := range p.Schedule {
		c, err := window.Start(t.At, t.Zone, from)
		if err != nil {
			continue
		}
		var last time.Time
		for at := c.After(from); !at.IsZero() && !at.After(now); at = c.After(at) {
			last = at
		}
		switch {
		case last.IsZero():
		case t.Min > 0 && !last.Before(minAt):
			s.Min, minAt = t.Min, last
		case t.Nodes > 0 && !first && last.After(s.WantedAt):
			s.Wanted, s.WantedAt = t.Nodes, last
		}
	}
	s.Until = now
	return s
}

// Next is when the schedule is to be seen to again; zero for never.
func Next(p *template.ScalingPolicy, now time.Time) (next time.Time) {
	for _, t := range p.Schedule {
		if c, err := window.Start(t.At, t.Zone, now); err == nil {
			if at := c.After(now); !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// Decide says how many nodes a cluster is to have that has so many now. The schedule comes first, then the bounds, then metrics, which wait for
// cool-downs. Whatever it says is within the bounds.
func (s State) Decide(p *template.ScalingPolicy, nodes int, now time.Time) Decision {
	least, most := s.bounds(p)
	if s.Paused() {
		return Decision{To: nodes}
	}
	if retry := s.ChangedAt.Add(p.UpAfter()); s.Failures > 0 && retry.After(now) {
		return Decision{To: nodes, Outcome: CoolDown, Note: "It is tried again after " + app.Moment(retry) + "."}
	}
	if s.Wanted > 0 {
		to := min(max(s.Wanted, least), most)
		if to != nodes {
			return Decision{To: to, Rule: "schedule", Note: "Scheduled for " + app.Moment(s.WantedAt) + "."}
		}
	}
	switch {
	case nodes < least:
		return Decision{To: least, Rule: "min"}
	case nodes > most:
		return Decision{To: most, Rule: "max"}
	}
	d := s.metrics(p, nodes, now)
	want := d.To
	d.To = min(max(want, least), most)
	wait := p.UpAfter()
	if want < nodes {
		wait = p.DownAfter()
	}
	switch left := s.ChangedAt.Add(wait).Sub(now); {
	case want == nodes:
		return d
	case d.To == nodes:
		d.Outcome, d.Note = Bound, fmt.Sprintf("The maximum is %d.", most)
		if want < nodes {
			d.Note = fmt.Sprintf("The minimum is %d.", least)
		}
	case !s.ChangedAt.IsZero() && left > 0:
		d.To, d.Outcome, d.Note = nodes, CoolDown, "The cool-down ends "+app.Moment(s.ChangedAt.Add(wait))+"."
	}
	return d
}

// metrics says what the metrics want, at most a step away: the largest size counts, and what isn't known keeps the cluster as large as it is.
func (s State) metrics(p *template.ScalingPolicy, nodes int, now time.Time) Decision {
	best, known := Decision{To: nodes}, false
	for _, m := range p.Metrics {
		d := s.metric(p, m, nodes, now)
		if !known || d.To > best.To || d.To == best.To && best.Value == nil {
			best, known = d, true
		}
	}
	if step := p.StepOr1(); known {
		best.To = min(max(best.To, nodes-step), nodes+step)
	}
	return best
}

// gap is how old a measurement may be.
func gap(p *template.ScalingPolicy) time.Duration { return 3*p.EveryOr1m() + 5*time.Minute }

// metric is what one metric wants: what all of its latest measurements agree on, at this number of nodes.
func (s State) metric(p *template.ScalingPolicy, m template.ScalingMetric, nodes int, now time.Time) Decision {
	d := Decision{To: nodes, Rule: m.Name}
	need := m.SamplesOr1()
	found, up, down := 0, 0, 0
	least, most := math.MaxInt, 0
	for i := len(s.Points) - 1; i >= 0 && found < need; i-- {
		point := s.Points[i]
		v, is := point.Values[m.Name]
		if !is {
			continue
		}
		if point.Nodes != nodes || now.Sub(point.At) > gap(p)+time.Duration(need)*p.EveryOr1m() || !s.ChangedAt.IsZero() && point.At.Before(s.ChangedAt) {
			break
		}
		if v.Wrong != "" {
			if found == 0 {
				d.Outcome, d.Note = Unknown, v.Wrong
			}
			return d
		}
		if found == 0 {
			d.Value = &v.Number
		}
		found++
		want := wantsOf(m, v.Number, nodes, p.StepOr1())
		if want > nodes {
			up++
		}
		if want < nodes && !v.Partial {
			down++
		}
		least, most = min(least, want), max(most, want)
	}
	switch {
	case found < need:
	case up == need:
		d.To = least
	case down == need:
		d.To = max(most, 1)
	}
	return d
}

// wantsOf is how many nodes a metric wants that has this number.
func wantsOf(m template.ScalingMetric, v float64, nodes, step int) int {
	switch {
	case m.Target != nil:
		per := v
		if m.Total() {
			per = v / float64(max(nodes, 1))
		}
		if math.Abs(per / *m.Target - 1) <= tolerance {
			return nodes
		}
		want := math.Ceil(float64(nodes)*per / *m.Target - 1e-9)
		return int(min(max(want, 1), template.MostScalingNodes))
	case m.Above != nil && v > *m.Above:
		return nodes + step
	case m.Below != nil && v < *m.Below:
		return nodes - step
	}
	return nodes
}
