package app

import (
	"context"
	"errors"
)

// Expire deletes clusters whose lease has ended, goes on with such deletes that were paused for too long, and tries failed
// deletes again, of all tenants. It gives how many it
// began with. One that cannot be begun with does not keep the others.
func (a *App) Expire(ctx context.Context) (begun int, err error) {
	var errs []error
	try := func(err error) {
		switch CodeOf(err) {
		case "":
			begun++
		case EConflict: // a person was faster
		default:
			errs = append(errs, err)
		}
	}
	if err := a.tendRequests(ctx); err != nil {
		errs = append(errs, err)
	}
	if err := a.tendMoney(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := a.TendPools(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := a.RunSchedules(ctx); err != nil {
		errs = append(errs, err)
	}
	if _, err := a.runTopUps(ctx); err != nil {
		errs = append(errs, err)
	}
	ended, err := a.Store.ExpiredClusters(ctx, a.Now(), tidyAtOnce)
	if err != nil {
		return 0, err
	}
	for _, c := range ended {
		_, err := a.delete(ctx, system(c.Tenant, expirer), c)
		try(err)
	}
	errs = append(errs, a.resumeOverdue(ctx, try))
	failed, err := a.Store.FailedDeletes(ctx, a.Now(), leastDeleteWait, mostDeleteWait, tidyAtOnce)
	if err != nil {
		return begun, errors.Join(append(errs, err)...)
	}
	for _, o := range failed {
		_, err := a.Store.ControlOperation(ctx, Control{Tenant: o.Tenant, Operation: o.ID, Act: ControlResume, Who: retrier, Now: a.Now()})
		try(err)
	}
	return begun, errors.Join(errs...)
}
