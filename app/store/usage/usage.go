package usage

import (
	"context"
	"strings"
	"time"

	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/policy"
	"muster/app/usage"
)

// usageColumns are what usage is added up by.
var usageColumns = map[usage.GroupBy]string{
	usage.ByTenant: `x.tenant`, usage.ByUser: `x.owner`, usage.ByTemplate: `x.template`, usage.ByProvider: `x.provider`,
	usage.ByHardware: `x.hardware`, usage.ByCluster: `x.cluster`,
}

// Usage implements usage.UsageStore. A machine is two changes: there is one more from when it was made, and one less from when it
// was gone. Each lies in a unit of time; of all changes of a key in a unit only the sums leave the database.
func (s *Store) Usage(ctx context.Context, q usage.Query, f func(usage.Delta) error) error {
	key := usageColumns[q.By]
	var keyArgs []any
	if label := q.By.Label(); label != "" {
		key = `coalesce((SELECT l.value FROM cluster_labels l WHERE l.cluster = x.cluster AND l.key = ?), '')`
		keyArgs = []any{label}
	}
	if key == "" {
		key = `''`
	}
	from, to, unit := db.Micros(q.From), db.Micros(q.To), q.Unit.Microseconds()
	where, args := usageWhere(q)
	hour := float64(time.Hour.Microseconds())
	base := from - from%unit
	sums := `CAST(sum(e.sign * e.one) AS DOUBLE PRECISION), sum(e.sign * e.cpu), sum(e.sign * e.price), sum(e.sign * e.free),
		CAST(sum(e.sign * e.one * e.rest) AS DOUBLE PRECISION), sum(e.sign * e.cpu * e.rest), sum(e.sign * e.price * e.rest), sum(e.sign * e.free * e.rest)`
	price := `x.price`
	if q.Tenant == "" {
		price += sharedRate(`x.tenant`)
	}
	machine := key + ` AS k, CASE WHEN x.kind = 'machine' THEN 1 ELSE 0 END AS one, CASE WHEN x.kind = 'machine' THEN x.cpu ELSE 0.0 END AS cpu, ` + price + ` AS price,
		CASE WHEN x.kind = 'machine' AND x.price = 0 THEN 1.0 ELSE 0.0 END AS free`
	begins := `CASE WHEN x.created_at > ? THEN x.created_at - ? ELSE ? END`
	ends := `CASE WHEN x.deleted_at = 0 OR x.deleted_at > ? THEN ? ELSE x.deleted_at - ? END`
	all := append([]any{unit, unit, unit, from, base, from - base}, keyArgs...)
	all = append(append(append(all, args...), unit, unit, unit, to, to-base, base), keyArgs...)
	all = append(all, args...)
	return s.Each(ctx, func(row db.Scanner) error {
		var d usage.Delta
		var n int64
		if err := row.Scan(&d.Key, &n, &d.Nodes, &d.Cores, &d.Rate, &d.Unpriced, &d.Sum.NodeHours, &d.Sum.CoreHours, &d.Sum.Cost, &d.Sum.Unpriced); err != nil {
			return err
		}
		d.At = db.FromMicros(base + n*unit)
		for _, x := range []*float64{&d.Sum.NodeHours, &d.Sum.CoreHours, &d.Sum.Cost, &d.Sum.Unpriced} {
			*x /= hour
		}
		return f(d)
	}, `SELECT e.k, e.n, `+sums+` FROM (
		SELECT 1 AS sign, m.t / ? AS n, ? - m.t % ? AS rest, m.* FROM (SELECT `+begins+` AS t, `+machine+` FROM resources x WHERE `+where+`) m
		UNION ALL
		SELECT -1 AS sign, m.t / ? AS n, ? - m.t % ? AS rest, m.* FROM (SELECT `+ends+` AS t, `+machine+` FROM resources x WHERE `+where+`) m
		) e GROUP BY e.k, e.n ORDER BY e.k, e.n`, all...)
}

// sharedRate takes an amount of a tenant into the installation's currency, at today's rate.
func sharedRate(tenant string) string {
	return ` / coalesce((SELECT nullif(t.exchange_rate, 0) FROM tenants t WHERE t.name = ` + tenant + `), 1.0)`
}

// usageWhere finds what existed within the time.
func usageWhere(q usage.Query) (string, []any) {
	from, to := db.Micros(q.From), db.Micros(q.To)
	where, args := `(x.deleted_at = 0 OR x.deleted_at > ?) AND x.created_at < ?`, []any{from, to}
	if q.Tenant != "" {
		where = policy.ExistedDuring
		args = []any{q.Tenant, q.Tenant, from, to}
	}
	where += ` AND (x.deleted_at = 0 OR x.deleted_at > x.created_at)` // clocks differ
	switch {
	case q.Owner != "" && q.Tenant != "":
		// As the index resources_of_owner has it: what belongs to others is not looked at.
		where = strings.ReplaceAll(where, `x.tenant = ?`, `x.tenant = ? AND x.owner = ?`)
		args = []any{q.Tenant, q.Owner, q.Tenant, q.Owner, from, to}
	case q.Owner != "":
		where, args = where+` AND x.owner = ?`, append(args, q.Owner)
	}
	if may, mine := cluster.Readable(q.Reader); may != "" {
		where, args = where+` AND x.cluster IN (SELECT c.id FROM clusters c WHERE c.tenant = x.tenant`+may+`)`, append(args, mine...)
	}
	return where, args
}
