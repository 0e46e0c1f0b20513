package template

import (
	"maps"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// leaseWarnings are how long before the end of a lease people are warned, the longest first.
var leaseWarnings = []time.Duration{24 * time.Hour, 4 * time.Hour, time.Hour, 15 * time.Minute}

// LeaseTimes is a lease that runs: since it was set last, until its end, which is zero where it has none.
type LeaseTimes struct {
	From  time.Time
	Until time.Time
}

// Warnings returns when people are warned, by how long before the end. None is earlier than half of the lease: who has
// just set an end needs no reminder of it.
func (l LeaseTimes) Warnings() []time.Duration {
	var out []time.Duration
	for _, before := range leaseWarnings {
		if !l.Until.IsZero() && before <= l.Until.Sub(l.From)/2 {
			out = append(out, before)
		}
	}
	return out
}

// NextWarning returns when the next warning after now is due, zero for none.
func (l LeaseTimes) NextWarning(now time.Time) time.Time {
	for _, before := range l.Warnings() {
		if at := l.Until.Add(-before); at.After(now) {
			return at
		}
	}
	return time.Time{}
}

// DueWarning returns the latest warning that is due at a moment, by how long before the end; 0 where none is, or where the
// lease has ended. Those before it that no one was there to give are left out.
func (l LeaseTimes) DueWarning(now time.Time) time.Duration {
	var due time.Duration
	for _, before := range l.Warnings() {
		if at := l.Until.Add(-before); !at.After(now) && now.Before(l.Until) {
			due = before
		}
	}
	return due
}

// MergeConfig lays over onto base, map by map; neither is changed.
func MergeConfig(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range over {
		b, isMap := out[k].(map[string]any)
		if o, ok := v.(map[string]any); ok && isMap {
			v = MergeConfig(b, o)
		}
		out[k] = v
	}
	return out
}

// LengthFor returns how long a new cluster may live; 0 is forever. The rules are Coopr's: without an initial lease in the
// template anything goes, with one it is also the longest.
func (l Lease) LengthFor(asked *time.Duration) (time.Duration, error) {
	switch {
	case asked == nil:
		return l.Initial, nil
	case *asked < 0:
		return 0, &app.Error{Code: app.EInvalid, Field: "lease", Message: "Lease must not be negative.", Hint: `Use a duration such as "8h", or "forever".`}
	case l.Initial == 0:
		return *asked, nil
	case *asked == 0:
		return 0, &app.Error{Code: app.EInvalid, Field: "lease", Message: "This template requires a lease that expires.",
			Hint: "Choose at most " + humanize.Duration(l.Initial) + "."}
	case *asked > l.Initial:
		return 0, &app.Error{Code: app.EInvalid, Field: "lease", Message: "Lease is longer than this template allows.",
			Hint: "Choose at most " + humanize.Duration(l.Initial) + "."}
	}
	return *asked, nil
}
