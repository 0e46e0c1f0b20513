package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	apppolicy "muster/app/policy"
	"muster/app/store/db"
)

// budgetLevels are the parts of a budget, in percent, of which people are notified.
var budgetLevels = []int{80, 100}

// budgetLevel returns the level that is reached; 0 for none.
func budgetLevel(limit, used float64) (level int) {
	for _, l := range budgetLevels {
		if limit > 0 && used*100 >= limit*float64(l)*(1-1e-9) {
			level = l
		}
	}
	return level
}

// notifyBudget tells that a budget is used up to a level, once a month and level.
func notifyBudget(t *db.Tx, at time.Time, tenant string, s apppolicy.QuotaState, used float64) error {
	limit, _ := s.Limits.Of(apppolicy.MeasurePerMonth)
	reached := budgetLevel(limit, used)
	if reached == 0 {
		return nil
	}
	month := app.MonthOf(at)
	fresh := false
	for _, level := range budgetLevels {
		if level > reached {
			break
		}
		n, err := t.Count(`INSERT INTO budget_alerts (tenant, scope, name, month, level, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			tenant, string(s.Scope), s.Name, month.Name(), level, db.Micros(at))
		if err != nil {
			return err
		}
		fresh = n > 0 // the highest counts: who is notified of 100 % need not be notified of 80
	}
	if !fresh {
		return nil
	}
	line := apppolicy.QuotaLine{Scope: s.Scope, Name: s.Name}
	n := app.Notice{At: at, Tenant: tenant, Kind: app.NoticeBudget, About: app.Subject{Kind: app.SubjectUsage},
		Title: fmt.Sprintf("%d%% of the budget of %s for %s is used.", int(used*100/limit+1e-9), line.Whose(), month.Text()),
		Text: fmt.Sprintf("%s of %s is spent, or committed until leases expire or the month ends. At the limit, new requests are refused; running clusters continue.",
			humanize.Money(used, s.Currency), humanize.Money(limit, s.Currency))}
	switch s.Scope {
	case apppolicy.QuotaGroup:
		n.Groups = []string{s.Name}
	case apppolicy.QuotaUser, apppolicy.QuotaEachUser:
		n.Users = []string{s.Name}
	default:
		if err := t.Each(func(row db.Scanner) error {
			var name string
			err := row.Scan(&name)
			n.Users = append(n.Users, name)
			return err
		}, `SELECT name FROM users WHERE tenant = ? AND role IN ('admin', 'superadmin') ORDER BY name LIMIT 100`, tenant); err != nil {
			return err
		}
	}
	return t.Notice(n)
}

// forgetBudget lets a budget that was changed be notified of again.
func forgetBudget(t *db.Tx, tenant string, scope apppolicy.QuotaScope, name string, before, after *apppolicy.Quota) error {
	limit := func(q *apppolicy.Quota) float64 {
		if q != nil {
			if l, is := q.Limits.Of(apppolicy.MeasurePerMonth); is {
				return l
			}
		}
		return -1
	}
	if limit(before) == limit(after) {
		return nil
	}
	if scope == apppolicy.QuotaEachUser {
		return t.Exec(`DELETE FROM budget_alerts WHERE tenant = ? AND scope = ?`, tenant, string(scope))
	}
	return t.Exec(`DELETE FROM budget_alerts WHERE tenant = ? AND scope = ? AND name = ?`, tenant, string(scope), name)
}

// NotifyBudgets writes the notices of budgets that are used up to a level without a notice yet, of all tenants, and
// returns how many. Those that a request brings about are written with it.
// Only what has reached a level without a notice is written.
func (s *Store) NotifyBudgets(ctx context.Context, now time.Time) (notified int, err error) {
	tenants := []string{}
	if err := s.Each(ctx, func(row db.Scanner) error {
		var tenant string
		err := row.Scan(&tenant)
		tenants = append(tenants, tenant)
		return err
	}, `SELECT DISTINCT tenant FROM quotas WHERE per_month > 0`); err != nil {
		return 0, err
	}
	for _, tenant := range tenants {
		n, err := s.notifyBudgetsOf(ctx, tenant, now)
		notified += n
		if err != nil {
			return notified, err
		}
	}
	return notified, nil
}

func (s *Store) notifyBudgetsOf(ctx context.Context, tenant string, now time.Time) (notified int, err error) {
	due, err := s.budgetsDue(ctx, tenant, now)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		for _, d := range due {
			if err := notifyBudget(t, now, tenant, d, d.Months[0]); err != nil {
				return err
			}
		}
		return nil
	})
	return len(due), err
}

// budgetsDue returns the budgets of a tenant that have reached a level of which no one was informed.
func (s *Store) budgetsDue(ctx context.Context, tenant string, now time.Time) (due []apppolicy.QuotaState, err error) {
	l, err := s.readQuotas(ctx, tenant, now)
	if err != nil {
		return nil, err
	}
	defer l.end()
	own := map[string]apppolicy.Limits{}
	for _, q := range l.all {
		if q.Scope == apppolicy.QuotaUser {
			own[q.Name] = q.Limits
		}
	}
	for _, q := range l.all {
		if _, is := q.Limits.Of(apppolicy.MeasurePerMonth); !is {
			continue
		}
		of := []apppolicy.QuotaState{{Scope: q.Scope, Name: q.Name, Limits: q.Limits, Currency: q.Currency}}
		each := q.Scope == apppolicy.QuotaEachUser
		if each {
			all, err := l.byOwner(tenant)
			if err != nil {
				return nil, err
			}
			of = of[:0]
			for _, name := range slices.Sorted(maps.Keys(all)) {
				if !strings.HasPrefix(name, "pool:") {
					st := apppolicy.QuotaState{Scope: q.Scope, Name: name, Limits: q.Limits.Without(own[name]), Currency: q.Currency}
					st.Months[0] = all[name].PerMonth
					of = append(of, st)
				}
			}
		}
		for _, st := range of {
			limit, is := st.Limits.Of(apppolicy.MeasurePerMonth)
			if !is {
				continue
			}
			if !each {
				if err := l.measure(&st, tenant, 0, true); err != nil {
					return nil, err
				}
			}
			level := budgetLevel(limit, st.Months[0])
			if level == 0 {
				continue
			}
			var notified int
			if err := l.row(`SELECT count(*) FROM budget_alerts WHERE tenant = ? AND scope = ? AND name = ? AND month = ? AND level = ?`,
				tenant, string(st.Scope), st.Name, app.MonthOf(now).Name(), level).Scan(&notified); err != nil {
				return nil, db.Wrapped(err)
			}
			if notified == 0 {
				due = append(due, st)
			}
		}
	}
	return due, nil
}
