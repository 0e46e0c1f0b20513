package usage

import (
	"context"
	"time"

	"muster/app/store/db"
	"muster/app/usage"
)

// Commitments implements usage.CommitmentStore. One look at what is reserved returns at most a row for each day.
func (s *Store) Commitments(ctx context.Context, q usage.CommitmentQuery) (list []usage.Commitment, err error) {
	now, end, day := db.Micros(q.Now), db.Micros(q.End), (24 * time.Hour).Microseconds()
	where, args, cost := ``, []any{end, day, now, now}, `r.cost`
	if q.Tenant == "" {
		cost += sharedRate(`r.tenant`)
	} else {
		where, args = where+` AND r.tenant = ?`, append(args, q.Tenant)
	}
	if q.Owner != "" {
		where, args = where+` AND r.owner = ?`, append(args, q.Owner)
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var at int64
		var rate, rest float64
		if err := row.Scan(&at, &rate, &rest); err != nil {
			return err
		}
		c := usage.Commitment{PerHour: rate}
		if at >= 0 {
			c.Until = q.Now.Add(time.Duration(rest / rate * float64(time.Microsecond)))
		}
		list = append(list, c)
		return nil
	}, `SELECT x.at, sum(x.cost), CAST(sum(x.cost * x.rest) AS DOUBLE PRECISION) FROM (
			SELECT CASE WHEN r.until_at = 0 OR r.until_at >= ? THEN -1 ELSE r.until_at / ? END AS at, `+cost+` AS cost, r.until_at - ? AS rest
			FROM reservations r WHERE r.ended_at = 0 AND r.cost > 0 AND (r.cluster <> '' OR r.pool = 1) AND (r.until_at = 0 OR r.until_at > ?)`+where+`
		) x GROUP BY x.at ORDER BY x.at`, args...)
	return list, err
}
