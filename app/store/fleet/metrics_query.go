package fleet

import (
	"context"
	"time"

	"muster/app/observe"
	"muster/app/store/db"
)

// maxTenants is of how many tenants there are figures of their own.
const maxTenants = 200

// A level question has, in each row, the labels of its metrics first and then a figure for each of them. All of them read
// indexes alone, and of what has ended nothing, but for lists that are short.
type levelQuestion struct {
	name    string
	metrics []*observe.Metric
	query   string
	args    func(now time.Time, most int) []any // nil: none; most is how many slots a tenant may have that has no number of its own
}

var levelQuestions = []levelQuestion{
	{"steps", []*observe.Metric{observe.LevelSteps}, `SELECT 'ready', count(*) FROM steps WHERE state = 'ready'
		UNION ALL SELECT 'queued', count(*) FROM steps WHERE state = 'queued'
		UNION ALL SELECT 'running', count(*) FROM steps WHERE state = 'running'`, nil},
	{"oldest", []*observe.Metric{observe.LevelOldest}, oldestQueued, oldestArgs},
	{"outbox", []*observe.Metric{observe.LevelOutbox}, `SELECT count(*) FROM steps WHERE state = 'queued' AND rung_at = 0`, nil},
	{"overdue", []*observe.Metric{observe.LevelOverdue}, `SELECT count(*) FROM steps WHERE state = 'running' AND deadline < ?`, nowOnly},
	{"operations", []*observe.Metric{observe.LevelOperations}, `SELECT status, count(*) FROM operations WHERE status IN ('waiting', 'running', 'paused', 'cancelling') GROUP BY status`, nil},
	{"clusters", []*observe.Metric{observe.LevelClusters}, `SELECT status, count(*) FROM clusters WHERE deleted_at = 0 AND pool = 0 GROUP BY status`, nil},
	{"leases", []*observe.Metric{observe.LevelLeases}, `SELECT count(*) FROM clusters WHERE deleted_at = 0 AND expires_at > 0 AND expires_at < ?`,
		func(now time.Time, _ int) []any { return []any{db.Micros(now.Add(24 * time.Hour))} }},
	{"machines", []*observe.Metric{observe.LevelMachines, observe.LevelCost},
		`SELECT count(*), coalesce(sum(r.price / CASE WHEN t.exchange_rate > 0 THEN t.exchange_rate ELSE 1.0 END), 0.0) FROM tenants t JOIN resources r ON r.tenant = t.name AND r.gone_at = 0`, nil},
	{"orphans", []*observe.Metric{observe.LevelOrphans}, `SELECT CASE WHEN tenant <> '' AND provider LIKE '%/%' THEN 'of tenants' ELSE provider END, count(*)
		FROM orphans WHERE gone_at = 0 GROUP BY 1`, nil},
	{"provisioners", []*observe.Metric{observe.LevelProvisioner}, `SELECT state, count(*) FROM provisioners WHERE state IN ('active', 'draining') GROUP BY state`, nil},
	{"slots", []*observe.Metric{observe.LevelSlots}, `SELECT coalesce(sum(slots), 0) FROM provisioners WHERE state = 'active'`, nil},
	{"deliveries", []*observe.Metric{observe.LevelDeliveries}, `SELECT count(*) FROM hook_deliveries WHERE state = 'waiting' AND notice > 0`, nil},
}

var tenantQuestions = []levelQuestion{
	{"tenants' steps", []*observe.Metric{observe.LevelTenantSteps}, `SELECT tenant, sum(queued) FROM operations WHERE queued > 0 GROUP BY tenant ORDER BY 2 DESC, 1 LIMIT ?`, tenantsOnly},
	{"tenants' clusters", []*observe.Metric{observe.LevelTenantClusters, observe.LevelTenantCost},
		`SELECT c.tenant, c.n, c.cost / coalesce(nullif(t.exchange_rate, 0), 1.0) FROM (
			SELECT tenant, count(*) AS n, coalesce(sum(cost_per_hour), 0.0) AS cost FROM clusters WHERE deleted_at = 0 AND pool = 0 GROUP BY tenant ORDER BY 2 DESC, 1 LIMIT ?
		) c LEFT JOIN tenants t ON t.name = c.tenant ORDER BY 2 DESC, 1`, tenantsOnly},
}

// oldestQueued looks at the first queued step of each tenant that has some. A step in its back-off, or of a paused operation, is not queued. A tenant that
// has all the slots it may have waits for no one but itself: another provisioner would be of no use to it. The clock may have been set back.
const oldestQueued = `SELECT CASE WHEN min(since) < ? THEN (? - min(since)) / 1000000.0 ELSE 0 END FROM (
		SELECT (SELECT min(s.queued_at) FROM steps s WHERE s.state = 'queued' AND s.tenant = o.tenant AND s.queued_at > 0) AS since,
			CASE WHEN t.slots > 0 THEN t.slots ELSE ? END AS most,
			(SELECT coalesce(sum(h.slots), 0) FROM provisioner_shares h JOIN provisioners p ON p.id = h.provisioner AND p.state = 'active' WHERE h.tenant = o.tenant) AS has
		FROM (SELECT DISTINCT tenant FROM operations WHERE queued > 0) AS o LEFT JOIN tenants t ON t.name = o.tenant) AS lines
	WHERE most = 0 OR has < most`

func oldestArgs(now time.Time, most int) []any { return []any{db.Micros(now), db.Micros(now), most} }
func nowOnly(now time.Time, _ int) []any       { return []any{db.Micros(now)} }
func tenantsOnly(time.Time, int) []any         { return []any{maxTenants} }

// QueryMetrics are the questions whose answers operators watch, one query each; with tenants also those that tell tenants apart. Most is how many slots
// a tenant may have that has no number of its own; 0: no limit.
func (s *Store) QueryMetrics(tenants bool, most int) []observe.Gauging {
	questions := levelQuestions
	if tenants {
		questions = append(questions[:len(questions):len(questions)], tenantQuestions...)
	}
	all := make([]observe.Gauging, len(questions))
	for i, q := range questions {
		all[i] = observe.Gauging{Name: q.name, Metrics: q.metrics, Read: func(ctx context.Context) ([]observe.Reading, error) { return s.levels(ctx, q, most) }}
	}
	return append(all, observe.Gauging{Name: "leads", Metrics: []*observe.Metric{observe.LevelLeader}, Read: func(context.Context) ([]observe.Reading, error) {
		r := observe.Reading{Metric: observe.LevelLeader}
		if s.Leads() {
			r.Value = 1
		}
		return []observe.Reading{r}, nil
	}})
}

func (s *Store) levels(ctx context.Context, q levelQuestion, most int) (all []observe.Reading, err error) {
	var args []any
	if q.args != nil {
		args = q.args(time.Now(), most)
	}
	labels, values := make([]string, len(q.metrics[0].Labels)), make([]float64, len(q.metrics))
	dest := make([]any, 0, len(labels)+len(values))
	for i := range labels {
		dest = append(dest, &labels[i])
	}
	for i := range values {
		dest = append(dest, &values[i])
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		if err := row.Scan(dest...); err != nil {
			return err
		}
		for i, m := range q.metrics {
			all = append(all, observe.Reading{Metric: m, Value: values[i], Labels: append([]string(nil), labels...)})
		}
		return nil
	}, q.query, args...)
	return all, err
}
