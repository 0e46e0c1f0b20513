package template

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// LeaseRequest asks for another end of a lease: by how much it moves, counted from where it is (or from now, where it is
// over), or until when, or none at all. One of the three is set.
type LeaseRequest struct {
	By      time.Duration `json:"by,omitempty"` // below 0 shortens
	Until   time.Time     `json:"until,omitzero"`
	Forever bool          `json:"forever,omitempty"`
	// Reason says why an admin goes beyond what the template allows; no one else can.
	Reason string `json:"reason,omitempty"`
}

// LeaseOffer is how the end of a lease can be moved now, by those who may.
type LeaseOffer struct {
	Step    time.Duration `json:"step,omitempty"`    // by how much at most at once; 0: any
	Max     time.Duration `json:"max,omitempty"`     // from the creation on; 0: no limit
	By      time.Duration `json:"by,omitempty"`      // what one press of a button adds; 0: nothing can be added
	Latest  time.Time     `json:"latest,omitzero"`   // to which it can be moved at once; zero: no limit
	Forever bool          `json:"forever,omitempty"` // it can be without end
	// Refusal says why it cannot be moved at all; "" where it can.
	Refusal string `json:"refusal,omitempty"`
}

// The longest that someone may write down, which is far more than anybody means, and the least that is worth a button.
const (
	longestLease    = 100 * 365 * 24 * time.Hour
	leastExtend     = time.Minute
	MostLeaseReason = 500 // bytes
)

// Move works out the new end of a lease that now ends at was, zero for never. The rules are Coopr's: the end may come nearer,
// but not into the past; it may move away by at most a step at once, and to at most max after the creation. Unlike there, the
// step counts also where there is no max, and there a lease can also be made endless later. Beyond says which rule of the
// template is broken, which admins may do.
func (l Lease) Move(created, was, now time.Time, r LeaseRequest) (until time.Time, beyond *app.Error, err error) {
	if until, err = r.end(was, now); err != nil {
		return until, nil, err
	}
	refuse := func(message, hint string) *app.Error {
		return &app.Error{Code: app.EInvalid, Reason: "lease", Field: "lease", Message: message, Hint: hint}
	}
	base := was
	if base.Before(now) {
		base = now // what is over since a while is not held against anybody
	}
	switch {
	case until.IsZero() && !was.IsZero() && l.Max > 0:
		return until, refuse("This template requires a lease that expires.", l.most(created, was, now)), nil
	case until.IsZero() || was.IsZero():
		return until, nil, nil
	case l.Max > 0 && until.After(created.Add(l.Max)) && until.After(was):
		return until, refuse(fmt.Sprintf("This template allows a total lease of at most %s, until %s.", humanize.Duration(l.Max), app.Moment(created.Add(l.Max))),
			l.most(created, was, now)), nil
	case l.Step > 0 && until.Sub(base) > l.Step:
		return until, refuse(fmt.Sprintf("This template allows extending a lease by at most %s at a time.", humanize.Duration(l.Step)), l.most(created, was, now)), nil
	}
	return until, nil, nil
}

// end is what is asked for, whatever the template says.
func (r LeaseRequest) end(was, now time.Time) (until time.Time, err error) {
	wrong := func(message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: "lease", Message: message, Hint: hint}
	}
	set := 0
	for _, is := range []bool{r.By != 0, !r.Until.IsZero(), r.Forever} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return until, wrong("Set a duration, an end or forever, and only one of them.", `For example "4h", or a date.`)
	case r.Forever:
		return until, nil
	case r.By > longestLease || r.By < -longestLease:
		return until, wrong("Lease is too long.", "Choose a shorter one, or forever.")
	case r.By != 0 && was.IsZero():
		return until, wrong("This lease never expires, so it can't be extended or shortened.", "Set an end instead.")
	case r.By < 0:
		until = was.Add(r.By)
	case r.By > 0 && was.Before(now):
		until = now.Add(r.By)
	case r.By > 0:
		until = was.Add(r.By)
	default:
		until = r.Until.UTC()
	}
	until = until.Truncate(time.Second)
	switch {
	case !until.After(now):
		return until, wrong("Lease can't end in the past.", "To end it now, delete the cluster.")
	case until.Sub(now) > longestLease:
		return until, wrong("Lease is too long.", "Choose a shorter one, or forever.")
	}
	return until, nil
}

func (l Lease) most(created, was, now time.Time) string {
	latest, _ := l.latest(created, was, now)
	if !latest.After(now) || !latest.After(was) {
		return "Ask an admin, who can extend the lease further with a reason."
	}
	return fmt.Sprintf("Extend the lease to %s at most, or ask an admin, who can go further with a reason.", app.Moment(latest))
}

// latest returns the furthest end that is allowed now; endless where there is no limit.
func (l Lease) latest(created, was, now time.Time) (until time.Time, endless bool) {
	base := was
	if base.Before(now) {
		base = now
	}
	if l.Step > 0 {
		until = base.Add(l.Step)
	}
	if end := created.Add(l.Max); l.Max > 0 && (until.IsZero() || end.Before(until)) {
		until = end
	}
	return until.Truncate(time.Second), until.IsZero()
}

// Offer tells how the end of a lease can be moved.
func (l Lease) Offer(created, was, now time.Time) LeaseOffer {
	o := LeaseOffer{Step: l.Step, Max: l.Max, Forever: l.Max == 0 && !was.IsZero()}
	if was.IsZero() {
		return o // only nearer
	}
	latest, endless := l.latest(created, was, now)
	if !endless {
		o.Latest = latest
	}
	if o.By = l.Step; o.By == 0 {
		if o.By = l.Initial; o.By == 0 || o.By > 24*time.Hour {
			o.By = 24 * time.Hour
		}
	}
	base := was
	if base.Before(now) {
		base = now
	}
	if !endless && base.Add(o.By).After(latest) {
		o.By = latest.Sub(base).Truncate(time.Minute)
	}
	if o.By < leastExtend {
		o.By = 0
	}
	return o
}
