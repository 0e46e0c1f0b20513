package quota

import (
	"context"
	"net/url"
	"time"

	"muster/app"
	"muster/app/usage"
)

// rangeDays returns a range as it would be typed: its first day, and its last, "" where it goes on until now.
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

// usageRange finds out which range is asked for, and writes its days where they were not typed.
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
		return "", &app.Error{Code: app.EInvalid, Field: "range", Message: "There is no such range of time.", Hint: "Choose one of those above, or say from when until when."}
	}
	return "", nil
}

// ahead returns the forecast that belongs to what is shown; nil where there is none.
func (p *Service) ahead(ctx context.Context, a app.Actor, v Usage) (*usage.UsageAhead, error) {
	if v.Range != thisMonth {
		return nil, nil
	}
	look := p.Usage.UsageAhead
	if v.All {
		look = p.Usage.UsageAheadOfAll
	}
	u, err := look(ctx, a)
	if err != nil || u.User != v.Usage.User {
		return nil, err // of a tenant's sums that a user sees, only what is the user's own could be told
	}
	return &u, nil
}
