package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app"
)

// ParseLength reads a duration as people write it: 90m, 4h, 1d12h, 2w; a minus in front makes it negative. Weeks have
// seven days, days 24 hours. EInvalid says what would be right.
func ParseLength(text string) (time.Duration, error) {
	rest, negative := strings.CutPrefix(strings.TrimSpace(text), "-")
	units := map[byte]time.Duration{'w': 7 * 24 * time.Hour, 'd': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}
	wrong := &app.Error{Code: app.EInvalid, Field: "lease", Message: fmt.Sprintf("Invalid duration %.40q.", text), Hint: "Use a form such as 90m, 4h, 1d12h or 2w."}
	var total time.Duration
	last := longestLease + 1
	for rest != "" {
		i := 0
		for i < len(rest) && '0' <= rest[i] && rest[i] <= '9' {
			i++
		}
		n, err := strconv.ParseInt(rest[:i], 10, 64)
		if err != nil || i == len(rest) || i > 9 {
			return 0, wrong
		}
		unit, known := units[rest[i]]
		if !known || unit >= last || time.Duration(n) > longestLease/unit {
			return 0, wrong
		}
		total, last, rest = total+time.Duration(n)*unit, unit, rest[i+1:]
	}
	if last > longestLease || total > longestLease {
		return 0, wrong
	}
	if negative {
		total = -total
	}
	return total, nil
}

// moments are the ways in which people write a moment. Those without a zone are in UTC; a day alone begins at 0:00.
var moments = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"}

// ParseMoment reads a moment: 2026-11-30, 2026-11-30 18:00 (in UTC), or with a zone as in RFC 3339. The year is one of those that
// machines can live in.
func ParseMoment(text string) (time.Time, error) {
	for _, form := range moments {
		if t, err := time.Parse(form, strings.TrimSpace(text)); err == nil && t.Year() >= 2000 && t.Year() < 2300 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("Invalid time %.40q.", text), Hint: "Use a form such as 2026-11-30, 2026-11-30 18:00 (UTC) or 2026-11-30T18:00:00+01:00."}
}
