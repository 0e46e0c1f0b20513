package window

import (
	"strings"
	"testing"
	"time"

	"muster/app"
)

func at(t *testing.T, zone, text string) time.Time {
	t.Helper()
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	v, err := time.ParseInLocation("2006-01-02 15:04", text, z)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOpenings(t *testing.T) {
	berlin := func(start, length string) Window { return Window{Start: start, Length: length, Zone: "Europe/Berlin"} }
	for _, c := range []struct {
		name    string
		windows []Window
		now     string // in Berlin
		want    string
	}{
		{"the next Saturday", []Window{berlin("Sat 02:00", "4h")}, "2026-11-27 12:00", "Sat 28 Nov 2026, 02:00 to 06:00 (Europe/Berlin)"},
		{"open now", []Window{berlin("Sat 02:00", "4h")}, "2026-11-28 05:59", "Sat 28 Nov 2026, 02:00 to 06:00 (Europe/Berlin)"},
		{"over a moment ago", []Window{berlin("Sat 02:00", "4h")}, "2026-11-28 06:00", "Sat 5 Dec 2026, 02:00 to 06:00 (Europe/Berlin)"},
		{"opens this minute", []Window{berlin("Sat 02:00", "4h")}, "2026-11-28 02:00", "Sat 28 Nov 2026, 02:00 to 06:00 (Europe/Berlin)"},
		{"full names, any case", []Window{berlin("SATURDAY 2:00", "4h")}, "2026-11-27 12:00", "Sat 28 Nov 2026, 02:00 to 06:00 (Europe/Berlin)"},
		{"a range of days over the weekend", []Window{berlin("Fri-Mon 22:00", "1h")}, "2026-11-29 23:30", "Mon 30 Nov 2026, 22:00 to 23:00 (Europe/Berlin)"},
		{"daily", []Window{berlin("daily 03:00", "30m")}, "2026-11-27 12:00", "Sat 28 Nov 2026, 03:00 to 03:30 (Europe/Berlin)"},
		{"crontab: the first of the month", []Window{berlin("0 1 1 * *", "2h")}, "2026-11-27 12:00", "Tue 1 Dec 2026, 01:00 to 03:00 (Europe/Berlin)"},
		{"over midnight", []Window{berlin("Sat 22:00", "8h")}, "2026-11-27 12:00", "Sat 28 Nov 2026, 22:00 to Sun 29 Nov 06:00 (Europe/Berlin)"},
		{"UTC where no zone is set", []Window{{Start: "Sat 02:00", Length: "4h"}}, "2026-11-27 12:00", "Sat 28 Nov 2026, 02:00 to 06:00 (UTC)"},
		{"the soonest of several", []Window{berlin("Sun 02:00", "4h"), berlin("Sat 02:00", "4h")}, "2026-11-27 12:00",
			"Sat 28 Nov 2026, 02:00 to 06:00 (Europe/Berlin)"},
		{"two without a gap are one", []Window{berlin("Sat 00:00", "1d"), berlin("Sun 00:00", "6h")}, "2026-11-27 12:00",
			"Sat 28 Nov 2026, 00:00 to Sun 29 Nov 06:00 (Europe/Berlin)"},
		// On 28 March 2027, 02:00 becomes 03:00: the window begins then, and lasts as long as ever.
		{"in the hour that is left out", []Window{berlin("Sun 02:00", "4h")}, "2027-03-27 12:00", "Sun 28 Mar 2027, 03:00 to 07:00 (Europe/Berlin)"},
		{"in the middle of it", []Window{berlin("Sun 02:30", "1h")}, "2027-03-27 12:00", "Sun 28 Mar 2027, 03:30 to 04:30 (Europe/Berlin)"},
		{"over the hour that is left out", []Window{berlin("Sun 01:00", "3h")}, "2027-03-27 12:00", "Sun 28 Mar 2027, 01:00 to 05:00 (Europe/Berlin)"},
		// On 31 October 2027, 03:00 becomes 02:00: what comes twice counts the first time.
		{"in the hour that comes twice", []Window{berlin("Sun 02:30", "1h")}, "2027-10-30 12:00", "Sun 31 Oct 2027, 02:30 to 02:30 (Europe/Berlin)"},
		{"after the hour that comes twice", []Window{berlin("Sun 01:00", "4h")}, "2027-10-30 12:00", "Sun 31 Oct 2027, 01:00 to 04:00 (Europe/Berlin)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Settings{Windows: c.windows}
			if err := s.Check(at(t, "Europe/Berlin", c.now)); err != nil {
				t.Fatal(err)
			}
			o, ok := s.Next(at(t, "Europe/Berlin", c.now))
			if !ok || o.Text() != c.want {
				t.Errorf("got %s, want %s", o.Text(), c.want)
			}
		})
	}
}

// Whatever the clock does, a window is as long as it is set to be, openings don't overlap, and each comes after the one before.
func TestOpeningsFollowEachOther(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"} {
		s := Settings{Windows: []Window{{Start: "daily 02:30", Length: "45m", Zone: zone}, {Start: "30 14 * * 1-5", Length: "2h", Zone: zone}}}
		now, last := at(t, zone, "2026-01-01 00:00"), time.Time{}
		for range 700 {
			o, ok := s.Next(now)
			if !ok || o.Start.Before(last) || o.End.Sub(o.Start) != 45*time.Minute && o.End.Sub(o.Start) != 2*time.Hour {
				t.Fatalf("%s: after %s comes %s to %s", zone, last, o.Start, o.End)
			}
			for _, in := range []time.Time{o.Start, o.End.Add(-time.Second)} {
				if again, _ := s.Next(in); !again.Start.Equal(o.Start) {
					t.Fatalf("%s: at %s, %s is open", zone, in, again.Text())
				}
			}
			now, last = o.End, o.End
		}
	}
}

func TestWhatWaits(t *testing.T) {
	weekly := Settings{Windows: []Window{{Start: "Sat 02:00", Length: "4h"}}}.Normal()
	friday, saturday := at(t, "UTC", "2026-11-27 12:00"), at(t, "UTC", "2026-11-28 03:00")
	everything := weekly
	everything.AppliesTo = Reasons
	strict := weekly
	strict.Overrun = OverrunWait
	for _, c := range []struct {
		name    string
		s       Settings
		change  Change
		now     time.Time
		waits   bool
		overrun bool
		text    string
	}{
		{"an upgrade", weekly, Change{Kind: app.OperationUpgrade}, friday, true, false, "This upgrade waits for the maintenance window: Sat 28 Nov 2026, 02:00 to 06:00 (UTC)."},
		{"an upgrade in the window", weekly, Change{Kind: app.OperationUpgrade}, saturday, false, false, "Starts now."},
		{"an upgrade without windows", Settings{}.Normal(), Change{Kind: app.OperationUpgrade}, friday, false, false, ""},
		{"a repair", weekly, Change{Kind: app.OperationRepair}, friday, true, false, "This repair waits"},
		{"a repair by Muster", weekly, Change{Kind: app.OperationRepair, Auto: true}, friday, true, false, "This repair waits"},
		{"a repair of machines that are gone", weekly, Change{Kind: app.OperationRepair, Auto: true, Harmless: true}, friday, false, false, ""},
		{"a restart", weekly, Change{Kind: app.OperationRestart}, friday, false, false, ""},
		{"a restart, as set", everything, Change{Kind: app.OperationRestart}, friday, true, false, "This restart waits"},
		{"a growth that needs approval", weekly, Change{Kind: app.OperationResize, Approved: true}, friday, true, false, "Once approved, this change waits"},
		{"a sleep that needs approval", everything, Change{Kind: app.OperationSleep, Approved: true}, friday, false, false, ""},
		{"a comparison that needs approval", everything, Change{Kind: app.OperationCompare, Approved: true}, friday, false, false, ""},
		{"what takes longer than the window", weekly, Change{Kind: app.OperationUpgrade, Takes: 5 * time.Hour}, friday, true, true,
			"expected to take 5 h, so it can run past the end"},
		{"what takes longer than what is left", weekly, Change{Kind: app.OperationUpgrade, Takes: 3*time.Hour + time.Minute}, saturday, false, true,
			"run past the end"},
		{"what takes longer than what is left, and may not", strict, Change{Kind: app.OperationUpgrade, Takes: 3*time.Hour + time.Minute}, saturday, true,
			false, "Sat 5 Dec 2026"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := c.s.Decide(c.change, c.now)
			if err != nil || w.Waits != c.waits || w.Overrun != c.overrun || !strings.Contains(w.Text, c.text) || c.text == "" && w.Window != nil {
				t.Errorf("%+v, %v", w, err)
			}
		})
	}
	if _, err := strict.Decide(Change{Kind: app.OperationUpgrade, Takes: 5 * time.Hour}, friday); app.AsError(err).Reason != "window_too_short" {
		t.Errorf("no window is long enough: %v", err)
	}
}

func TestWrongWindows(t *testing.T) {
	one := func(w Window) Settings { return Settings{Windows: []Window{w}} }
	many := Settings{}
	for range MostWindows + 1 {
		many.Windows = append(many.Windows, Window{Start: "Sat 02:00", Length: "1h"})
	}
	for _, c := range []struct {
		name  string
		s     Settings
		field string
		says  string
	}{
		{"no start", one(Window{Length: "4h"}), "windows[0].start", "The start is missing."},
		{"no weekday", one(Window{Start: "Someday 02:00", Length: "4h"}), "windows[0].start", `"Someday" isn't a weekday`},
		{"no time", one(Window{Start: "Sat 25:00", Length: "4h"}), "windows[0].start", `"25:00" isn't a time of day`},
		{"a word too few", one(Window{Start: "Sat", Length: "4h"}), "windows[0].start", "expected weekdays and a time"},
		{"a crontab that is none", one(Window{Start: "a b c d e", Length: "4h"}), "windows[0].start", "Invalid schedule"},
		{"too often", one(Window{Start: "* * * * *", Length: "4h"}), "windows[0].start", "more than once in ten minutes"},
		{"never", one(Window{Start: "0 0 30 2 *", Length: "4h"}), "windows[0].start", "no date ever matches"},
		{"no zone", one(Window{Start: "Sat 02:00", Length: "4h", Zone: "Mars"}), "windows[0].zone", `Unknown time zone "Mars"`},
		{"no length", one(Window{Start: "Sat 02:00"}), "windows[0].length", "Invalid length"},
		{"too short", one(Window{Start: "Sat 02:00", Length: "1m"}), "windows[0].length", "isn't supported"},
		{"too long", one(Window{Start: "Sat 02:00", Length: "2w"}), "windows[0].length", "isn't supported"},
		{"too many", many, "windows", "21 windows are too many"},
		{"an unknown kind", Settings{AppliesTo: []Reason{"delete"}}, "applies_to", `Unknown kind of change "delete"`},
		{"an unknown choice", Settings{Overrun: "maybe"}, "overrun", "Unknown choice"},
		{"a long text", one(Window{Start: strings.Repeat("Sat,", 200) + "Sat 02:00", Length: "4h"}), "windows[0].start", "Invalid start"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := app.AsError(c.s.Check(at(t, "UTC", "2026-11-27 12:00")))
			if e == nil || e.Code != app.EInvalid || e.Field != c.field || !strings.Contains(e.Message, c.says) || e.Hint == "" {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestEffectiveWindows(t *testing.T) {
	of := func(start string, locked bool) *Set {
		return &Set{Settings: Settings{Windows: []Window{{Start: start, Length: "1h"}}, Locked: locked}}
	}
	for _, c := range []struct {
		name   string
		kept   Kept
		source Source
	}{
		{"none", Kept{}, FromNowhere},
		{"the tenant's", Kept{Tenant: of("Sat 02:00", false)}, FromTenant},
		{"the cluster's own", Kept{Tenant: of("Sat 02:00", false), Own: of("Sun 02:00", false)}, FromCluster},
		{"the tenant's, locked", Kept{Tenant: of("Sat 02:00", true), Own: of("Sun 02:00", false)}, FromTenant},
	} {
		if _, source := c.kept.Effective(); source != c.source {
			t.Errorf("%s: from %s", c.name, source)
		}
	}
}
