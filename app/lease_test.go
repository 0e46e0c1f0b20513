package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestLeaseMoves(t *testing.T) {
	const h = time.Hour
	created := noon.Add(-10 * h)
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	var never time.Time
	for name, c := range map[string]struct {
		rules  template.Lease
		was    time.Time
		ask    template.LeaseRequest
		want   time.Time
		beyond string // what the template has against it
		wrong  string // what no one may
	}{
		"by a bit":                          {template.Lease{}, at(2 * h), template.LeaseRequest{By: 4 * h}, at(6 * h), "", ""},
		"until":                             {template.Lease{}, at(2 * h), template.LeaseRequest{Until: at(9 * h)}, at(9 * h), "", ""},
		"forever, without a max":            {template.Lease{}, at(2 * h), template.LeaseRequest{Forever: true}, never, "", ""},
		"forever, with a step and no max":   {template.Lease{Step: h}, at(2 * h), template.LeaseRequest{Forever: true}, never, "", ""},
		"forever, with a max":               {template.Lease{Max: 24 * h}, at(2 * h), template.LeaseRequest{Forever: true}, never, "requires a lease that expires", ""},
		"forever stays forever":             {template.Lease{Max: 24 * h}, never, template.LeaseRequest{Forever: true}, never, "", ""},
		"an end for what had none":          {template.Lease{Max: 24 * h, Step: h}, never, template.LeaseRequest{Until: at(99 * h)}, at(99 * h), "", ""},
		"by more, of what has no end":       {template.Lease{}, never, template.LeaseRequest{By: h}, never, "", "never expires"},
		"one step":                          {template.Lease{Step: 4 * h}, at(2 * h), template.LeaseRequest{By: 4 * h}, at(6 * h), "", ""},
		"more than a step":                  {template.Lease{Step: 4 * h}, at(2 * h), template.LeaseRequest{By: 4*h + time.Second}, at(6*h + time.Second), "at most 4 h at a time", ""},
		"more than a step, with a max":      {template.Lease{Step: 4 * h, Max: 240 * h}, at(2 * h), template.LeaseRequest{Until: at(7 * h)}, at(7 * h), "at most 4 h at a time", ""},
		"to the max, counted from creation": {template.Lease{Max: 24 * h}, at(2 * h), template.LeaseRequest{Until: at(14 * h)}, at(14 * h), "", ""},
		"past the max":                      {template.Lease{Max: 24 * h}, at(2 * h), template.LeaseRequest{By: 12*h + time.Minute}, at(14*h + time.Minute), "at most 1 d", ""},
		"shorter":                           {template.Lease{Max: 24 * h, Step: h}, at(9 * h), template.LeaseRequest{By: -8 * h}, at(h), "", ""},
		"shorter, and still past the max":   {template.Lease{Max: 12 * h}, at(30 * h), template.LeaseRequest{Until: at(20 * h)}, at(20 * h), "", ""},
		"into the past":                     {template.Lease{}, at(2 * h), template.LeaseRequest{By: -2 * h}, never, "", "in the past"},
		"until before now":                  {template.Lease{}, at(2 * h), template.LeaseRequest{Until: at(-time.Minute)}, never, "", "in the past"},
		"over, but not yet deleted":         {template.Lease{Step: 4 * h, Max: 48 * h}, at(-h), template.LeaseRequest{By: 4 * h}, at(4 * h), "", ""},
		"over, and past the max":            {template.Lease{Step: 4 * h, Max: 10 * h}, at(-h), template.LeaseRequest{By: h}, at(h), "at most 10 h", ""},
		"nothing":                           {template.Lease{}, at(h), template.LeaseRequest{}, never, "", "one of them"},
		"two things":                        {template.Lease{}, at(h), template.LeaseRequest{By: h, Forever: true}, never, "", "one of them"},
		"for centuries":                     {template.Lease{}, at(h), template.LeaseRequest{By: 200 * 365 * 24 * h}, never, "", "too long"},
		"until a far year":                  {template.Lease{}, at(h), template.LeaseRequest{Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, never, "", "too long"},
		"a moment in another zone":          {template.Lease{}, at(h), template.LeaseRequest{Until: at(3 * h).In(time.FixedZone("x", 7200))}, at(3 * h), "", ""},
	} {
		until, beyond, err := c.rules.Move(created, c.was, noon, c.ask)
		switch {
		case c.wrong != "":
			if app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %q", name, err, c.wrong)
			}
		case err != nil || !until.Equal(c.want):
			t.Errorf("%s: until %v (%v), want %v", name, until, err, c.want)
		case (beyond != nil) != (c.beyond != "") || beyond != nil && !strings.Contains(beyond.Message, c.beyond):
			t.Errorf("%s: the template has %v against it, want %q", name, beyond, c.beyond)
		}
	}
}

// What is offered must be allowed, and anything more must not be.
func TestLeaseOffers(t *testing.T) {
	const h = time.Hour
	for _, rules := range []template.Lease{{}, {Step: 4 * h}, {Max: 24 * h}, {Step: 4 * h, Max: 24 * h}, {Initial: 2 * h}, {Initial: 2 * h, Max: 12*h + 30*time.Second, Step: h}} {
		for _, left := range []time.Duration{-2 * h, time.Minute, h, 13 * h, 40 * h} {
			created, was := noon.Add(-10*h), noon.Add(left)
			name := fmt.Sprintf("%+v with %s left", rules, left)
			o := rules.Offer(created, was, noon)
			if o.By > 0 {
				if _, beyond, err := rules.Move(created, was, noon, template.LeaseRequest{By: o.By}); beyond != nil || err != nil {
					t.Errorf("%s: the button's %s is refused: %v %v", name, o.By, beyond, err)
				}
			}
			if !o.Latest.IsZero() && o.Latest.After(noon) {
				if _, beyond, err := rules.Move(created, was, noon, template.LeaseRequest{Until: o.Latest}); beyond != nil || err != nil {
					t.Errorf("%s: until %s is offered and refused: %v %v", name, o.Latest, beyond, err)
				}
			}
			if after := o.Latest.Add(time.Second); !o.Latest.IsZero() && after.After(noon) && after.After(was) {
				if _, beyond, err := rules.Move(created, was, noon, template.LeaseRequest{Until: after}); beyond == nil || err != nil {
					t.Errorf("%s: more than what is offered is allowed: until %s (%v)", name, after, err)
				}
			}
			if _, beyond, err := rules.Move(created, was, noon, template.LeaseRequest{Forever: true}); err != nil || (beyond == nil) != o.Forever {
				t.Errorf("%s: no end is offered: %v, refused: %v (%v)", name, o.Forever, beyond, err)
			}
		}
	}
}

func TestLeaseWarnings(t *testing.T) {
	for lease, want := range map[time.Duration]string{
		0: "[]", 20 * time.Minute: "[]", 30 * time.Minute: "[15m0s]", time.Hour: "[15m0s]", 2 * time.Hour: "[1h0m0s 15m0s]", 8 * time.Hour: "[4h0m0s 1h0m0s 15m0s]",
		47 * time.Hour: "[4h0m0s 1h0m0s 15m0s]", 48 * time.Hour: "[24h0m0s 4h0m0s 1h0m0s 15m0s]",
	} {
		l := template.LeaseTimes{From: noon, Until: noon.Add(lease)}
		if lease == 0 {
			l.Until = time.Time{}
		}
		if got := fmt.Sprint(l.Warnings()); got != want {
			t.Errorf("a lease of %s warns %s, want %s", lease, got, want)
		}
	}
	l := template.LeaseTimes{From: noon, Until: noon.Add(8 * time.Hour)}
	for after, want := range map[time.Duration][2]time.Duration{ // due, and when the next one is
		0: {0, 4 * time.Hour}, 4*time.Hour - 1: {0, 4 * time.Hour}, 4 * time.Hour: {4 * time.Hour, 7 * time.Hour}, 5 * time.Hour: {4 * time.Hour, 7 * time.Hour},
		7*time.Hour + 50*time.Minute: {15 * time.Minute, 0}, 8 * time.Hour: {0, 0}, 9 * time.Hour: {0, 0},
	} {
		now := noon.Add(after)
		next := time.Duration(0)
		if at := l.NextWarning(now); !at.IsZero() {
			next = at.Sub(noon)
		}
		if due := l.DueWarning(now); due != want[0] || next != want[1] {
			t.Errorf("after %s: due %s, next at %s, want %s", after, due, next, want)
		}
	}
}

func TestParseLength(t *testing.T) {
	for text, want := range map[string]time.Duration{"4h": 4 * time.Hour, "1d12h": 36 * time.Hour, "2w": 14 * 24 * time.Hour, " 90m ": 90 * time.Minute,
		"-30m": -30 * time.Minute, "0s": 0, "1h30m15s": time.Hour + 30*time.Minute + 15*time.Second} {
		if got, err := template.ParseLength(text); err != nil || got != want {
			t.Errorf("%q is %s (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-", "4", "h", "4H", "1h1h", "1h2d", "1.5h", "+1h", "1 h", "9999999999d", "99999999d", "１h", "4h-", "--4h"} {
		if got, err := template.ParseLength(text); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%q is taken for %s (%v)", text, got, err)
		}
	}
}

func TestParseMoment(t *testing.T) {
	want := time.Date(2026, 11, 30, 18, 0, 0, 0, time.UTC)
	for _, text := range []string{"2026-11-30 18:00", "2026-11-30T18:00", "2026-11-30T18:00:00", "2026-11-30T19:00:00+01:00", " 2026-11-30T18:00:00Z"} {
		if got, err := template.ParseMoment(text); err != nil || !got.Equal(want) {
			t.Errorf("%q is %s (%v)", text, got, err)
		}
	}
	for _, text := range []string{"", "tomorrow", "30.11.2026", "2026-13-01", "2026-02-30", "1999-01-01", "9999-01-01", "2026-11-30 25:00", "18:00"} {
		if got, err := template.ParseMoment(text); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%q is taken for %s (%v)", text, got, err)
		}
	}
}

// Where a time has no zone, it is in that of the one who wrote it.
func TestParseMomentIn(t *testing.T) {
	berlin, err := template.ParseZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-07-30 18:00": "2026-07-30T16:00:00Z", "2026-11-30T18:00": "2026-11-30T17:00:00Z", "2026-11-30": "2026-11-29T23:00:00Z",
		"2026-11-30T18:00:00Z": "2026-11-30T18:00:00Z", "2026-11-30T18:00+05:30": "2026-11-30T12:30:00Z", "2026-03-29 01:59": "2026-03-29T00:59:00Z",
		"2026-03-29 03:00": "2026-03-29T01:00:00Z", "2026-03-29T02:30:00+01:00": "2026-03-29T01:30:00Z",
		"2026-03-29 02:30": "2026-03-29 02:30 doesn't exist in Europe/Berlin: clocks are set forward then.",
		"2026-03-29 02:00": "2026-03-29 02:00 doesn't exist in Europe/Berlin: clocks are set forward then.",
		"30.11.2026":       `Invalid time "30.11.2026".`,
	} {
		got, err := template.ParseMomentIn(text, berlin)
		said := got.Format(time.RFC3339)
		if err != nil {
			said = app.AsError(err).Message
		}
		if said != want {
			t.Errorf("%q is %s, want %s", text, said, want)
		}
	}
	for _, name := range []string{"Local", "CEST", "../etc", "berlin, of all"} {
		if zone, err := template.ParseZone(name); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%q is taken for %s (%v)", name, zone, err)
		}
	}
	if zone, err := template.ParseZone(""); err != nil || zone != time.UTC {
		t.Errorf("none is taken for %s (%v)", zone, err)
	}
}

func FuzzParseLength(f *testing.F) {
	for _, s := range []string{"4h", "1d12h", "-2w", "99999999999999999999s", "1h1", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := template.ParseLength(text)
		if err != nil {
			if app.CodeOf(err) != app.EInvalid || d != 0 {
				t.Errorf("%q: %s %v", text, d, err)
			}
			return
		}
		if d < 0 != strings.HasPrefix(strings.TrimSpace(text), "-") && d != 0 || d > 101*365*24*time.Hour || d < -101*365*24*time.Hour || d%time.Second != 0 {
			t.Errorf("%q is taken for %s", text, d)
		}
		if abs := max(d, -d); abs > 0 {
			again, err := template.ParseLength(fmt.Sprintf("%ds", abs/time.Second))
			if err == nil && again != abs {
				t.Errorf("%q is %s, and that is %s again", text, abs, again)
			}
		}
	})
}

func FuzzParseMoment(f *testing.F) {
	for _, s := range []string{"2026-11-30", "2026-11-30 18:00", "2026-11-30T18:00:00+01:00", "0000-00-00", "2299-12-31T23:59:59-23:59"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := template.ParseMoment(text)
		if err != nil {
			return
		}
		again, err := template.ParseMoment(m.Format(time.RFC3339Nano))
		if err != nil && m.Year() >= 2000 && m.Year() < 2300 || err == nil && !again.Equal(m) {
			t.Errorf("%q is %s, and that is %s again (%v)", text, m, again, err)
		}
	})
}
