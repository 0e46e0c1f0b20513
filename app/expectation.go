package app

import (
	"fmt"
	"strings"
	"time"

	"muster/app/humanize"
)

// Expectation is how long something will take, and how that is known. Low and High are between what four of five times lie.
type Expectation struct {
	Typical time.Duration `json:"typical"`
	Low     time.Duration `json:"low"`
	High    time.Duration `json:"high"`
	// Estimated is how much of Typical is estimated without history.
	Estimated time.Duration `json:"estimated"`
	// Runs is how often that was done of which least is known, guesses aside; 0 where all is a guess.
	Runs int64 `json:"runs"`
}

// About says how long it takes: "about 2 min 10 s (2 to 3 min)". It is "" where nothing takes time.
func (e Expectation) About() string {
	if e.Typical <= 0 {
		return ""
	}
	text := humanize.About(expectedLength(e.Typical))
	if low, high := expectedLength(e.Low), expectedLength(e.High); low != high && e.High > 0 {
		if strings.HasPrefix(low, "less than") {
			return text + " (up to " + high + ")"
		}
		text += " (" + low + " to " + high + ")"
	}
	return text
}

// From says how that is known: "from 37 earlier runs".
func (e Expectation) From() string {
	switch {
	case e.Typical <= 0:
		return ""
	case e.Runs == 0 || e.Estimated >= e.Typical:
		return "estimated (no history yet)"
	case e.Estimated >= time.Second && e.Estimated*20 >= e.Typical:
		return fmt.Sprintf("from %s; %s estimated (no history yet)", runs(e.Runs), expectedLength(e.Estimated))
	}
	return "from " + runs(e.Runs)
}

// Text is About and From in one; "" where nothing takes time.
func (e Expectation) Text() string {
	if e.Typical <= 0 {
		return ""
	}
	return e.About() + "; " + e.From()
}

func runs(n int64) string {
	return humanize.Count(int(n), "earlier run")
}

// expectedLength is Length with no more digits than an expectation has.
func expectedLength(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than 1 s"
	case d < time.Minute:
		d = d.Round(time.Second)
	case d < 10*time.Minute:
		d = d.Round(10 * time.Second)
	case d < time.Hour:
		d = d.Round(time.Minute)
	default:
		d = d.Round(5 * time.Minute)
	}
	return humanize.Duration(d)
}
