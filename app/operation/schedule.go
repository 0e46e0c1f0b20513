package operation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/policy"
	"muster/app/schedule"
)

// ScheduleStore is what Schedules needs of the database.
type ScheduleStore interface {
	ClusterSchedule(ctx context.Context, tenant string, cluster string) (schedule.ClusterSchedule, error)
	DueSchedules(ctx context.Context, now time.Time, limit int) ([]schedule.Due, error)
	SaveRequest(ctx context.Context, n appcluster.NewRequest) (appcluster.Request, error)
	MoveSchedule(ctx context.Context, d schedule.Due, until time.Time, due time.Time, n app.Notice) (bool, error)
	Policies(ctx context.Context, tenant string) ([]policy.Policy, error)
	SetSchedule(ctx context.Context, c schedule.Change) error
}

// SchedulesConfig is what Schedules is created from.
type SchedulesConfig struct {
	Store     ScheduleStore
	Now       func() time.Time
	Policies  *policy.Service
	Clusters  *appcluster.Finder
	Builder   *Builder
	Submitter *Submitter
	Sleeping  *Sleeping
}

// Schedules says when clusters sleep and wake, and does it when the time has come.
type Schedules struct {
	SchedulesConfig
}

// NewSchedules returns Schedules on top of their needs.
func NewSchedules(c SchedulesConfig) *Schedules { return &Schedules{SchedulesConfig: c} }

// Schedule returns when a cluster goes to sleep and wakes.
func (a *Schedules) Schedule(ctx context.Context, actor app.Actor, cluster string) (schedule.ClusterSchedule, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Schedule", cluster)
	if err != nil {
		return schedule.ClusterSchedule{}, err
	}
	s, err := a.Store.ClusterSchedule(ctx, c.Tenant, c.ID)
	s.Cluster, s.Next = c.ID, []schedule.ScheduledTime{}
	if err == nil && c.Status != app.ClusterDeleted {
		s.Next = s.Schedule.Next(a.Now(), schedule.NextShown)
	}
	return s, err
}

// SetSchedule says when a cluster goes to sleep and wakes from now on; an empty schedule takes it away. It is carried out as the user
// "schedule", as SleepCluster and WakeCluster do, and policies are asked each time. They are asked now, too, about the next sleep and
// the next wake, as if the actor asked for them then: EForbidden, reason "policy", where one refuses. While another operation is running it is tried
// again for an hour, and then left out
// and reported, as is what no one was there to do in time.
func (a *Schedules) SetSchedule(ctx context.Context, actor app.Actor, cluster string, s schedule.Schedule) (schedule.ClusterSchedule, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "SetSchedule", cluster)
	if err != nil {
		return schedule.ClusterSchedule{}, err
	}
	if err := actor.MayChange("SetSchedule", c); err != nil {
		return schedule.ClusterSchedule{}, err
	}
	if c.Status == app.ClusterDeleted {
		return schedule.ClusterSchedule{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	s = schedule.Schedule{Sleep: strings.TrimSpace(s.Sleep), Wake: strings.TrimSpace(s.Wake), Zone: strings.TrimSpace(s.Zone)}
	now, change := a.Now(), schedule.Change{Tenant: c.Tenant, Cluster: c.ID, Schedule: s, Who: actor, Now: a.Now()}
	if s.None() {
		change.Schedule = schedule.Schedule{}
	} else {
		if err := s.Check(now); err != nil {
			return schedule.ClusterSchedule{}, err
		}
		if err := a.Builder.checkSleeps(ctx, c); err != nil {
			return schedule.ClusterSchedule{}, err
		}
		if err := a.allowsSchedule(ctx, actor, c, s, now); err != nil {
			return schedule.ClusterSchedule{}, err
		}
		change.Due = s.Soonest(now)
	}
	if err := a.Store.SetSchedule(ctx, change); err != nil {
		return schedule.ClusterSchedule{}, err
	}
	return a.Schedule(ctx, actor, c.ID)
}

// allowsSchedule asks policies about the next time of each kind. Approvals are asked for when the time has come.
func (a *Schedules) allowsSchedule(ctx context.Context, actor app.Actor, c app.Cluster, s schedule.Schedule, now time.Time) error {
	policies, err := a.Store.Policies(ctx, c.Tenant)
	if err != nil || len(policies) == 0 {
		return err
	}
	for _, kind := range []app.OperationKind{app.OperationSleep, app.OperationWake} {
		at := s.After(kind, now)
		if at.IsZero() {
			continue
		}
		d, err := a.Builder.drawPower(ctx, c, kind, nil)
		if err != nil {
			return err
		}
		if d.facts, err = a.Submitter.updateFacts(ctx, actor, d); err != nil {
			return err
		}
		d.facts.Now = at
		if d.decision = policy.Decide(ctx, a.Policies.Policies, policies, d.facts); d.decision.Outcome != policy.OutcomeRefuse {
			continue
		}
		d.preview.Notes = append(d.preview.Notes, fmt.Sprintf("Requested by a schedule, first at %s.", app.Moment(at)))
		q := d.request(actor)
		q.Request.Status, q.Request.RequestedAt, q.Request.EndedAt, q.Request.Message = appcluster.RequestRefused, now, now, d.decision.Reason
		kept, err := a.Store.SaveRequest(ctx, q)
		if err != nil {
			return err
		}
		return appcluster.RefusedBy(d.decision, kept.ID)
	}
	return nil
}

// scheduler is the name for what a schedule does.
const scheduler = "schedule"

// RunSchedules puts to sleep and wakes what is due, of all tenants. It returns how many it began. Several servers may call it at the
// same time: a cluster has one operation at a time, and one that sleeps already is left as it is.
func (a *Schedules) RunSchedules(ctx context.Context) (begun int, err error) {
	now := a.Now()
	due, err := a.Store.DueSchedules(ctx, now, appcluster.TidyAtOnce)
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

func (a *Schedules) runSchedule(ctx context.Context, d schedule.Due, now time.Time) (did bool, err error) {
	kind, at := d.Schedule.Latest(d.Since, now)
	over := func(n app.Notice) error {
		_, err := a.Store.MoveSchedule(ctx, d, now, d.Schedule.Soonest(now), n)
		return err
	}
	if kind == "" {
		return false, over(app.Notice{})
	}
	if now.Sub(at) > schedule.Grace {
		return false, over(d.Missed(kind, at, now, "No server was available, or another operation was running for an hour."))
	}
	answer, err := a.Sleeping.power(ctx, app.System(d.Cluster.Tenant, scheduler), d.Cluster, kind, "")
	e := app.AsError(err)
	switch {
	case err == nil && answer.Request != nil:
		return false, over(d.Missed(kind, at, now, fmt.Sprintf("The change requires approval: request %d.", answer.Request.ID)))
	case err == nil:
		return true, over(app.Notice{})
	case e.Code == app.EConflict && (e.Reason == "operation_running" || e.Reason == "plan_changed" || e.Reason == "cluster_pending"),
		e.Code == app.ETransient, e.Code == app.ETimeout, e.Code == app.ECancelled:
		if now.Add(schedule.RetryInterval).Sub(at) > schedule.Grace {
			return false, over(d.Missed(kind, at, now, e.Advised()))
		}
		_, err := a.Store.MoveSchedule(ctx, d, d.Since, now.Add(schedule.RetryInterval), app.Notice{})
		return false, err
	case e.Code == app.EInternal:
		return false, err
	}
	return false, over(d.Missed(kind, at, now, e.Advised()))
}
