package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
	Kind OperationKind `json:"kind"` // sleep or wake
	At   time.Time     `json:"at"`
}

// ClusterSchedule is the schedule of a cluster, with the next times.
type ClusterSchedule struct {
	Schedule
	Cluster   string          `json:"cluster"`
	ChangedBy string          `json:"changed_by,omitempty"`
	ChangedAt time.Time       `json:"changed_at,omitzero"`
	Next      []ScheduledTime `json:"next" nullable:"false"` // the next six, sooner first
}

// Bounds of schedules.
const (
	nextShown     = 6
	mostCronText  = 100
	leastInterval = 10 * time.Minute // between two times of the same kind
	scheduleGrace = time.Hour        // what is later than that is left out
	scheduleAgain = time.Minute      // between tries while something else is under way
)

// cronFields reads the five fields. The parser is robfig/cron's, the one that nearly everything in Go uses, for its reading of lists, steps, ranges and
// names; the clock is ours, since it leaves out what falls into the hour that a clock jumps over.
var cronFields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// Check refuses what cannot be read, and what would happen too often.
func (s Schedule) Check(now time.Time) error {
	for _, f := range []struct{ field, text string }{{"sleep", s.Sleep}, {"wake", s.Wake}} {
		if f.text == "" {
			continue
		}
		wrong := func(why string) error {
			return &Error{Code: EInvalid, Field: f.field, Message: fmt.Sprintf("%.100q cannot be a schedule: %s.", f.text, why),
				Hint: `Say minute, hour, day of the month, month and weekday: "0 19 * * 1-5" is at 19:00 from Monday to Friday.`}
		}
		if len(f.text) > mostCronText {
			return wrong("it is too long")
		}
		if strings.Contains(f.text, "TZ=") {
			return wrong("the time zone stands apart")
		}
		if strings.HasPrefix(strings.TrimSpace(f.text), "@every") {
			return wrong("it has to go by the clock")
		}
		if _, err := cronFields.Parse(f.text); err != nil {
			return wrong(strings.TrimSuffix(GoWords(err), "."))
		}
		zone, err := s.location()
		if err != nil {
			return err
		}
		at := next(f.text, zone, now)
		if at.IsZero() {
			return wrong("it never comes")
		}
		for range 50 {
			after := next(f.text, zone, at)
			if !after.IsZero() && after.Sub(at) < leastInterval {
				return wrong("it comes more often than every ten minutes")
			}
			if at = after; at.IsZero() {
				break
			}
		}
	}
	_, err := s.location()
	return err
}

func (s Schedule) location() (*time.Location, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil || s.Zone == "Local" || len(s.Zone) > 64 {
		return time.UTC, &Error{Code: EInvalid, Field: "zone", Message: fmt.Sprintf("There is no time zone %.64q.", s.Zone), Hint: "Name one such as Europe/Berlin or America/New_York; empty is UTC."}
	}
	return zone, nil
}

// After gives when a kind comes next after a moment; zero for never.
func (s Schedule) After(kind OperationKind, t time.Time) time.Time {
	text := s.Sleep
	if kind == OperationWake {
		text = s.Wake
	}
	zone, err := s.location()
	if text == "" || err != nil {
		return time.Time{}
	}
	return next(text, zone, t)
}

// Next gives the next times after a moment, sooner first.
func (s Schedule) Next(t time.Time, n int) []ScheduledTime {
	list := []ScheduledTime{}
	sleep, wake := s.After(OperationSleep, t), s.After(OperationWake, t)
	for len(list) < n && !(sleep.IsZero() && wake.IsZero()) {
		if wake.IsZero() || !sleep.IsZero() && sleep.Before(wake) {
			list = append(list, ScheduledTime{OperationSleep, sleep})
			sleep = s.After(OperationSleep, sleep)
		} else {
			list = append(list, ScheduledTime{OperationWake, wake})
			wake = s.After(OperationWake, wake)
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
	face := onFace(after.In(zone))
	// A clock that goes back shows the same hours again, so a few faces may lie in the past.
	for range 1000 {
		if face = fields.Next(face); face.IsZero() {
			return time.Time{}
		}
		if at := ofFace(face, zone); at.After(after) {
			return at
		}
	}
	return time.Time{}
}

// onFace is what a clock shows, as a moment of a clock that never jumps.
func onFace(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// ofFace gives when a zone's clock shows a face: the first time where it does so twice, and where it jumps over it, as long after the
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

// ScheduleChange is another schedule of a cluster, as the store takes it. Due is when something is to be done next, zero for never.
type ScheduleChange struct {
	Tenant   string
	Cluster  string
	Schedule Schedule
	Due      time.Time
	Who      Actor
	Now      time.Time
}

// ScheduleDue is a schedule of which something is to be done: since Since all that comes up to now counts.
type ScheduleDue struct {
	Cluster  Cluster
	Schedule Schedule
	Since    time.Time // what came until then was done or left out
	Due      time.Time // as it stands in the store
}

// ScheduleStore keeps when clusters go to sleep and wake.
type ScheduleStore interface {
	// ClusterSchedule gives that of a cluster; the zero one where it has none.
	ClusterSchedule(ctx context.Context, tenant, cluster string) (ClusterSchedule, error)
	// SetSchedule writes one in place of what was there; without times it takes it away.
	SetSchedule(ctx context.Context, c ScheduleChange) error
	// DueSchedules gives those of live clusters, of all tenants, of which something is to be done by now.
	DueSchedules(ctx context.Context, now time.Time, limit int) ([]ScheduleDue, error)
	// MoveSchedule notes that what came until a moment was done or left out, when to look again, and what people are told (Kind "" for
	// nothing). It is false, and nothing happens, where somebody else was faster.
	MoveSchedule(ctx context.Context, d ScheduleDue, until, due time.Time, n Notice) (bool, error)
}

// Schedule gives when a cluster goes to sleep and wakes.
func (a *App) Schedule(ctx context.Context, actor Actor, cluster string) (ClusterSchedule, error) {
	c, err := a.look(ctx, actor, "Schedule", cluster)
	if err != nil {
		return ClusterSchedule{}, err
	}
	s, err := a.Store.ClusterSchedule(ctx, c.Tenant, c.ID)
	s.Cluster, s.Next = c.ID, []ScheduledTime{}
	if err == nil && c.Status != ClusterDeleted {
		s.Next = s.Schedule.Next(a.Now(), nextShown)
	}
	return s, err
}

// SetSchedule says when a cluster goes to sleep and wakes from now on; an empty schedule takes it away. It is carried out as the user
// "schedule", as SleepCluster and WakeCluster do, and policies are asked each time. They are asked now, too, about the next sleep and
// the next wake, as if the actor asked for them then: EForbidden, reason "policy", where one refuses. While something else is under way it is tried again for an hour, and then left out
// and told, as is what nobody was there to do in time.
func (a *App) SetSchedule(ctx context.Context, actor Actor, cluster string, s Schedule) (ClusterSchedule, error) {
	c, err := a.look(ctx, actor, "SetSchedule", cluster)
	if err != nil {
		return ClusterSchedule{}, err
	}
	if err := actor.mayChange("SetSchedule", c); err != nil {
		return ClusterSchedule{}, err
	}
	if c.Status == ClusterDeleted {
		return ClusterSchedule{}, Errorf(EConflict, "Cluster %q is gone.", c.Name)
	}
	s = Schedule{Sleep: strings.TrimSpace(s.Sleep), Wake: strings.TrimSpace(s.Wake), Zone: strings.TrimSpace(s.Zone)}
	now, change := a.Now(), ScheduleChange{Tenant: c.Tenant, Cluster: c.ID, Schedule: s, Who: actor, Now: a.Now()}
	if s.None() {
		change.Schedule = Schedule{}
	} else {
		if err := s.Check(now); err != nil {
			return ClusterSchedule{}, err
		}
		if err := a.checkSleeps(ctx, c); err != nil {
			return ClusterSchedule{}, err
		}
		if err := a.allowsSchedule(ctx, actor, c, s, now); err != nil {
			return ClusterSchedule{}, err
		}
		change.Due = s.soonest(now)
	}
	if err := a.Store.SetSchedule(ctx, change); err != nil {
		return ClusterSchedule{}, err
	}
	return a.Schedule(ctx, actor, c.ID)
}

// allowsSchedule asks policies about the next time of each kind. Approvals are asked for when the time has come.
func (a *App) allowsSchedule(ctx context.Context, actor Actor, c Cluster, s Schedule, now time.Time) error {
	policies, err := a.Store.Policies(ctx, c.Tenant)
	if err != nil || len(policies) == 0 {
		return err
	}
	for _, kind := range []OperationKind{OperationSleep, OperationWake} {
		at := s.After(kind, now)
		if at.IsZero() {
			continue
		}
		d, err := a.drawPower(ctx, c, kind, nil)
		if err != nil {
			return err
		}
		if d.facts, err = a.amendFacts(ctx, actor, d); err != nil {
			return err
		}
		d.facts.Now = at
		if d.decision = Decide(ctx, a.Policies, policies, d.facts); d.decision.Outcome != OutcomeRefuse {
			continue
		}
		d.preview.Notes = append(d.preview.Notes, fmt.Sprintf("It was asked for by a schedule, first at %s.", moment(at)))
		q := d.request(actor)
		q.Request.Status, q.Request.AskedAt, q.Request.EndedAt, q.Request.Message = RequestRefused, now, now, d.decision.Reason
		kept, err := a.Store.KeepRequest(ctx, q)
		if err != nil {
			return err
		}
		return refusedBy(d.decision, kept.ID)
	}
	return nil
}

func (s Schedule) soonest(t time.Time) time.Time {
	if list := s.Next(t, 1); len(list) > 0 {
		return list[0].At
	}
	return time.Time{}
}

// latest gives what came last after one moment and by another, and when; "" for nothing. Of several that were missed only the last
// one makes a difference.
func (s Schedule) latest(after, by time.Time) (kind OperationKind, at time.Time) {
	for _, k := range []OperationKind{OperationSleep, OperationWake} {
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

// scheduler is whose name stands at what is done by a schedule.
const scheduler = "schedule"

// RunSchedules puts to sleep and wakes what is due, of all tenants. It gives how many it began. Several servers may call it at the
// same time: a cluster has one operation at a time, and one that sleeps already is left as it is.
func (a *App) RunSchedules(ctx context.Context) (begun int, err error) {
	now := a.Now()
	due, err := a.Store.DueSchedules(ctx, now, tidyAtOnce)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, d := range due {
		did, err := a.runSchedule(ctx, d, now)
		if did {
			begun++
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("schedule of %s: %w", d.Cluster.ID, err))
		}
	}
	return begun, errors.Join(errs...)
}

func (a *App) runSchedule(ctx context.Context, d ScheduleDue, now time.Time) (did bool, err error) {
	kind, at := d.Schedule.latest(d.Since, now)
	over := func(n Notice) error {
		_, err := a.Store.MoveSchedule(ctx, d, now, d.Schedule.soonest(now), n)
		return err
	}
	if kind == "" {
		return false, over(Notice{})
	}
	if now.Sub(at) > scheduleGrace {
		return false, over(d.missed(kind, at, now, "Nobody was there to do it, or something else was under way for an hour."))
	}
	answer, err := a.power(ctx, system(d.Cluster.Tenant, scheduler), d.Cluster, kind, "")
	e := AsError(err)
	switch {
	case err == nil && answer.Request != nil:
		return false, over(d.missed(kind, at, now, fmt.Sprintf("It waits for approvals: request %d.", answer.Request.ID)))
	case err == nil:
		return true, over(Notice{})
	case e.Code == EConflict && (e.Reason == "operation_running" || e.Reason == "plan_changed" || e.Reason == "cluster_pending"),
		e.Code == ETransient, e.Code == ETimeout, e.Code == ECancelled:
		if now.Add(scheduleAgain).Sub(at) > scheduleGrace {
			return false, over(d.missed(kind, at, now, e.Advised()))
		}
		_, err := a.Store.MoveSchedule(ctx, d, d.Since, now.Add(scheduleAgain), Notice{})
		return false, err
	case e.Code == EInternal:
		return false, err
	}
	return false, over(d.missed(kind, at, now, e.Advised()))
}

// missed is what people are told of something that was not done.
func (d ScheduleDue) missed(kind OperationKind, at, now time.Time, why string) Notice {
	c := d.Cluster
	verb := map[OperationKind]string{OperationSleep: "go to sleep", OperationWake: "wake"}[kind]
	return Notice{At: now, Tenant: c.Tenant, Kind: NoticeCluster, Cluster: c.ID, Users: []string{c.Owner}, Title: fmt.Sprintf("%s did not %s by its schedule.", c.Name, verb),
		Text: fmt.Sprintf("It was to at %s. %s The next time is %s.", moment(at), why, nextWords(d.Schedule, now)), Path: "/clusters/" + c.ID}
}

func nextWords(s Schedule, now time.Time) string {
	for _, t := range s.Next(now, 1) {
		return moment(t.At) + " (" + string(t.Kind) + ")"
	}
	return "never"
}
