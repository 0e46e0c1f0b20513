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

// moments are the ways in which people write a moment, and whether with its zone. A day alone begins at 0:00.
var moments = []struct {
	form  string
	zoned bool
}{{time.RFC3339, true}, {"2006-01-02T15:04Z07:00", true}, {"2006-01-02T15:04:05", false}, {"2006-01-02T15:04", false}, {"2006-01-02 15:04:05", false}, {"2006-01-02 15:04", false}, {time.DateOnly, false}}

// ParseMoment is ParseMomentIn for people whose zone isn't known: without one, times are in UTC.
func ParseMoment(text string) (time.Time, error) { return ParseMomentIn(text, time.UTC) }

// ParseMomentIn reads a moment: 2026-11-30, 2026-11-30 18:00, in a time zone, or with another one as in RFC 3339. The year is one of those
// that machines can live in. A time that clocks skip where they are set forward is refused.
func ParseMomentIn(text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, m := range moments {
		t, err := time.ParseInLocation(m.form, text, zone)
		if err != nil || t.Year() < 2000 || t.Year() >= 2300 {
			continue
		}
		if m.zoned {
			return t.UTC(), nil
		}
		wall, err := time.Parse(m.form, text)
		if _, offset := t.Zone(); err != nil || !t.Add(time.Duration(offset)*time.Second).Equal(wall) {
			where := zone.String()
			if zone == time.Local {
				where = "this computer's time zone"
			}
			return time.Time{}, &app.Error{Code: app.EInvalid, Field: "until", Message: fmt.Sprintf("%s doesn't exist in %s: clocks are set forward then.", text, where),
				Hint: "Choose an earlier or a later time."}
		}
		return t.UTC(), nil
	}
	hint := "Use a form such as 2026-11-30, 2026-11-30 18:00 or 2026-11-30T18:00:00+01:00."
	if zone == time.UTC {
		hint = "Use a form such as 2026-11-30, 2026-11-30 18:00 (UTC) or 2026-11-30T18:00:00+01:00."
	}
	return time.Time{}, &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("Invalid time %.40q.", text), Hint: hint}
}

// ParseZone returns the time zone of a name of the tz database, such as Europe/Berlin; "" is UTC.
func ParseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // which would be the server's
		return nil, &app.Error{Code: app.EInvalid, Field: "zone", Message: fmt.Sprintf("Unknown time zone %.64q.", name), Hint: "Use a name of the tz database, such as Europe/Berlin."}
	}
	return zone, nil
}
