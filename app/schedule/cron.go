package schedule

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Cron is a time that comes again and again: five fields as in crontab, by the clock of a zone, with the rules of Schedule where that clock
// jumps. Field is what errors name.
type Cron struct {
	Field string
	Text  string
	Zone  string
}

// Check refuses what cannot be read, and what would happen too often.
func (c Cron) Check(now time.Time) error {
	wrong := func(why string) error {
		return &app.Error{Code: app.EInvalid, Field: c.Field, Message: fmt.Sprintf("Invalid schedule %.100q: %s.", c.Text, why),
			Hint: `Use minute, hour, day of the month, month and weekday: "0 19 * * 1-5" means 19:00 from Monday to Friday.`}
	}
	if len(c.Text) > mostCronText {
		return wrong("the text is too long")
	}
	if strings.Contains(c.Text, "TZ=") {
		return wrong("set the time zone separately")
	}
	if strings.HasPrefix(strings.TrimSpace(c.Text), "@every") {
		return wrong("only times of day and dates are supported")
	}
	if _, err := cronFields.Parse(c.Text); err != nil {
		return wrong(strings.TrimSuffix(humanize.PlainError(err), "."))
	}
	zone, err := Location(c.Zone)
	if err != nil {
		return err
	}
	at := next(c.Text, zone, now)
	if at.IsZero() {
		return wrong("no date ever matches")
	}
	for range 50 {
		after := next(c.Text, zone, at)
		if !after.IsZero() && after.Sub(at) < leastInterval {
			return wrong("it matches more than once in ten minutes")
		}
		if at = after; at.IsZero() {
			break
		}
	}
	return nil
}

// After returns when it comes next after a moment; zero for never.
func (c Cron) After(t time.Time) time.Time {
	zone, err := Location(c.Zone)
	if c.Text == "" || err != nil {
		return time.Time{}
	}
	return next(c.Text, zone, t)
}
