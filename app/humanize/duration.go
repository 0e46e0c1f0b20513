package humanize

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Duration writes a duration with its two largest units: "45 s", "2 min 30 s", "8 h", "3 d 4 h". Anything below a second, or
// negative, is "less than 1 s".
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than 1 s"
	case d < time.Minute-time.Second/2:
		return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
	case d < time.Hour-time.Second/2:
		return twoUnits(d.Round(time.Second), time.Minute, "min", time.Second, "s")
	case d < day-time.Minute/2:
		return twoUnits(d.Round(time.Minute), time.Hour, "h", time.Minute, "min")
	}
	return twoUnits(d.Round(time.Hour), day, "d", time.Hour, "h")
}

// Exact is Duration for a time that is set rather than measured, and so is written below a second too: "500 ms".
func Exact(d time.Duration) string {
	switch {
	case d <= 0 || d >= time.Second:
		return Duration(d)
	case d%time.Millisecond == 0:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	case d >= time.Microsecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + " ms"
	}
	return fmt.Sprintf("%d ns", d)
}

func twoUnits(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d %s", d/large, largeName)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return text
}

// Rough is Duration with one unit, for ages and estimates, where a second one would be noise: "3 min", "5 h", "12 d". Between one and two
// hours, and between two and seven days, it keeps both.
func Rough(d time.Duration) string {
	switch {
	case d >= 7*day:
		return fmt.Sprintf("%d d", d.Round(day)/day)
	case d >= 47*time.Hour:
		return Duration(max(d, 2*day))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", d.Round(time.Hour)/time.Hour)
	case d >= time.Hour-time.Minute/2:
		return Duration(d.Round(time.Minute))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", d.Round(time.Minute)/time.Minute)
	}
	return Duration(d)
}

// About marks a duration, as Duration or Rough write it, as an estimate: "about 3 min", and "less than 1 s" as it is.
func About(duration string) string {
	if strings.HasPrefix(duration, "less than") {
		return duration
	}
	return "about " + duration
}

// Ago says how long before now t was: "3 min ago"; "just now" within the last second and for a time to come.
func Ago(now, t time.Time) string {
	if d := now.Sub(t); d >= time.Second {
		return Rough(d) + " ago"
	}
	return "just now"
}

// DurationField writes a duration as flags, forms and catalogs take it: 45s, 1h30m, 2d; "0s" for none.
func DurationField(d time.Duration) string {
	if d != 0 && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
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
