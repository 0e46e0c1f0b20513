package usage

import (
	"context"
	"errors"
	"sync"
	"time"
)

// budgetsEvery is how often budgets are looked at for what no request brings about: a month that begins, machines that outlive
// their lease.
const budgetsEvery = 5 * time.Minute

// moneyTimes is when the server that leads did what it does now and then.
type moneyTimes struct {
	mu      sync.Mutex
	budgets time.Time
}

// due reports whether the budgets are to be looked at, and that they are.
func (m *moneyTimes) due(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if since := now.Sub(m.budgets); since >= 0 && since < budgetsEvery {
		return false
	}
	m.budgets = now
	return true
}

// ReconcileMoney warns of leases that end soon and of budgets that are nearly used up, of all tenants.
func (a *Service) ReconcileMoney(ctx context.Context) error {
	err := a.LeaseWarnings.WarnLeases(ctx)
	if a.money.due(a.Now()) {
		_, notified := a.Store.NotifyBudgets(ctx, a.Now())
		err = errors.Join(err, notified)
	}
	return err
}
