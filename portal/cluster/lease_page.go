package cluster

import (
	"strings"
	"time"

	"muster/app/humanize"
	"muster/app/operation"
)

// LeaseBox is the lease of a cluster: when it ends, how it can be moved, and what would keep it from ending.
type LeaseBox struct {
	Now     time.Time
	Outlook operation.LeaseOutlook
	May     bool    // the actor may move it
	Admin   bool    // also beyond what the template allows, with a reason
	Cost    float64 // per hour
}

// Sentence says when the lease ends.
func (l LeaseBox) Sentence() string {
	o := l.Outlook
	switch {
	case o.Gone:
		return "The cluster is gone."
	case o.Deleting && !o.Until.IsZero() && o.Over:
		return "The lease ended " + humanize.Rough(l.Now.Sub(o.Until)) + " ago, and the cluster is being deleted."
	case o.Deleting:
		return "The cluster is being deleted."
	case o.Until.IsZero():
		return "The lease has no end: the cluster stays until somebody deletes it."
	case o.Over:
		return "The lease ended " + humanize.Rough(l.Now.Sub(o.Until)) + " ago. The delete begins within seconds; until then it can be extended."
	}
	return "Ends in " + humanize.Rough(o.Until.Sub(l.Now)) + ", at " + l.At(o.Until) + "."
}

// At writes a moment to the minute.
func (l LeaseBox) At(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04") + " UTC" }

// Rule says what the template allows.
func (l LeaseBox) Rule() string {
	o := l.Outlook.Offer
	switch {
	case o.Max > 0 && o.Step > 0:
		return "By at most " + humanize.Duration(o.Step) + " at once, and at most " + humanize.Duration(o.Max) + " after it was made."
	case o.Max > 0:
		return "At most " + humanize.Duration(o.Max) + " after it was made."
	case o.Step > 0:
		return "By at most " + humanize.Duration(o.Step) + " at once."
	}
	return ""
}

// Movable tells whether there is anything to press.
func (l LeaseBox) Movable() bool { return l.May && l.Outlook.Offer.Refusal == "" }

// By is the button's length as a form sends it.
func (l LeaseBox) By() string { return lengthField(l.Outlook.Offer.By) }

// Price is what a press of the button would cost; "" where that is not known.
func (l LeaseBox) Price() string {
	if l.Cost <= 0 || l.Outlook.Offer.By <= 0 {
		return ""
	}
	return humanize.Cost(l.Cost * l.Outlook.Offer.By.Hours())
}

// lengthField is what app.ParseLength reads.
func lengthField(d time.Duration) string {
	text := d.Truncate(time.Minute).String() // such as 96h0m0s
	return text
}

// DateField is a moment for an input of the type datetime-local, whose zone is UTC here.
func (l LeaseBox) DateField(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04")
}

// warned says of a warning whether it was given.
func (l LeaseBox) warned(w operation.LeaseWarned) string {
	switch {
	case !w.SentAt.IsZero():
		return "told " + humanize.Ago(l.Now, w.SentAt)
	case w.Skipped:
		return "nobody was there to tell it in time"
	case w.At.After(l.Now):
		return "in " + humanize.Rough(w.At.Sub(l.Now))
	}
	return "now"
}

// warnedSentence lists the warnings before the end.
func (l LeaseBox) warnedSentence() string {
	var all []string
	for _, w := range l.Outlook.Warnings {
		all = append(all, humanize.Duration(w.Before)+" ("+l.warned(w)+")")
	}
	return "Warnings before the end: " + strings.Join(all, ", ") + "."
}
