package scaling

import (
	"slices"
	"time"

	"muster/app/template"
)

// State is what is known of a cluster's scaling. The store keeps it as it is.
type State struct {
	Points  []Point   `json:"points,omitempty"` // the latest measurements, oldest first
	QueryAt time.Time `json:"query_at,omitzero"`
	// Until is up to when the schedule was seen to, and Min the minimum that it has set since; 0: the rules'.
	Until time.Time `json:"until,omitzero"`
	Min   int       `json:"min,omitempty"`
	// Wanted is the number that the schedule has set, until it is there, or it's too late for it.
	Wanted   int       `json:"wanted,omitempty"`
	WantedAt time.Time `json:"wanted_at,omitzero"`
	// ChangedAt is when the size was last changed, or was to be: cool-downs begin then.
	ChangedAt time.Time `json:"changed_at,omitzero"`
	// Operation is the latest operation that scaling has begun; Awaited while it runs.
	Operation int64 `json:"operation,omitempty"`
	Awaited   bool  `json:"awaited,omitempty"`
	From      int   `json:"from,omitempty"`
	To        int   `json:"to,omitempty"`
	// Failures in a row. PausedAt is since when the brake holds.
	Failures int       `json:"failures,omitempty"`
	PausedAt time.Time `json:"paused_at,omitzero"`
	Note     string    `json:"note,omitempty"` // why it was paused
}

// Bounds of what is kept and of how long something is tried.
const (
	MostPoints    = 60
	scheduleGrace = time.Hour // what the schedule sets is tried for so long
	farBack       = 8 * 24 * time.Hour
	tolerance     = 0.1 // of a target, within which the size stays
)

// With adds a measurement.
func (s State) With(p Point) State {
	if len(p.Values) == 0 {
		return s
	}
	s.Points = append(slices.Clone(s.Points), p)
	if more := len(s.Points) - MostPoints; more > 0 {
		s.Points = s.Points[more:]
	}
	return s
}

// LastAt is when something was last measured of scripts or queries.
func (s State) LastAt() time.Time {
	if len(s.Points) == 0 {
		return time.Time{}
	}
	return s.Points[len(s.Points)-1].At
}

// bounds are the least and the most nodes now.
func (s State) bounds(p *template.ScalingPolicy) (least, most int) {
	least, most = p.Min, p.Max
	if s.Min > 0 {
		least = min(max(s.Min, least), most)
	}
	return least, most
}

// Paused reports whether the brake holds.
func (s State) Paused() bool { return !s.PausedAt.IsZero() }

// Failed is the state after something went wrong.
func (s State) Failed(p *template.ScalingPolicy, now time.Time, note string) State {
	s.Failures++
	s.ChangedAt, s.Awaited = now, false
	s.Wanted, s.WantedAt = 0, time.Time{}
	if s.Failures >= p.BrakeOr3() {
		s.PausedAt, s.Note = now, note
	}
	return s
}

// Resumed is the state after someone has released the brake.
func (s State) Resumed(now time.Time) State {
	s.Failures, s.PausedAt, s.Note, s.Points, s.Until = 0, time.Time{}, "", nil, now
	return s
}
