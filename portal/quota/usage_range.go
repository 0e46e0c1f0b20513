package quota

import (
	"context"
	"net/url"
	"time"

	"muster/app"
	"muster/app/usage"
)

// rangeDays returns the first and last day of a range, as typed; "" for a last day of now.
func rangeDays(name string, now time.Time) (from, to string) {
	month := app.MonthOf(now)
	switch name {
	case lastMonth:
		return app.MonthOf(month.Start.Add(-time.Hour)).Start.Format(time.DateOnly), month.Start.AddDate(0, 0, -1).Format(time.DateOnly)
	case lastDays:
		return now.UTC().AddDate(0, 0, -6).Format(time.DateOnly), ""
	}
	return month.Start.Format(time.DateOnly), ""
}

// usageRange returns the range of a query, and fills in its days if they are missing.
func usageRange(q url.Values, now time.Time) (name string, err error) {
	if name = q.Get("range"); name == "" && q.Get("from") == "" && q.Get("to") == "" {
		name = thisMonth
	}
	for _, r := range UsageRanges {
		from, to := rangeDays(r.Name, now)
		if name == r.Name {
			q.Set("from", from)
			q.Set("to", to)
			return name, nil
		}
		if name == "" && q.Get("from") == from && q.Get("to") == to {
			return r.Name, nil
		}
	}
	if name != "" {
		return "", &app.Error{Code: app.EInvalid, Field: "range", Message: "Unknown period.", Hint: "Choose one of the periods above, or enter from and to."}
	}
	return "", nil
}

// ahead returns the forecast of the usage shown, or nil.
func (p *Service) ahead(ctx context.Context, a app.Actor, v Usage) (*usage.Forecast, error) {
	if v.Range != thisMonth {
		return nil, nil
	}
	look := p.Usage.UsageAhead
	if v.All {
		look = p.Usage.UsageAheadOfAll
	}
	u, err := look(ctx, a)
	if err != nil || u.User != v.Usage.User {
		return nil, err // where a user sees a tenant's sums, the forecast covers only their own
	}
	return &u, nil
}
