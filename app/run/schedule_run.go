package run

import (
	"context"
	"errors"
	"fmt"

	"muster/app"
	"muster/app/humanize"
)

const mostResult = 500 // bytes

// RunActionSchedules runs the actions that are due, of all tenants, and returns how many it began. Several servers may call it at the same time: a run
// is claimed before anything is done, so it happens once at most. One that was missed while no server was there is made up for once.
func (s *Service) RunActionSchedules(ctx context.Context) (begun int, err error) {
	due, err := s.Schedules.DueActionSchedules(ctx, s.Now(), dueAtOnce)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, a := range due {
		now := s.Now()
		if is, err := s.Schedules.ClaimActionSchedule(ctx, a, a.after(now)); err != nil || !is {
			errs = append(errs, err)
			continue
		}
		last := a.LastResult
		a.Version++
		a.LastAt, a.LastOperation, a.LastResult = now, 0, ""
		n, err := s.runDue(ctx, &a)
		if err != nil {
			errs = append(errs, fmt.Errorf("schedule %s of %s: %w", a.Name, a.Cluster, err))
		}
		if a.LastOperation > 0 {
			begun++
		}
		if a.LastResult = humanize.CutText(a.LastResult, mostResult); a.LastResult == last {
			n = app.Notice{} // the owner knows
		}
		errs = append(errs, s.Schedules.EndActionSchedule(ctx, a, n))
	}
	return begun, errors.Join(errs...)
}

// runDue runs one, and notes what has become of it.
func (s *Service) runDue(ctx context.Context, a *ActionSchedule) (app.Notice, error) {
	c, err := s.Schedules.Cluster(ctx, a.Tenant, a.Cluster)
	if err != nil {
		return app.Notice{}, err
	}
	actor, err := s.stillMay(ctx, *a)
	seen := c
	if err == nil {
		seen, err = s.mayIn(ctx, actor, "RunCommand", a.Cluster)
	}
	switch e := app.AsError(err); {
	case e.Reason == app.Locked:
		return app.Notice{}, s.skip(a, err)
	case err == nil:
		c = seen // with the access that the person has
	case e.Code == app.EForbidden, e.Code == app.ENotFound, e.Code == app.EUnauthorized:
		return s.lost(a, c, e), nil
	default:
		return app.Notice{}, s.skip(a, err)
	}
	switch c.Status {
	case app.ClusterAsleep:
		a.LastResult = "Skipped: the cluster was asleep."
		return app.Notice{}, nil
	case app.ClusterPending:
		a.LastResult = "Skipped: another operation was running."
		return app.Notice{}, nil
	}
	m, hash, err := s.preview(ctx, actor, c, a.ask())
	if e := app.AsError(err); err != nil && e.Code == app.EForbidden && e.Reason != "approval" && e.Reason != "policy" {
		return s.lost(a, c, e), nil
	}
	if err != nil {
		return app.Notice{}, s.skip(a, err)
	}
	m.PlanHash = hash
	answer, err := s.Updates.Update(ctx, actor, c.ID, m)
	switch {
	case err != nil:
		return app.Notice{}, s.skip(a, err)
	case answer.Request != nil:
		a.LastResult = fmt.Sprintf("Skipped: request %d is waiting for approval.", answer.Request.ID)
	default:
		a.LastOperation = answer.Operation
	}
	return app.Notice{}, nil
}

// stillMay returns who created a schedule, with the role and the groups of now.
func (s *Service) stillMay(ctx context.Context, a ActionSchedule) (app.Actor, error) {
	u, err := s.Schedules.User(ctx, a.Tenant, a.CreatedBy)
	switch {
	case app.CodeOf(err) == app.ENotFound:
		return app.Actor{}, app.Errorf(app.EForbidden, "The account %s was deleted.", a.CreatedBy)
	case err != nil:
		return app.Actor{}, err
	case u.Disabled():
		return app.Actor{}, app.Errorf(app.EForbidden, "The account %s is disabled.", a.CreatedBy)
	}
	actor := u.Actor()
	actor.Via = app.ViaServer
	return actor, nil
}

// skip notes why nothing was run; an internal error is for the server's log.
func (s *Service) skip(a *ActionSchedule, err error) error {
	if e := app.AsError(err); e.Code != app.EInternal {
		a.LastResult = "Skipped: " + e.Advised()
		return nil
	}
	a.LastResult = "Skipped: an internal error occurred. See the server's log."
	return err
}

// lost notes that who created a schedule may no longer run its action, and tells the cluster's owner.
func (s *Service) lost(a *ActionSchedule, c app.Cluster, e *app.Error) app.Notice {
	a.LastResult = fmt.Sprintf("Skipped: %s may no longer run it. %s", a.CreatedBy, e.Message)
	n := app.Notice{At: s.Now(), Tenant: c.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, About: app.ClusterSubject(c.ID),
		Title: fmt.Sprintf("Action %s of %s was not run as scheduled.", a.Action, c.Name),
		Text: fmt.Sprintf("Schedule %s runs as %s, who may no longer run it. %s Delete the schedule, or have someone else create it again.",
			a.Name, a.CreatedBy, e.Message)}
	if c.OwnerGroup != "" {
		n.Groups = []string{c.OwnerGroup}
	} else {
		n.Users = []string{c.Owner}
	}
	return n
}
