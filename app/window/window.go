package window

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/schedule"
	"muster/app/template"
)

// Window is a time that comes again and again. Start is a weekday and a time, such as "Sat 02:00", or five fields as in crontab; both by the
// clock of the zone. It lasts as long as Length says, however the clock jumps meanwhile.
type Window struct {
	Start  string `json:"start"`
	Length string `json:"length"`
	Zone   string `json:"zone,omitempty"`
}

// Bounds of windows.
const (
	MostWindows   = 20
	longest       = 7 * 24 * time.Hour // longest length
	shortest      = 10 * time.Minute
	RetryInterval = 10 * time.Minute // between tries of what could not start; the end of an operation of the cluster is another
	mostMerged    = 50               // windows that follow each other without a gap count as one, up to this many
)

// Reason is what waits for windows.
type Reason string

// The reasons. Those without a comment are kinds of operations.
const (
	Upgrade        Reason = "upgrade"
	Repair         Reason = "repair"      // that people ask for
	AutoRepair     Reason = "auto_repair" // that Muster begins by itself
	Approved       Reason = "approved"    // any change that people had to approve, but sleep, wake and compare
	Resize         Reason = "resize"
	AddServices    Reason = "add_services"
	RemoveServices Reason = "remove_services"
	Reconfigure    Reason = "reconfigure"
	Restart        Reason = "restart"
	Stop           Reason = "stop"
)

// Reasons are all of them; the first four are what waits where nothing else is set.
var Reasons = []Reason{Upgrade, Repair, AutoRepair, Approved, Resize, AddServices, RemoveServices, Reconfigure, Restart, Stop}

// DefaultReasons are what waits where nothing else is set.
func DefaultReasons() []Reason { return slices.Clone(Reasons[:4]) }

// Overrun says what to do with a change that is expected to take longer than its window lasts.
type Overrun string

// The choices.
const (
	OverrunAllow Overrun = "allow" // start it, and say so beforehand
	OverrunWait  Overrun = "wait"  // start it only in a window that is long enough
)

// Settings are the windows of a tenant or of a cluster. Without a window nothing waits.
type Settings struct {
	Windows   []Window `json:"windows"`
	AppliesTo []Reason `json:"applies_to,omitempty"`
	Overrun   Overrun  `json:"overrun,omitempty"`
	// Locked is of a tenant: its clusters cannot have their own.
	Locked bool `json:"locked,omitempty"`
}

// None reports whether nothing waits.
func (s Settings) None() bool { return len(s.Windows) == 0 }

// Same reports whether two are alike.
func (s Settings) Same(o Settings) bool {
	return slices.Equal(s.Windows, o.Windows) && slices.Equal(s.AppliesTo, o.AppliesTo) && s.Overrun == o.Overrun && s.Locked == o.Locked
}

// Opening is one time at which a window is open.
type Opening struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Zone  string    `json:"zone,omitempty"`
	// RetryAt is set while something that was to start in it could not yet.
	RetryAt time.Time `json:"retry_at,omitzero"`
}

// Due is when what waits for it is to be tried.
func (o Opening) Due() time.Time {
	if !o.RetryAt.IsZero() {
		return o.RetryAt
	}
	return o.Start
}

// Text is the opening for people: Sat 28 Nov 2026, 02:00 to 06:00 (Europe/Berlin).
func (o Opening) Text() string {
	zone, err := schedule.Location(o.Zone)
	if err != nil {
		zone = time.UTC
	}
	name := o.Zone
	if name == "" {
		name = "UTC"
	}
	start, end := o.Start.In(zone), o.End.In(zone)
	until := "15:04"
	if start.Format(time.DateOnly) != end.Format(time.DateOnly) {
		until = "Mon 2 Jan 15:04"
	}
	return fmt.Sprintf("%s to %s (%s)", start.Format("Mon 2 Jan 2006, 15:04"), end.Format(until), name)
}

// Normal trims what was written and fills in what was left out.
func (s Settings) Normal() Settings {
	out := Settings{Windows: []Window{}, Overrun: s.Overrun, Locked: s.Locked}
	for _, w := range s.Windows {
		out.Windows = append(out.Windows, Window{Start: strings.TrimSpace(w.Start), Length: strings.TrimSpace(w.Length), Zone: strings.TrimSpace(w.Zone)})
	}
	for _, r := range Reasons {
		if slices.Contains(s.AppliesTo, r) || len(s.AppliesTo) == 0 && slices.Contains(DefaultReasons(), r) {
			out.AppliesTo = append(out.AppliesTo, r)
		}
	}
	if out.Overrun == "" {
		out.Overrun = OverrunAllow
	}
	return out
}

// Check refuses what cannot be read, by field.
func (s Settings) Check(now time.Time) error {
	if len(s.Windows) > MostWindows {
		return &app.Error{Code: app.EInvalid, Field: "windows", Message: fmt.Sprintf("%d windows are too many. The limit is %d.", len(s.Windows), MostWindows),
			Hint: "Combine windows: Sat,Sun 02:00 is one."}
	}
	for i, w := range s.Windows {
		if err := w.check(fmt.Sprintf("windows[%d].", i), now); err != nil {
			return err
		}
	}
	for _, r := range s.AppliesTo {
		if !slices.Contains(Reasons, r) {
			return &app.Error{Code: app.EInvalid, Field: "applies_to", Message: fmt.Sprintf("Unknown kind of change %.40q.", string(r)),
				Hint: "Use " + humanize.Or(texts(Reasons)) + "."}
		}
	}
	if s.Overrun != "" && s.Overrun != OverrunAllow && s.Overrun != OverrunWait {
		return &app.Error{Code: app.EInvalid, Field: "overrun", Message: fmt.Sprintf("Unknown choice %.40q.", string(s.Overrun)), Hint: "Use allow or wait."}
	}
	return nil
}

func texts(list []Reason) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = string(r)
	}
	return out
}

func (w Window) check(at string, now time.Time) error {
	length, err := w.length()
	switch {
	case err != nil || length <= 0:
		return &app.Error{Code: app.EInvalid, Field: at + "length", Message: fmt.Sprintf("Invalid length %.40q.", w.Length),
			Hint: "Use a form such as 90m, 4h or 1d."}
	case length < shortest || length > longest:
		return &app.Error{Code: app.EInvalid, Field: at + "length", Message: fmt.Sprintf("The length %s isn't supported.", humanize.Duration(length)),
			Hint: "Choose 10 min to 7 days."}
	}
	if strings.TrimSpace(w.Start) == "" {
		return &app.Error{Code: app.EInvalid, Field: at + "start", Message: "The start is missing.", Hint: startHint}
	}
	c, err := w.cron()
	if err != nil {
		return &app.Error{Code: app.EInvalid, Field: at + "start", Message: fmt.Sprintf("Invalid start %.100q: %s.", w.Start, err), Hint: startHint}
	}
	if err := c.Check(now); err != nil {
		e := *app.AsError(err)
		if e.Field == "zone" {
			e.Field = at + "zone"
			return &e
		}
		e.Field, e.Hint = at+"start", startHint
		if !isCron(w.Start) {
			e.Message = fmt.Sprintf("Invalid start %.100q.", w.Start)
		}
		return &e
	}
	return nil
}

const startHint = `Use weekdays and a time, such as "Sat 02:00", "Mon-Fri 22:00" or "daily 03:00", or five crontab fields.`

func (w Window) length() (time.Duration, error) { return template.ParseLength(w.Length) }

// Start reads weekdays and a time, such as "Mon-Fri 08:00", or five fields as in crontab, for others whose times come again and again.
func Start(text, zone string, now time.Time) (schedule.Cron, error) {
	w := Window{Start: text, Length: "10m", Zone: zone}
	if err := w.check("", now); err != nil {
		return schedule.Cron{}, err
	}
	return w.cron()
}

func isCron(start string) bool { return len(strings.Fields(start)) == 5 }

// cron is the start as fields of crontab.
func (w Window) cron() (schedule.Cron, error) {
	if isCron(w.Start) {
		return schedule.Cron{Text: w.Start, Zone: w.Zone}, nil
	}
	fields := strings.Fields(w.Start)
	if len(fields) != 2 {
		return schedule.Cron{}, fmt.Errorf("expected weekdays and a time")
	}
	clock, err := time.Parse("15:04", fields[1])
	if err != nil {
		return schedule.Cron{}, fmt.Errorf("%.20q isn't a time of day", fields[1])
	}
	days, err := weekdays(fields[0])
	if err != nil {
		return schedule.Cron{}, err
	}
	return schedule.Cron{Text: fmt.Sprintf("%d %d * * %s", clock.Minute(), clock.Hour(), days), Zone: w.Zone}, nil
}

var dayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// weekdays reads Sat, Mon-Fri, Fri-Mon, Sat,Sun or daily, and returns a list of numbers.
func weekdays(text string) (string, error) {
	if strings.EqualFold(text, "daily") {
		return "*", nil
	}
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		a, err := weekday(from)
		if err != nil {
			return "", err
		}
		b := a
		if ranged {
			if b, err = weekday(to); err != nil {
				return "", err
			}
		}
		for d := a; ; d = (d + 1) % 7 {
			list = append(list, fmt.Sprint(d))
			if d == b {
				break
			}
		}
	}
	return strings.Join(list, ","), nil
}

func weekday(text string) (int, error) {
	i := slices.IndexFunc(dayNames, func(name string) bool {
		return strings.EqualFold(text, name) || strings.EqualFold(text, name[:3])
	})
	if i < 0 {
		return 0, fmt.Errorf("%.20q isn't a weekday", text)
	}
	return i, nil
}

// next returns the opening of one window that is open at a moment, or that opens next.
func (w Window) next(t time.Time) (o Opening, ok bool) {
	length, err := w.length()
	c, bad := w.cron()
	if err != nil || bad != nil || length <= 0 {
		return o, false
	}
	for at := c.After(t.Add(-length)); !at.IsZero(); at = c.After(at) {
		if at.Add(length).After(t) {
			return Opening{Start: at, End: at.Add(length), Zone: w.Zone}, true
		}
	}
	return o, false
}

// Next returns the time that is open at a moment, or that opens next. Windows that follow each other without a gap are one.
func (s Settings) Next(t time.Time) (o Opening, ok bool) {
	for _, w := range s.Windows {
		if n, is := w.next(t); is && (!ok || n.Start.Before(o.Start) || n.Start.Equal(o.Start) && n.End.After(o.End)) {
			o, ok = n, true
		}
	}
	if !ok {
		return o, false
	}
	for range mostMerged {
		grown := false
		for _, w := range s.Windows {
			if n, is := w.next(o.End); is && !n.Start.After(o.End) {
				o.End, grown = n.End, true
			}
		}
		if !grown {
			break
		}
	}
	return o, true
}

// Fitting is Next for a change that is expected to take so long: with OverrunWait only what is left of a window counts if it is enough.
// None is found where all windows are too short.
func (s Settings) Fitting(t time.Time, takes time.Duration) (o Opening, ok bool) {
	at := t
	for range mostMerged {
		if o, ok = s.Next(at); !ok {
			return o, false
		}
		begin := o.Start
		if begin.Before(t) {
			begin = t
		}
		if s.Overrun != OverrunWait || o.End.Sub(begin) >= takes {
			return o, true
		}
		at = o.End
	}
	return Opening{}, false
}
