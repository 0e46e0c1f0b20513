package window

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Change is what may have to wait.
type Change struct {
	Tenant   string
	Cluster  string
	Kind     app.OperationKind
	Auto     bool          // Muster begins it by itself
	Approved bool          // people have to approve it, or have
	Harmless bool          // it touches nothing that runs
	Takes    time.Duration // as expected
}

// reasons are those for which it would wait.
func (c Change) reasons() []Reason {
	if c.Harmless {
		return nil
	}
	var list []Reason
	switch {
	case c.Kind == app.OperationRepair && c.Auto:
		list = append(list, AutoRepair)
	case slices.Contains(Reasons, Reason(c.Kind)):
		list = append(list, Reason(c.Kind))
	}
	if c.Approved && c.Kind != app.OperationSleep && c.Kind != app.OperationWake && c.Kind != app.OperationCompare && c.Kind != app.OperationCreate {
		list = append(list, Approved)
	}
	return list
}

// Wait is what windows mean for a change. The zero value is that they mean nothing.
type Wait struct {
	// Window is the one that it waits for, or that is open; nil where it needs none.
	Window *Opening `json:"window,omitempty"`
	// Waits reports whether the window isn't open yet.
	Waits bool `json:"waits"`
	// Overrun reports whether the change is expected to take longer than the window is open.
	Overrun bool   `json:"overrun,omitempty"`
	Text    string `json:"text"` // for people
}

// Decide says whether a change waits, by the settings that count for its cluster. It is pure. EConflict, reason window_too_short, where
// no window is ever long enough.
func (s Settings) Decide(c Change, now time.Time) (Wait, error) {
	why := c.reasons()
	if s.None() || !slices.ContainsFunc(why, func(r Reason) bool { return slices.Contains(s.AppliesTo, r) }) {
		return Wait{}, nil
	}
	o, ok := s.Fitting(now, c.Takes)
	if !ok {
		return Wait{}, &app.Error{Code: app.EConflict, Reason: "window_too_short",
			Message: fmt.Sprintf("%s is expected to take %s, which is longer than any maintenance window.", c.name(), humanize.Duration(c.Takes.Round(time.Second))),
			Hint:    "Add a longer window, or let changes overrun their window."}
	}
	w := Wait{Window: &o, Waits: o.Start.After(now)}
	begin := o.Start
	if !w.Waits {
		begin = now
	}
	w.Overrun = o.End.Sub(begin) < c.Takes
	switch {
	case w.Waits && c.Approved:
		w.Text = fmt.Sprintf("Once approved, this %s waits for the maintenance window: %s.", c.noun(), o.Text())
	case w.Waits:
		w.Text = fmt.Sprintf("This %s waits for the maintenance window: %s.", c.noun(), o.Text())
	case c.Approved:
		w.Text = fmt.Sprintf("Starts in a maintenance window. The current one: %s.", o.Text())
	default:
		w.Text = fmt.Sprintf("Starts now. The maintenance window is open: %s.", o.Text())
	}
	if w.Overrun {
		w.Text += fmt.Sprintf(" It is expected to take %s, so it can run past the end of the window.", humanize.Duration(c.Takes.Round(time.Second)))
	}
	return w, nil
}

func (c Change) noun() string {
	switch c.Kind {
	case app.OperationUpgrade, app.OperationRepair, app.OperationRestart:
		return string(c.Kind)
	}
	return "change"
}

func (c Change) name() string { return humanize.Upper("the " + c.noun()) }
