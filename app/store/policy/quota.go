package policy

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"muster/app"
	apppolicy "muster/app/policy"
	"muster/app/store/db"
)

const quotaColumns = `q.scope, q.name, q.clusters, q.nodes, q.cpu, q.per_hour, q.per_month, q.changed_at, q.changed_by,
	coalesce((SELECT t.currency FROM tenants t WHERE t.name = q.tenant), '')`

// scanQuota reads quotaColumns. Currency is the installation's.
func scanQuota(row db.Scanner, currency string) (q apppolicy.Quota, err error) {
	limits := make([]float64, len(apppolicy.Measures))
	var at int64
	err = row.Scan(&q.Scope, &q.Name, &limits[0], &limits[1], &limits[2], &limits[3], &limits[4], &at, &q.ChangedBy, &q.Currency)
	for i, m := range apppolicy.Measures { // in the order of the columns
		if limits[i] >= 0 {
			q.Limits = q.Limits.With(m, limits[i])
		}
	}
	q.ChangedAt, q.Currency = db.FromMicros(at), cmp.Or(q.Currency, currency)
	return q, err
}

// quotas returns those of a tenant, the widest first. Currency is the installation's.
func quotas(each func(func(db.Scanner) error, string, ...any) error, tenant, currency string) (list []apppolicy.Quota, err error) {
	err = each(func(row db.Scanner) error {
		q, err := scanQuota(row, currency)
		list = append(list, q)
		return err
	}, `SELECT `+quotaColumns+` FROM quotas q WHERE q.tenant = ?`, tenant)
	slices.SortFunc(list, func(a, b apppolicy.Quota) int {
		if a.Scope != b.Scope {
			return slices.Index(apppolicy.QuotaScopes, a.Scope) - slices.Index(apppolicy.QuotaScopes, b.Scope)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list, err
}

func (s *Store) SetQuota(ctx context.Context, who app.Actor, q apppolicy.Quota) error {
	return s.Write(ctx, func(t *db.Tx) error {
		before, err := quota(t, who.Tenant, q.Scope, q.Name)
		if err != nil {
			return err
		}
		args := []any{who.Tenant, string(q.Scope), q.Name}
		for _, m := range apppolicy.Measures {
			limit, is := q.Limits.Of(m)
			if !is {
				limit = -1
			}
			args = append(args, limit)
		}
		if err := t.Exec(`INSERT INTO quotas (tenant, scope, name, clusters, nodes, cpu, per_hour, per_month, changed_at, changed_by)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, scope, name) DO UPDATE SET clusters = excluded.clusters, nodes = excluded.nodes, cpu = excluded.cpu,
				per_hour = excluded.per_hour, per_month = excluded.per_month, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
			append(args, db.Micros(q.ChangedAt), q.ChangedBy)...); err != nil {
			return err
		}
		// Another budget is notified of again.
		if err := forgetBudget(t, who.Tenant, q.Scope, q.Name, before, &q); err != nil {
			return err
		}
		return t.AddAudit(q.ChangedAt, who, "quota.set", quotaObject(q.Scope, q.Name), limitsOf(before), q.Limits)
	})
}

func (s *Store) DeleteQuota(ctx context.Context, who app.Actor, scope apppolicy.QuotaScope, name string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		before, err := quota(t, who.Tenant, scope, name)
		if err != nil {
			return err
		}
		if before == nil {
			return app.Errorf(app.ENotFound, "No quota is set for %s.", quotaObject(scope, name))
		}
		if err := t.Exec(`DELETE FROM quotas WHERE tenant = ? AND scope = ? AND name = ?`, who.Tenant, string(scope), name); err != nil {
			return err
		}
		if err := forgetBudget(t, who.Tenant, scope, name, before, nil); err != nil {
			return err
		}
		return t.AddAudit(now, who, "quota.delete", quotaObject(scope, name), before.Limits, nil)
	})
}

func quotaObject(scope apppolicy.QuotaScope, name string) string {
	return strings.TrimSpace(string(scope) + " " + name)
}

func limitsOf(q *apppolicy.Quota) any {
	if q == nil {
		return nil
	}
	return q.Limits
}

// quota returns one; nil where there is none.
func quota(t *db.Tx, tenant string, scope apppolicy.QuotaScope, name string) (*apppolicy.Quota, error) {
	q, err := scanQuota(t.Row(`SELECT `+quotaColumns+` FROM quotas q WHERE q.tenant = ? AND q.scope = ? AND q.name = ?`, tenant, string(scope), name), t.Currency())
	if db.IsNoRows(err) {
		return nil, nil
	}
	return &q, err
}

// quotaReader is one look at a tenant's quotas and at what is used of them, all of the same moment.
type quotaReader struct {
	measuring
	each func(func(db.Scanner) error, string, ...any) error
	all  []apppolicy.Quota
	end  func() // call it when done
}

func (s *Store) readQuotas(ctx context.Context, tenant string, now time.Time) (*quotaReader, error) {
	moment, err := s.Moment(ctx)
	if err != nil {
		return nil, err
	}
	l := &quotaReader{
		measuring: measuring{row: func(q string, args ...any) db.Scanner { return moment.QueryRowContext(ctx, q, args...) }, now: now},
		each: func(f func(db.Scanner) error, q string, args ...any) error {
			return db.Each(ctx, moment, f, q, args...)
		},
		end: func() { _ = moment.Rollback() },
	}
	if l.all, err = quotas(l.each, tenant, s.Currency()); err != nil {
		l.end()
		return nil, err
	}
	return l, nil
}

func (s *Store) QuotaLines(ctx context.Context, tenant, owner string, groups []string, now time.Time) ([]apppolicy.QuotaLine, error) {
	l, err := s.readQuotas(ctx, tenant, now)
	if err != nil {
		return nil, err
	}
	defer l.end()
	standing, err := l.standings(l.all, apppolicy.Reservation{Tenant: tenant, Owner: owner, Groups: groups}, 0)
	return apppolicy.LinesOf(standing), err
}

func (s *Store) QuotaLimits(ctx context.Context, tenant string) ([]apppolicy.Quota, error) {
	return quotas(func(f func(db.Scanner) error, q string, args ...any) error { return s.Each(ctx, f, q, args...) }, tenant, s.Currency())
}

// countMachines looks at no more than it counts: an index has those that exist, and those that are gone, by their end.
const countMachines = `SELECT (SELECT count(*) FROM (SELECT 1 FROM resources x WHERE x.tenant = ? AND x.deleted_at = 0 LIMIT ?) AS l)
	+ (SELECT count(*) FROM (SELECT 1 FROM resources x WHERE x.tenant = ? AND x.deleted_at > ? LIMIT ?) AS g)`

func (s *Store) Machines(ctx context.Context, tenant string, since time.Time, most int) (n int, err error) {
	err = s.Row(ctx, countMachines, tenant, most, tenant, max(db.Micros(since), 0), most).Scan(&n)
	return min(n, most), db.Wrapped(err)
}

func (s *Store) Quotas(ctx context.Context, tenant string, now time.Time) ([]apppolicy.QuotaUse, error) {
	l, err := s.readQuotas(ctx, tenant, now)
	if err != nil {
		return nil, err
	}
	defer l.end()
	list := []apppolicy.QuotaUse{}
	// Of the quotas that are not for groups what everyone has says all, read once.
	var of map[string]apppolicy.Amounts
	for _, q := range l.all {
		u := apppolicy.QuotaUse{Quota: q}
		if q.Scope == apppolicy.QuotaGroup {
			st := apppolicy.QuotaState{Scope: q.Scope, Name: q.Name}
			if err := l.measure(&st, tenant, 0, true); err != nil {
				return nil, err
			}
			u.Used = st.Used
			u.Used.PerMonth = st.Months[0]
			list = append(list, u)
			continue
		}
		if of == nil {
			if of, err = l.byOwner(tenant); err != nil {
				return nil, err
			}
		}
		for owner, a := range of {
			pool := strings.HasPrefix(owner, "pool:")
			switch {
			case q.Scope == apppolicy.QuotaTenant:
				u.Used = apppolicy.Amounts{Clusters: u.Used.Clusters + a.Clusters, Nodes: u.Used.Nodes + a.Nodes, CPU: u.Used.CPU + a.CPU,
					PerHour: u.Used.PerHour + a.PerHour, PerMonth: u.Used.PerMonth + a.PerMonth}
			case q.Scope == apppolicy.QuotaEachUser && !pool:
				u.Used = apppolicy.Amounts{Clusters: max(u.Used.Clusters, a.Clusters), Nodes: max(u.Used.Nodes, a.Nodes), CPU: max(u.Used.CPU, a.CPU),
					PerHour: max(u.Used.PerHour, a.PerHour), PerMonth: max(u.Used.PerMonth, a.PerMonth)}
			case q.Scope == apppolicy.QuotaUser && owner == q.Name:
				u.Used = a
			}
		}
		list = append(list, u)
	}
	return list, nil
}

// byOwner adds up what everyone in a tenant has, and has spent this month and committed for the rest of it.
func (l *quotaReader) byOwner(tenant string) (map[string]apppolicy.Amounts, error) {
	of := map[string]apppolicy.Amounts{}
	month := app.MonthOf(l.now)
	now, end := db.Micros(l.now), db.Micros(month.End)
	err := l.each(func(row db.Scanner) error {
		var owner string
		var a apppolicy.Amounts
		err := row.Scan(&owner, &a.Clusters, &a.Nodes, &a.CPU, &a.PerHour, &a.PerMonth)
		a.PerMonth /= float64(time.Hour.Microseconds())
		of[owner] = a
		return err
	}, `SELECT r.owner, CAST(sum(1 - r.pool) AS DOUBLE PRECISION), CAST(sum(r.nodes) AS DOUBLE PRECISION), sum(r.cpu), sum(r.cost),
			CAST(sum(r.cost * CASE WHEN r.until_at = 0 OR r.until_at >= ? THEN ? WHEN r.until_at > ? THEN r.until_at - ? ELSE 0 END) AS DOUBLE PRECISION)
		FROM reservations r WHERE r.tenant = ? AND r.ended_at = 0 GROUP BY r.owner`, end, end-now, now, now, tenant)
	if err != nil {
		return nil, err
	}
	from := db.Micros(month.Start)
	// Of each owner the index has two parts: what exists, and what was gone since.
	part := `SELECT coalesce(sum(x.price * (CASE WHEN x.deleted_at = 0 OR x.deleted_at > ? THEN ? ELSE x.deleted_at END - CASE WHEN x.created_at > ? THEN x.created_at ELSE ? END)), 0)
		FROM resources x WHERE x.tenant = ? AND x.owner = o.owner AND x.created_at < ? AND `
	args := []any{tenant, tenant, now, now, from, from, tenant, now, now, now, from, from, tenant, now, from}
	err = l.each(func(row db.Scanner) error {
		var owner string
		var stands, gone float64
		err := row.Scan(&owner, &stands, &gone)
		a := of[owner]
		a.PerMonth += (stands + gone) / float64(time.Hour.Microseconds())
		of[owner] = a
		return err
	}, `WITH RECURSIVE o(owner) AS (SELECT min(owner) FROM resources WHERE tenant = ? UNION ALL
			SELECT (SELECT min(x.owner) FROM resources x WHERE x.tenant = ? AND x.owner > o.owner) FROM o WHERE o.owner IS NOT NULL)
		SELECT o.owner, CAST((`+part+`x.deleted_at = 0) AS DOUBLE PRECISION), CAST((`+part+`x.deleted_at > ? AND x.deleted_at > x.created_at) AS DOUBLE PRECISION)
		FROM o WHERE o.owner IS NOT NULL`, args...)
	return of, err
}

// measuring adds up what is used.
type measuring struct {
	row func(query string, args ...any) db.Scanner
	now time.Time
}

// standings returns the quotas that apply to a reservation, with what all others use of them. Except is the reservation that
// does not count; 0 for none.
func (m measuring) standings(all []apppolicy.Quota, r apppolicy.Reservation, except int64) (list []apppolicy.QuotaState, err error) {
	var own apppolicy.Limits
	for _, q := range all {
		if q.Scope == apppolicy.QuotaUser && q.Name == r.Owner {
			own = q.Limits
		}
	}
	for _, q := range all {
		s := apppolicy.QuotaState{Scope: q.Scope, Name: q.Name, Limits: q.Limits, Currency: q.Currency}
		switch q.Scope {
		case apppolicy.QuotaTenant:
		case apppolicy.QuotaGroup:
			if !slices.Contains(r.Groups, q.Name) {
				continue
			}
		case apppolicy.QuotaEachUser:
			if r.Pool {
				continue
			}
			s.Name, s.Limits = r.Owner, q.Limits.Without(own)
		case apppolicy.QuotaUser:
			if q.Name != r.Owner {
				continue
			}
		default:
			continue
		}
		if s.Limits.None() {
			continue
		}
		_, monthly := s.Limits.Of(apppolicy.MeasurePerMonth)
		if err := m.measure(&s, r.Tenant, except, monthly); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// measure fills in what is used. What was spent this month is added only where it is asked for, since it takes longest.
func (m measuring) measure(s *apppolicy.QuotaState, tenant string, except int64, monthly bool) error {
	months := apppolicy.QuotaMonths(m.now)
	var args []any
	commit := ""
	begin := db.Micros(m.now)
	for _, month := range months {
		end := db.Micros(month.End)
		commit += `, CAST(coalesce(sum(r.cost * CASE WHEN r.until_at = 0 OR r.until_at >= ? THEN ? WHEN r.until_at > ? THEN r.until_at - ? ELSE 0 END), 0) AS DOUBLE PRECISION)`
		args = append(args, end, end-begin, begin, begin)
		begin = end
	}
	from, where := `reservations r`, `r.tenant = ? AND r.ended_at = 0 AND r.id <> ?`
	args = append(args, tenant, except)
	switch s.Scope {
	case apppolicy.QuotaGroup:
		from = `reservation_groups g JOIN reservations r ON r.id = g.reservation`
		where += ` AND g.tenant = ? AND g.in_group = ? AND g.ended_at = 0`
		args = append(args, tenant, s.Name)
	case apppolicy.QuotaUser, apppolicy.QuotaEachUser:
		where += ` AND r.owner = ?`
		args = append(args, s.Name)
	}
	err := m.row(`SELECT CAST(coalesce(sum(1 - r.pool), 0) AS DOUBLE PRECISION), CAST(coalesce(sum(r.nodes), 0) AS DOUBLE PRECISION), CAST(coalesce(sum(r.cpu), 0) AS DOUBLE PRECISION),
		CAST(coalesce(sum(r.cost), 0) AS DOUBLE PRECISION)`+commit+` FROM `+from+` WHERE `+where, args...).
		Scan(&s.Used.Clusters, &s.Used.Nodes, &s.Used.CPU, &s.Used.PerHour, &s.Months[0], &s.Months[1], &s.Months[2])
	if err != nil {
		return db.Wrapped(err)
	}
	for i := range s.Months {
		s.Months[i] /= float64(time.Hour.Microseconds())
	}
	if !monthly {
		return nil
	}
	spent, err := m.spent(s, tenant, months[0].Start)
	s.Months[0] += spent
	return err
}

// ExistedDuring finds the machines of a tenant that existed at some time since one moment and before another.
const ExistedDuring = `(x.tenant = ? AND x.deleted_at = 0 OR x.tenant = ? AND x.deleted_at > ?) AND x.created_at < ?`

// spent returns what machines have cost since a moment. It is asked in parts that an index alone can answer each.
func (m measuring) spent(s *apppolicy.QuotaState, tenant string, since time.Time) (cost float64, err error) {
	from, now := db.Micros(since), db.Micros(m.now)
	machines := `resources x`
	parts := []string{`x.tenant = ? AND x.deleted_at = 0`, `x.tenant = ? AND x.deleted_at > ? AND x.deleted_at > x.created_at`}
	of := [][]any{{tenant}, {tenant, from}}
	switch s.Scope {
	case apppolicy.QuotaGroup:
		// By the clusters of the group, of which each has one reservation: what they take ends after their machines are gone, never before.
		machines = `reservation_groups g JOIN reservations r ON r.id = g.reservation JOIN resources x ON x.cluster = r.cluster`
		// The text that is added keeps SQLite from the index by tenant.
		parts = []string{`g.tenant = ? AND g.in_group = ? AND (g.ended_at = 0 OR g.ended_at >= ?) AND r.cluster <> ''
			AND x.tenant || '' = ? AND (x.deleted_at = 0 OR x.deleted_at > ? AND x.deleted_at > x.created_at)`}
		of = [][]any{{tenant, s.Name, from, tenant, from}}
	case apppolicy.QuotaUser, apppolicy.QuotaEachUser:
		for i := range parts {
			parts[i], of[i] = parts[i]+` AND x.owner = ?`, append(of[i], s.Name)
		}
	}
	for i, part := range parts {
		var sum float64
		err := m.row(`SELECT CAST(coalesce(sum(x.price * (CASE WHEN x.deleted_at = 0 OR x.deleted_at > ? THEN ? ELSE x.deleted_at END
			- CASE WHEN x.created_at > ? THEN x.created_at ELSE ? END)), 0) AS DOUBLE PRECISION) FROM `+machines+` WHERE x.created_at < ? AND `+part,
			append([]any{now, now, from, from, now}, of[i]...)...).Scan(&sum)
		if err != nil {
			return 0, db.Wrapped(err)
		}
		cost += sum
	}
	return cost / float64(time.Hour.Microseconds()), nil
}

// CopyQuotas leaves out those of single users, who have no account in the new tenant.
func CopyQuotas(t *db.Tx, who app.Actor, from, to string, at time.Time) error {
	return t.Exec(`INSERT INTO quotas (tenant, scope, name, clusters, nodes, cpu, per_hour, per_month, changed_at, changed_by)
		SELECT ?, scope, name, clusters, nodes, cpu, per_hour, per_month, ?, ? FROM quotas WHERE tenant = ? AND scope <> 'user'`,
		to, db.Micros(at), who.Name(), from)
}
