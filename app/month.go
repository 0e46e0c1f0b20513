package app

import (
	"time"
)

// Month is a month of the calendar in UTC: from Start up to End, which is the start of the next.
type Month struct{ Start, End time.Time }

// MonthOf returns the month that a moment is in.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	start := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	return Month{start, start.AddDate(0, 1, 0)}
}

// Next is the month after it.
func (m Month) Next() Month { return MonthOf(m.End) }

// Name is such as 2026-11.
func (m Month) Name() string { return m.Start.Format("2006-01") }

// Text is such as November 2026.
func (m Month) Text() string { return m.Start.Format("January 2006") }

// Overlap is how much of from..until lies in a..b; a zero until has no end.
func Overlap(from, until, a, b time.Time) time.Duration {
	if from.After(a) {
		a = from
	}
	if !until.IsZero() && until.Before(b) {
		b = until
	}
	return max(b.Sub(a), 0)
}

func Moment(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04") + " UTC" }
