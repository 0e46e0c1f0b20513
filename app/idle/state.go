package idle

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/health"
	"muster/app/template"
)

// State is what is known of a cluster's use, and what is to happen.
type State struct {
	Policy     template.IdlePolicy
	FromTenant bool // the policy is the tenant's default
	Disabled   bool // someone has turned it off for this cluster

	ActiveAt   time.Time // when it was last in use, as far as is known
	IdleSince  time.Time // zero: in use, or not known
	MeasuredAt time.Time // when the latest measurement ended
	Reasons    []string  // why it isn't idle, by the latest measurement
	KeptUntil  time.Time
	KeptBy     string
	WarnedAt   time.Time // of this idle period
	ActAt      time.Time // when the action is due; zero where there is none
	ConfirmAt  time.Time // since when a last look is awaited
	DoneAt     time.Time // for this idle period all is done
	Note       string    // why the action didn't happen
	DueAt      time.Time // when there is something to do; zero: only after another measurement
}

// Measurement is what one batch of checks found of all nodes of a cluster.
type Measurement struct {
	Began, At time.Time
	Reasons   []string // none: idle
	Every     time.Duration
	Nodes     int
}

// Gap is how far measurements may be apart for what is between them to count as measured.
func Gap(every time.Duration, nodes int) time.Duration { return 2*every + health.CheckBatchTime(nodes) }

// Measured is the state after a measurement.
func (s State) Measured(m Measurement) State {
	if len(m.Reasons) > 0 {
		kept := s.Active(m.At)
		kept.Reasons, kept.MeasuredAt, kept.KeptUntil, kept.KeptBy = m.Reasons, m.At, s.KeptUntil, s.KeptBy
		return kept
	}
	if s.IdleSince.IsZero() || m.Began.Sub(s.MeasuredAt) > Gap(m.Every, m.Nodes) {
		active := s.ActiveAt
		s = s.Active(active)
		s.IdleSince = m.Began
		if s.ActiveAt.IsZero() {
			s.ActiveAt = m.Began
		}
	}
	s.Reasons, s.MeasuredAt = nil, m.At
	switch {
	case s.Disabled || !s.DoneAt.IsZero():
		s.DueAt = time.Time{}
	case s.WarnedAt.IsZero():
		s.DueAt = s.IdleSince.Add(s.Policy.After)
		if s.KeptUntil.After(s.DueAt) {
			s.DueAt = s.KeptUntil
		}
	case s.ConfirmAt.IsZero():
		s.DueAt = s.ActAt
	case !m.Began.Before(s.ConfirmAt):
		s.DueAt = m.At // it was looked at once more, and is idle still
	}
	return s
}

// Active is the state after use: a measurement, what a person did, or an operation.
func (s State) Active(at time.Time) State {
	s.ActiveAt, s.IdleSince, s.Reasons, s.Note = at, time.Time{}, nil, ""
	s.WarnedAt, s.ActAt, s.ConfirmAt, s.DoneAt, s.DueAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return s
}

// Keep is the state after someone said that it is needed until then.
func (s State) Keep(until, now time.Time, who string) State {
	s = s.Active(now)
	s.KeptUntil, s.KeptBy = until, who
	return s
}

// Step is what is to be done about an idle cluster.
type Step string

// The steps, in their order.
const (
	StepNone    Step = ""        // nothing until it is measured again
	StepWarn    Step = "warn"    // people
	StepConfirm Step = "confirm" // look once more
	StepAct     Step = "act"     // put to sleep, or delete
)

// Next says what is due. What was measured too long ago is not known any more.
func (s State) Next(now time.Time, every time.Duration, nodes int) Step {
	switch {
	case s.Disabled, s.DueAt.IsZero(), s.DueAt.After(now), s.IdleSince.IsZero(), !s.DoneAt.IsZero(), now.Sub(s.MeasuredAt) > Gap(every, nodes):
		return StepNone
	case s.WarnedAt.IsZero():
		return StepWarn
	case s.ConfirmAt.IsZero():
		return StepConfirm
	}
	return StepAct
}

// Warned is the state after the warning.
func (s State) Warned(now time.Time) State {
	s.WarnedAt = now
	if s.Policy.Action() == template.IdleWarn {
		s.DoneAt, s.DueAt = now, time.Time{}
		return s
	}
	s.ActAt = now.Add(s.Policy.GraceOr30m())
	s.DueAt = s.ActAt
	return s
}

// Confirming is the state while a last look is awaited.
func (s State) Confirming(now time.Time) State {
	s.ConfirmAt, s.DueAt = now, time.Time{}
	return s
}

// Failed is the state after the action wasn't possible.
func (s State) Failed(now time.Time, note string) State {
	s.DoneAt, s.DueAt, s.ActAt, s.Note = now, time.Time{}, time.Time{}, note
	return s
}

// ActionWords says what happens: "go to sleep", "be deleted".
func ActionWords(a template.IdleAction) string {
	if a == template.IdleDelete {
		return "be deleted"
	}
	return "go to sleep"
}

// Word is the state in one word.
func (s State) Word(c app.Cluster, now time.Time) string {
	switch {
	case s.Disabled:
		return "off"
	case c.Status != app.ClusterActive:
		return "not_measured"
	case s.MeasuredAt.IsZero():
		return "unknown"
	case s.IdleSince.IsZero():
		return "in_use"
	case !s.WarnedAt.IsZero() && !s.ActAt.IsZero():
		return "warned"
	}
	return "idle"
}

// joined lists what was found of the first few nodes.
func joined(findings []NodeFinding) (out []string) {
	const most = 5
	for _, f := range findings {
		if len(out) == most {
			return append(out, fmt.Sprintf("and %d more nodes", len(findings)-most))
		}
		if len(f.Reasons) > 0 {
			out = append(out, f.Text())
		}
	}
	return out
}

// ReasonsOf is what a batch found of all nodes, as it is kept: those that were not looked at are unknown.
func ReasonsOf(measured bool, findings []NodeFinding, left []string, unreachable []string) []string {
	if !measured {
		return []string{"The worker doesn't measure use yet. Update the provisioner."}
	}
	all := findings
	for _, n := range left {
		all = append(all, NodeFinding{Node: n, Reasons: []string{"not checked in time"}})
	}
	for _, n := range unreachable {
		all = append(all, NodeFinding{Node: n, Reasons: []string{"unreachable"}})
	}
	return joined(all)
}

// Because is why a cluster isn't idle, in a sentence.
func (s State) Because() string {
	if len(s.Reasons) == 0 {
		return ""
	}
	return strings.Join(s.Reasons, ". ") + "."
}

// Same reports whether nothing has happened between two states.
func (s State) Same(o State) bool {
	return s.Disabled == o.Disabled && s.Policy.Action() == o.Policy.Action() && s.IdleSince.Equal(o.IdleSince) && s.MeasuredAt.Equal(o.MeasuredAt) &&
		s.KeptUntil.Equal(o.KeptUntil) && s.WarnedAt.Equal(o.WarnedAt) && s.ActAt.Equal(o.ActAt) && s.ConfirmAt.Equal(o.ConfirmAt) &&
		s.DoneAt.Equal(o.DoneAt) && s.DueAt.Equal(o.DueAt)
}
