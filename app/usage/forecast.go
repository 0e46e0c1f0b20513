package usage

import (
	"context"
	"time"

	"muster/app"
	"muster/app/policy"
)

// Commitment is what clusters cost per hour until their leases end. Until is zero where they outlast the time that was asked for.
type Commitment struct {
	PerHour float64
	Until   time.Time
}

// CommitmentQuery asks for what the clusters that stand will still cost.
type CommitmentQuery struct {
	Tenant   string // "" for all
	Owner    string // "" for all
	Now, End time.Time
}

// CommitmentStore adds up what is committed.
type CommitmentStore interface {
	// Commitments returns what the clusters and pools that stand cost per hour: those that outlast the end as one, and those whose
	// lease ends before it as one for each day, with the end at which all of that day together have cost as much as they do.
	// Requests that wait, and leases that have ended, are not in it.
	Commitments(ctx context.Context, q CommitmentQuery) ([]Commitment, error)
}

// Forecast is what the clusters that stand will still cost until the month ends, if no one makes, deletes or extends one: each
// costs its price per hour until its lease ends.
type Forecast struct {
	From    time.Time `json:"from"` // now
	To      time.Time `json:"to"`   // the end of the month
	User    string    `json:"user,omitempty"`
	PerHour float64   `json:"per_hour"` // what they cost now
	Cost    float64   `json:"cost"`
	// Currency is as in Usage.
	Currency string   `json:"currency"`
	Days     []Line   `json:"days"`             // today, from now on, and all days until the month ends
	Budget   *float64 `json:"budget,omitempty"` // money that this month may cost, nil where no quota says so
}

// UsageAhead returns what is still to come this month of what the actor sees in Usage. The budget is the tenant's for those who see
// all of it, and the person's own for the others.
func (a *Service) UsageAhead(ctx context.Context, actor app.Actor) (Forecast, error) {
	if err := actor.Authorize("UsageAhead"); err != nil {
		return Forecast{}, err
	}
	q := CommitmentQuery{Tenant: actor.Tenant}
	if reach, _ := actor.Reach("UsageAhead"); reach == app.Own {
		q.Owner = actor.User
	}
	return a.ahead(ctx, q)
}

// UsageAheadOfAll tells what is still to come this month of all tenants together, for which there is no budget.
func (a *Service) UsageAheadOfAll(ctx context.Context, actor app.Actor) (Forecast, error) {
	if err := actor.Authorize("UsageAheadOfAll"); err != nil {
		return Forecast{}, err
	}
	return a.ahead(ctx, CommitmentQuery{})
}

// aheadKey is whose future was asked for, and in which month.
type aheadKey struct {
	tenant, owner string
	month         time.Time
}

func (a *Service) ahead(ctx context.Context, q CommitmentQuery) (Forecast, error) {
	q.Now = a.Now().UTC()
	month := app.MonthOf(q.Now)
	q.End = month.End
	currency, err := a.Catalogs.CurrencyOf(ctx, q.Tenant)
	if err != nil {
		return Forecast{}, err
	}
	u, err := a.aheads.Get(ctx, a.Now, aheadKey{q.Tenant, q.Owner, month.Start}, func(ctx context.Context) (Forecast, error) {
		list, err := a.Store.Commitments(ctx, q)
		if err != nil {
			return Forecast{}, err
		}
		u := ComputeForecast(list, q.Now, q.End)
		u.User = q.Owner
		if q.Tenant == "" {
			return u, nil
		}
		lines, err := a.Store.QuotaLines(ctx, q.Tenant, q.Owner, nil, q.Now)
		for _, l := range lines {
			personal := l.Scope == policy.QuotaUser || l.Scope == policy.QuotaEachUser
			if l.Measure == policy.MeasurePerMonth && (q.Owner == "" && l.Scope == policy.QuotaTenant || q.Owner != "" && personal) {
				u.Budget = &l.Limit
			}
		}
		return u, err
	})
	u.Currency = currency
	return u, err
}

// ComputeForecast lays commitments out over the days from now until the end.
func ComputeForecast(list []Commitment, now, end time.Time) Forecast {
	u := Forecast{From: now, To: end, Days: []Line{}}
	for _, c := range list {
		if c.Until.IsZero() || c.Until.After(now) {
			u.PerHour += c.PerHour
		}
	}
	for day := IntervalDay.Start(now); day.Before(end); day = IntervalDay.Next(day) {
		l := Line{Start: day}
		until := IntervalDay.Next(day)
		if until.After(end) {
			until = end
		}
		for _, c := range list {
			l.Cost += c.PerHour * app.Overlap(now, c.Until, day, until).Hours()
		}
		u.Cost += l.Cost
		u.Days = append(u.Days, l)
	}
	return u
}
