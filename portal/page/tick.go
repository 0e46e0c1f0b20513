package page

import (
	"strconv"
	"time"

	"muster/app"

	"github.com/a-h/templ"
)

// An element with the attributes of one of these functions has a duration in its text, and live.js keeps it current as humanize would
// write it, so that an open page needn't be read again. The first duration counts. None of them has attributes for a zero time.

// TickAgo is for "3 min ago" and "just now". A time element needs none.
func TickAgo(t time.Time) templ.Attributes { return tick("ago", t) }

// TickUntil is for "in 3 min" and "about 3 min", as humanize.Rough writes it.
func TickUntil(t time.Time) templ.Attributes { return tick("until", t) }

// TickUntilExactly is for "in 3 min 20 s", as humanize.Duration writes it.
func TickUntilExactly(t time.Time) templ.Attributes { return tick("until-exactly", t) }

// TickFor is for "3 min 20 s so far" and "for 3 min 20 s", as humanize.Duration writes it.
func TickFor(since time.Time) templ.Attributes { return tick("for", since) }

// TickLeft is for an estimate of the time left, "about 3 min", which stays at least a tenth of it: work that takes longer isn't done.
func TickLeft(now time.Time, left time.Duration) templ.Attributes {
	a := TickUntil(now.Add(left))
	a["data-least"] = strconv.FormatInt(max(left/10, time.Second).Milliseconds(), 10)
	return a
}

// TickLease is for LeaseEnd.
func TickLease(now time.Time, c app.Cluster) templ.Attributes {
	switch {
	case c.Status == app.ClusterDeleted:
		return nil
	case c.ExpiresAt.After(now):
		return TickUntil(c.ExpiresAt)
	}
	return TickAgo(c.ExpiresAt)
}

// nowOf tells live.js the server's time, as the browser's clock may be wrong.
func nowOf(f Frame) templ.Attributes {
	if f.Now.IsZero() {
		return nil
	}
	return templ.Attributes{"data-now": strconv.FormatInt(f.Now.UnixMilli(), 10)}
}

func tick(kind string, at time.Time) templ.Attributes {
	if at.IsZero() {
		return nil
	}
	return templ.Attributes{"data-tick": kind, "data-at": strconv.FormatInt(at.UnixMilli(), 10)}
}
