package schedule

import (
	"fmt"
	"time"

	"muster/app"

	"github.com/robfig/cron/v3"
)

// Schedule says when a cluster goes to sleep and when it wakes: five fields each as in crontab (minute, hour, day, month, weekday), by
// the clock of a time zone. One of the two may be empty.
//
// Where the clock jumps over a time, it counts at the same distance after the jump; where the clock goes back, a time that comes
// twice counts the first time only.
type Schedule struct {
	Sleep string `json:"sleep,omitempty"`
	Wake  string `json:"wake,omitempty"`
	Zone  string `json:"zone,omitempty"` // IANA name, such as Europe/Berlin; "" is UTC
}

// None tells that there is nothing to do.
func (s Schedule) None() bool { return s.Sleep == "" && s.Wake == "" }

// ScheduledTime is when what is going to happen.
type ScheduledTime struct {
	Kind app.OperationKind `json:"kind"` // sleep or wake
	At   time.Time         `json:"at"`
}

// ClusterSchedule is the schedule of a cluster, with the next times.
type ClusterSchedule struct {
	Schedule
	Cluster   string          `json:"cluster"`
	ChangedBy string          `json:"changed_by,omitempty"`
	ChangedAt time.Time       `json:"changed_at,omitzero"`
	Next      []ScheduledTime `json:"next"` // the next six, sooner first
}

// Bounds of schedules.
const (
	NextShown     = 6
	mostCronText  = 100
	leastInterval = 10 * time.Minute // between two times of the same kind
	Grace         = time.Hour        // what is later than that is left out
	RetryInterval = time.Minute      // between tries while another operation is running
)

// cronFields reads the five fields. The parser is robfig/cron's, the one that nearly everything in Go uses, for its reading of lists, steps, ranges and
// names; the clock is ours, since it leaves out what falls into the hour that a clock jumps over.
var cronFields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// Check refuses what cannot be read, and what would happen too often.
func (s Schedule) Check(now time.Time) error {
	for _, c := range []Cron{{"sleep", s.Sleep, s.Zone}, {"wake", s.Wake, s.Zone}} {
		if c.Text == "" {
			continue
		}
		if err := c.Check(now); err != nil {
			return err
		}
	}
	_, err := s.location()
	return err
}

func (s Schedule) location() (*time.Location, error) { return Location(s.Zone) }

// Location returns the time zone of a name; "" is UTC.
func Location(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" || len(name) > 64 {
		return time.UTC, &app.Error{Code: app.EInvalid, Field: "zone", Message: fmt.Sprintf("Unknown time zone %.64q.", name),
			Hint: "Use a name such as Europe/Berlin or America/New_York. Empty means UTC."}
	}
	return zone, nil
}

// After returns when a kind comes next after a moment; zero for never.
func (s Schedule) After(kind app.OperationKind, t time.Time) time.Time {
	text := s.Sleep
	if kind == app.OperationWake {
		text = s.Wake
	}
	return Cron{Text: text, Zone: s.Zone}.After(t)
}

// Next returns the next times after a moment, sooner first.
func (s Schedule) Next(t time.Time, n int) []ScheduledTime {
	list := []ScheduledTime{}
	sleep, wake := s.After(app.OperationSleep, t), s.After(app.OperationWake, t)
	for len(list) < n && !(sleep.IsZero() && wake.IsZero()) {
		if wake.IsZero() || !sleep.IsZero() && sleep.Before(wake) {
			list = append(list, ScheduledTime{app.OperationSleep, sleep})
			sleep = s.After(app.OperationSleep, sleep)
		} else {
			list = append(list, ScheduledTime{app.OperationWake, wake})
			wake = s.After(app.OperationWake, wake)
		}
	}
	return list
}

// next works on the face of a clock that never jumps, and then asks when the zone's clock shows that.
func next(text string, zone *time.Location, after time.Time) time.Time {
	fields, err := cronFields.Parse(text)
	if err != nil {
		return time.Time{}
	}
	// A clock that goes back shows the same hours again, so a few faces may lie in the past. Where it jumps, faces from before the jump count
	// after it, so the search begins earlier.
	face := onFace(after.In(zone)).Add(-mostJump)
	var at time.Time
	for range 1000 {
		if face = fields.Next(face); face.IsZero() {
			return time.Time{}
		}
		if at = ofFace(face, zone); at.After(after) {
			break
		}
	}
	if !at.After(after) {
		return time.Time{}
	}
	// A later face may come sooner, if the first one was jumped over.
	for until := onFace(at); ; {
		if face = fields.Next(face); face.IsZero() || !face.Before(until) {
			return at
		}
		if sooner := ofFace(face, zone); sooner.After(after) && sooner.Before(at) {
			at = sooner
		}
	}
}

// mostJump is more than clocks jump.
const mostJump = 3 * time.Hour

// onFace is what a clock shows, as a moment of a clock that never jumps.
func onFace(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// ofFace returns when a zone's clock shows a face: the first time where it does so twice, and where it jumps over it, as long after the
// jump as the face is after the time at which it jumps.
func ofFace(face time.Time, zone *time.Location) time.Time {
	const day = 24 * time.Hour
	_, before := face.Add(-day).In(zone).Zone()
	_, later := face.Add(day).In(zone).Zone()
	early := face.Add(-time.Duration(max(before, later)) * time.Second)
	late := face.Add(-time.Duration(min(before, later)) * time.Second)
	switch {
	case onFace(early.In(zone)).Equal(face):
		return early.In(zone)
	case onFace(late.In(zone)).Equal(face):
		return late.In(zone)
	}
	return face.Add(-time.Duration(before) * time.Second).In(zone)
}

// Change is another schedule of a cluster, as the store takes it. Due is when something is to be done next, zero for never.
type Change struct {
	Tenant   string
	Cluster  string
	Schedule Schedule
	Due      time.Time
	Who      app.Actor
	Now      time.Time
}

// Due is a schedule of which something is to be done: since Since all that comes up to now counts.
type Due struct {
	Cluster  app.Cluster
	Schedule Schedule
	Since    time.Time // what came until then was done or left out
	Due      time.Time // as it is in the store
}

func (s Schedule) Soonest(t time.Time) time.Time {
	if list := s.Next(t, 1); len(list) > 0 {
		return list[0].At
	}
	return time.Time{}
}

// Latest returns what came last after one moment and by another, and when; "" for nothing. Of several that were missed only the last
// one makes a difference.
func (s Schedule) Latest(after, by time.Time) (kind app.OperationKind, at time.Time) {
	for _, k := range []app.OperationKind{app.OperationSleep, app.OperationWake} {
		from := after
		if far := by.Add(-48 * time.Hour); from.Before(far) {
			from = far // the server was away: what is older is late in any case
		}
		for t := s.After(k, from); !t.IsZero() && !t.After(by); t = s.After(k, t) {
			if t.After(at) {
				kind, at = k, t
			}
		}
	}
	return kind, at
}

// Missed is what people are notified of something that was not done.
func (d Due) Missed(kind app.OperationKind, at, now time.Time, why string) app.Notice {
	c := d.Cluster
	verb := map[app.OperationKind]string{app.OperationSleep: "go to sleep", app.OperationWake: "wake"}[kind]
	return app.Notice{At: now, Tenant: c.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, Users: []string{c.Owner}, Title: fmt.Sprintf("%s did not %s as scheduled.", c.Name, verb),
		Text: fmt.Sprintf("It was scheduled for %s. %s Next time: %s.", app.Moment(at), why, nextWords(d.Schedule, now)), About: app.ClusterSubject(c.ID)}
}

func nextWords(s Schedule, now time.Time) string {
	for _, t := range s.Next(now, 1) {
		return app.Moment(t.At) + " (" + string(t.Kind) + ")"
	}
	return "never"
}
