package phrase

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Words that all faces say in the same way.

// Span says how long something takes, with at most two units: "45 s", "3 min", "2 h 10 min", "3 d 4 h". Anything
// under a second is "less than 1 s".
func Span(d time.Duration) string {
	day := 24 * time.Hour
	switch {
	case d < time.Second:
		return "less than 1 s"
	case d < 2*time.Minute:
		return strconv.Itoa(int(d.Round(time.Second)/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Round(time.Minute)/time.Minute)) + " min"
	case d < day:
		d = d.Round(time.Minute)
		return twoUnits(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "min")
	}
	d = d.Round(time.Hour)
	return twoUnits(int(d/day), "d", int(d%day/time.Hour), "h")
}

// AboutLength is a length that is only roughly known, as one of the functions here says it.
func AboutLength(length string) string {
	if strings.HasPrefix(length, "less than") {
		return length // "about less than" is no English
	}
	return "about " + length
}

func twoUnits(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unitA)
	}
	return fmt.Sprintf("%d %s %d %s", a, unitA, b, unitB)
}

// Rough is Span with less detail, for places where that would be noise: "5 h", "2 d 4 h", "12 d".
func Rough(d time.Duration) string {
	switch {
	case d >= 7*24*time.Hour:
		return fmt.Sprintf("%d d", int(d.Round(24*time.Hour)/(24*time.Hour)))
	case d >= 47*time.Hour:
		return Span(max(d, 48*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour)/time.Hour))
	}
	return Span(d)
}

// Cost writes an amount in the account's own currency, which we do not know the sign of. Small amounts keep enough
// digits to tell them from nothing; 0 means unknown and is a dash.
func Cost(x float64) string {
	switch {
	case x <= 0:
		return "–"
	case x < 0.1:
		text := strconv.FormatFloat(x, 'f', 4, 64)
		return text[:4] + strings.TrimRight(text[4:], "0")
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

func LengthWords(d time.Duration) string {
	if d == 0 {
		return "any"
	}
	if d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
