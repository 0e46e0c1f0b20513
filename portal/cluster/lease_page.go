package cluster

import (
	"time"

	"muster/app/humanize"
	"muster/app/lease"
	"muster/portal/page"

	"github.com/a-h/templ"
)

// LeaseBox is the lease of a cluster: when it expires, how it can be changed, and what may block its expiry.
type LeaseBox struct {
	Now      time.Time
	Outlook  lease.Outlook
	May      bool    // the actor can change it
	Admin    bool    // beyond the template's limit too, with a reason
	Cost     float64 // per hour, in Currency
	Currency string
}

// Sentence says when the lease expires, or why it doesn't; "" where that is Coming.
func (l LeaseBox) Sentence() string {
	o := l.Outlook
	switch {
	case o.Deleted:
		return "This cluster is deleted."
	case o.Deleting && !o.Until.IsZero() && o.Expired:
		return "The lease expired " + humanize.Ago(l.Now, o.Until) + ". Muster is deleting the cluster."
	case o.Deleting:
		return "Muster is deleting this cluster."
	case o.Until.IsZero():
		return "No expiry. The cluster runs until someone deletes it."
	case o.Expired:
		return "The lease expired " + humanize.Ago(l.Now, o.Until) + ". Muster deletes the cluster in a few seconds unless you extend the lease."
	}
	return ""
}

// tick keeps the text about the end current.
func (l LeaseBox) tick() templ.Attributes {
	o := l.Outlook
	switch {
	case o.Deleted || o.Until.IsZero() || o.Deleting && !o.Expired:
		return nil
	case o.Expired:
		return page.TickAgo(o.Until)
	}
	return page.TickUntil(o.Until)
}

// Coming reports whether the lease has a time of expiry that is still to come.
func (l LeaseBox) Coming() bool {
	o := l.Outlook
	return !o.Deleted && !o.Deleting && !o.Until.IsZero() && !o.Expired
}

// Rule states the template's limits.
func (l LeaseBox) Rule() string {
	o := l.Outlook.Offer
	switch {
	case o.Max > 0 && o.Step > 0:
		return "Extend by up to " + humanize.Duration(o.Step) + " at a time, to at most " + humanize.Duration(o.Max) + " after creation."
	case o.Max > 0:
		return "Maximum lease: " + humanize.Duration(o.Max) + " after creation."
	case o.Step > 0:
		return "Extend by up to " + humanize.Duration(o.Step) + " at a time."
	}
	return ""
}

// Movable reports whether the actor can change the lease.
func (l LeaseBox) Movable() bool { return l.May && l.Outlook.Offer.Refusal == "" }

// By is the button's duration as a form sends it.
func (l LeaseBox) By() string {
	return humanize.DurationField(l.Outlook.Offer.By.Truncate(time.Minute))
}

// Price is what an extension by the button costs; "" if unknown.
func (l LeaseBox) Price() string {
	if l.Cost <= 0 || l.Outlook.Offer.By <= 0 {
		return ""
	}
	return humanize.Money(l.Cost*l.Outlook.Offer.By.Hours(), l.Currency)
}

// DateField is the value of a datetime-local input, in UTC; live.js puts Moment into the browser's zone instead.
func (l LeaseBox) DateField(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04")
}

// Moment is the same time with its zone; "" for none.
func (l LeaseBox) Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return page.Machine(t)
}

// warned says when a warning was or will be sent.
func (l LeaseBox) warned(w lease.Warned) string {
	switch {
	case !w.SentAt.IsZero():
		return "sent " + humanize.Ago(l.Now, w.SentAt)
	case w.Skipped:
		return "not sent in time"
	case w.At.After(l.Now):
		return "in " + humanize.Rough(w.At.Sub(l.Now))
	}
	return "now"
}

// warnedWords is a warning within the list of all.
func (l LeaseBox) warnedWords(i int) string {
	all := l.Outlook.Warnings
	text := humanize.Duration(all[i].Before) + " (" + l.warned(all[i]) + ")"
	if i < len(all)-1 {
		return text + ","
	}
	return text + "."
}

// warnedTick keeps warned current.
func (l LeaseBox) warnedTick(w lease.Warned) templ.Attributes {
	if w.SentAt.IsZero() && w.At.After(l.Now) && !w.Skipped {
		return page.TickUntil(w.At)
	}
	return page.TickAgo(w.SentAt)
}
