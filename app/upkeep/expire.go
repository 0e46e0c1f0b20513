package upkeep

import (
	"context"
	"errors"

	"muster/app"
	"muster/app/cluster"
)

// Expire deletes clusters whose lease has ended, continues such deletes that were paused for too long, and tries failed deletes again, in
// all tenants. It returns how many it started. One that can't be started doesn't keep the others.
func (a *Service) Expire(ctx context.Context) (begun int, err error) {
	var errs []error
	try := func(err error) {
		switch app.CodeOf(err) {
		case "":
			begun++
		case app.EConflict: // a person was faster
		default:
			errs = append(errs, err)
		}
	}
	if err := a.Requests.ReconcileRequests(ctx); err != nil {
		errs = append(errs, err)
	}
	if err := a.Usages.ReconcileMoney(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := a.Pools.ReconcilePools(ctx); err != nil {
		errs = append(errs, err)
	}
	if err := a.Images.ReconcileImages(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := a.Schedules.RunSchedules(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := a.Runs.RunActionSchedules(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := a.Idle.RunIdle(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := a.Backfills.RunBackfills(ctx); err != nil {
		errs = append(errs, err)
	}
	if err := a.Sharing.EndShares(ctx); err != nil {
		errs = append(errs, err)
	}
	if err := a.Terminals.Tidy(ctx); err != nil {
		errs = append(errs, err)
	}
	ended, err := a.Store.ExpiredClusters(ctx, a.Now(), cluster.TidyAtOnce)
	if err != nil {
		return 0, err
	}
	for _, c := range ended {
		_, err := a.Deletes.StartDelete(ctx, app.System(c.Tenant, app.Expirer), c)
		try(err)
	}
	errs = append(errs, a.PausedDeletes.ResumeOverdue(ctx, try))
	failed, err := a.Store.FailedDeletes(ctx, a.Now(), cluster.LeastDeleteWait, cluster.MostDeleteWait, cluster.TidyAtOnce)
	if err != nil {
		return begun, errors.Join(append(errs, err)...)
	}
	for _, o := range failed {
		_, err := a.Store.ControlOperation(ctx, app.Control{Tenant: o.Tenant, Operation: o.ID, Act: app.ControlResume, Who: app.Retrier, Now: a.Now()})
		try(err)
	}
	return begun, errors.Join(errs...)
}
