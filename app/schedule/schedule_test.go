package schedule

import (
	"strings"
	"testing"
	"time"

	"muster/app"
)

func TestSchedulesGoByTheClockOfTheirZone(t *testing.T) {
	at := func(text string) time.Time {
		t.Helper()
		m, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct{ name, cron, zone, after, want string }{
		{"a weekday evening", "0 19 * * 1-5", "UTC", "2026-11-20T19:00:00Z", "2026-11-23T19:00:00Z"}, // a Friday
		{"by another zone", "0 7 * * *", "Europe/Berlin", "2026-11-21T00:00:00Z", "2026-11-21T06:00:00Z"},
		{"in summer", "0 7 * * *", "Europe/Berlin", "2026-07-01T00:00:00Z", "2026-07-01T05:00:00Z"},
		{"the day before the clock jumps", "30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", "2026-03-28T01:30:00Z"},
		{"the hour that is jumped over", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"}, // 3:30 there
		{"the day after", "30 2 * * *", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-30T00:30:00Z"},
		{"the first of two", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"not the second of two", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		{"asked between the two", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-26T01:30:00Z"},
		{"after the hour that comes twice", "0 3 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z"},
		{"west of Greenwich, jumped over", "15 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-08T07:15:00Z"}, // 3:15 there
		{"west of Greenwich, twice", "15 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", "2026-11-01T05:15:00Z"},
		{"half an hour", "0 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"}, // 2:00 is 2:30 there
		{"a leap day", "0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"names", "0 19 * * mon-fri", "UTC", "2026-11-20T19:00:00Z", "2026-11-23T19:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Schedule{Sleep: c.cron, Zone: c.zone}
			if err := s.Check(at("2026-01-01T00:00:00Z")); err != nil {
				t.Fatal(err)
			}
			if got := s.After(app.OperationSleep, at(c.after)); !got.Equal(at(c.want)) {
				t.Errorf("after %s it comes at %s, want %s", c.after, got.UTC().Format(time.RFC3339), c.want)
			}
		})
	}
}

// Whatever the zone: one after the other, each shows the wanted minute save where the clock jumps, and none comes twice.
func TestScheduledTimesComeOnceADay(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kathmandu", "Pacific/Apia", "Africa/Casablanca", "Antarctica/Troll"} {
		s := Schedule{Sleep: "30 2 * * *", Zone: zone}
		loc, err := s.location()
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2024, 1, 1, 0, 0, 0, 0, loc)
		for range 1100 {
			after := s.After(app.OperationSleep, at)
			if gap := after.Sub(at); gap < 21*time.Hour && at.Hour() == 2 || gap > 28*time.Hour {
				t.Fatalf("%s: after %s comes %s", zone, at, after)
			}
			at = after
		}
	}
}

func TestInvalidSchedules(t *testing.T) {
	for _, c := range []struct {
		s    Schedule
		says string
	}{
		{Schedule{Sleep: "0 25 * * *"}, "Invalid schedule"},
		{Schedule{Sleep: "0 19 * *"}, "Invalid schedule"},
		{Schedule{Sleep: "* * * * *"}, "more than once in ten minutes"},
		{Schedule{Wake: "*/5 9 * * *"}, "more than once in ten minutes"},
		{Schedule{Wake: "@every 1h"}, "only times of day and dates"},
		{Schedule{Sleep: "TZ=UTC 0 19 * * *"}, "set the time zone separately"},
		{Schedule{Sleep: "0 0 30 2 *"}, "no date ever matches"},
		{Schedule{Sleep: "0 19 * * *", Zone: "Mars/Olympus"}, "Unknown time zone"},
		{Schedule{Sleep: "0 19 * * *", Zone: "Local"}, "Unknown time zone"},
		{Schedule{Sleep: strings.Repeat("1,", 100) + "1 19 * * *"}, "too long"},
	} {
		if err := c.s.Check(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want it to say %q", c.s, err, c.says)
		}
	}
}

func TestNextTimesAlternate(t *testing.T) {
	s := Schedule{Sleep: "0 19 * * 1-5", Wake: "0 7 * * 1-5", Zone: "Europe/Berlin"}
	var got []string
	for _, x := range s.Next(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), 3) {
		got = append(got, string(x.Kind)+" "+x.At.UTC().Format("Mon 15:04"))
	}
	if text := strings.Join(got, ", "); text != "sleep Fri 18:00, wake Mon 06:00, sleep Mon 18:00" {
		t.Error(text)
	}
	kind, at := s.Latest(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 20, 18, 30, 0, 0, time.UTC))
	if kind != app.OperationSleep || at.UTC().Hour() != 18 {
		t.Errorf("what was missed last is %s at %s", kind, at)
	}
}

// A time that the clock jumps over counts after the jump also for who asks only then.
func TestAfterAJumpIsAskedInTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	asked := time.Date(2026, 3, 29, 3, 10, 0, 0, berlin)
	want := time.Date(2026, 3, 29, 3, 30, 0, 0, berlin)
	if got := (Cron{Text: "30 2 * * *", Zone: "Europe/Berlin"}).After(asked); !got.Equal(want) {
		t.Errorf("after %s comes %s, want %s", asked, got, want)
	}
	// The face 03:00 comes sooner than 02:30, which was jumped over.
	want = time.Date(2026, 3, 29, 3, 0, 0, 0, berlin)
	if got := (Cron{Text: "0,30 2-3 * * *", Zone: "Europe/Berlin"}).After(asked.Add(-11 * time.Minute)); !got.Equal(want) {
		t.Errorf("first comes %s, want %s", got, want)
	}
}
