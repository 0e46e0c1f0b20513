package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"muster/app"
)

const quotaColumns = `q.scope, q.name, q.clusters, q.nodes, q.cpu, q.per_hour, q.per_month, q.changed_at, q.changed_by`

func scanQuota(row scanner, more ...any) (q app.Quota, err error) {
	limits := make([]float64, len(app.Measures))
	var at int64
	err = row.Scan(append([]any{&q.Scope, &q.Name, &limits[0], &limits[1], &limits[2], &limits[3], &limits[4], &at, &q.ChangedBy}, more...)...)
	for i, m := range app.Measures { // in the order of the columns
		if limits[i] >= 0 {
			q.Limits = q.Limits.With(m, limits[i])
		}
	}
	q.ChangedAt = fromMicros(at)
	return q, err
}

// quotas gives those of a tenant, the widest first.
func quotas(each func(func(scanner) error, string, ...any) error, tenant string) (list []app.Quota, err error) {
	err = each(func(row scanner) error {
		q, err := scanQuota(row)
		list = append(list, q)
		return err
	}, `SELECT `+quotaColumns+` FROM quotas q WHERE q.tenant = ?`, tenant)
	slices.SortFunc(list, func(a, b app.Quota) int {
		if a.Scope != b.Scope {
			return slices.Index(app.QuotaScopes, a.Scope) - slices.Index(app.QuotaScopes, b.Scope)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list, err
}

// SetQuota implements app.QuotaStore.
func (s *Store) SetQuota(ctx context.Context, who app.Actor, q app.Quota) error {
	return s.write(ctx, func(t *tx) error {
		before, err := t.quota(who.Tenant, q.Scope, q.Name)
		if err != nil {
			return err
		}
		args := []any{who.Tenant, string(q.Scope), q.Name}
		for _, m := range app.Measures {
			limit, is := q.Limits.Of(m)
			if !is {
				limit = -1
			}
			args = append(args, limit)
		}
		if err := t.exec(`INSERT INTO quotas (tenant, scope, name, clusters, nodes, cpu, per_hour, per_month, changed_at, changed_by)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, scope, name) DO UPDATE SET clusters = excluded.clusters, nodes = excluded.nodes, cpu = excluded.cpu,
				per_hour = excluded.per_hour, per_month = excluded.per_month, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
			append(args, micros(q.ChangedAt), q.ChangedBy)...); err != nil {
			return err
		}
		// Another budget is told of anew.
		if err := t.forgetBudget(who.Tenant, q.Scope, q.Name, before, &q); err != nil {
			return err
		}
		return t.deed(q.ChangedAt, who, "quota.set", quotaObject(q.Scope, q.Name), limitsOf(before), q.Limits)
	})
}

// DeleteQuota implements app.QuotaStore.
func (s *Store) DeleteQuota(ctx context.Context, who app.Actor, scope app.QuotaScope, name string, now time.Time) error {
	return s.write(ctx, func(t *tx) error {
		before, err := t.quota(who.Tenant, scope, name)
		if err != nil {
			return err
		}
		if before == nil {
			return app.Errorf(app.ENotFound, "There is no quota for %s.", quotaObject(scope, name))
		}
		if err := t.exec(`DELETE FROM quotas WHERE tenant = ? AND scope = ? AND name = ?`, who.Tenant, string(scope), name); err != nil {
			return err
		}
		if err := t.forgetBudget(who.Tenant, scope, name, before, nil); err != nil {
			return err
		}
		return t.deed(now, who, "quota.delete", quotaObject(scope, name), before.Limits, nil)
	})
}

func quotaObject(scope app.QuotaScope, name string) string {
	return strings.TrimSpace(string(scope) + " " + name)
}

func limitsOf(q *app.Quota) any {
	if q == nil {
		return nil
	}
	return q.Limits
}

// quota gives one; nil where there is none.
func (t *tx) quota(tenant string, scope app.QuotaScope, name string) (*app.Quota, error) {
	q, err := scanQuota(t.row(`SELECT `+quotaColumns+` FROM quotas q WHERE q.tenant = ? AND q.scope = ? AND q.name = ?`, tenant, string(scope), name))
	if isNoRows(err) {
		return nil, nil
	}
	return &q, err
}

// quotaLook is one look at a tenant's quotas and at what is used of them, all of the same moment.
type quotaLook struct {
	measuring
	each func(func(scanner) error, string, ...any) error
	all  []app.Quota
	end  func() // call it when done
}

func (s *Store) lookAtQuotas(ctx context.Context, tenant string, now time.Time) (*quotaLook, error) {
	moment, err := s.reads.moment(ctx)
	if err != nil {
		return nil, err
	}
	l := &quotaLook{
		measuring: measuring{row: func(q string, args ...any) scanner { return moment.QueryRowContext(ctx, q, args...) }, now: now},
		each:      func(f func(scanner) error, q string, args ...any) error { return each(ctx, moment, f, q, args...) },
		end:       func() { _ = moment.Rollback() },
	}
	if l.all, err = quotas(l.each, tenant); err != nil {
		l.end()
		return nil, err
	}
	return l, nil
}

// QuotaLines implements app.QuotaStore.
func (s *Store) QuotaLines(ctx context.Context, tenant, owner string, groups []string, now time.Time) ([]app.QuotaLine, error) {
	l, err := s.lookAtQuotas(ctx, tenant, now)
	if err != nil {
		return nil, err
	}
	defer l.end()
	standing, err := l.standings(l.all, app.Reservation{Tenant: tenant, Owner: owner, Groups: groups}, 0)
	return app.LinesOf(standing), err
}

// Quotas implements app.QuotaStore.
func (s *Store) Quotas(ctx context.Context, tenant string, now time.Time) ([]app.QuotaUse, error) {
	l, err := s.lookAtQuotas(ctx, tenant, now)
	if err != nil {
		return nil, err
	}
	defer l.end()
	list := []app.QuotaUse{}
	for _, q := range l.all {
		u := app.QuotaUse{Quota: q}
		of := []app.QuotaStanding{{Scope: q.Scope, Name: q.Name}}
		if q.Scope == app.QuotaEachUser {
			if of, err = owners(l.each, tenant, now); err != nil {
				return nil, err
			}
		}
		for _, st := range of {
			if err := l.measure(&st, tenant, 0, true); err != nil {
				return nil, err
			}
			a := st.Used
			a.PerMonth = st.Months[0]
			u.Used = app.Amounts{Clusters: max(u.Used.Clusters, a.Clusters), Nodes: max(u.Used.Nodes, a.Nodes), CPU: max(u.Used.CPU, a.CPU),
				PerHour: max(u.Used.PerHour, a.PerHour), PerMonth: max(u.Used.PerMonth, a.PerMonth)}
		}
		list = append(list, u)
	}
	return list, nil
}

// owners gives everybody who has something in a tenant, or had this month.
func owners(each func(func(scanner) error, string, ...any) error, tenant string, now time.Time) (of []app.QuotaStanding, err error) {
	err = each(func(row scanner) error {
		st := app.QuotaStanding{Scope: app.QuotaUser}
		err := row.Scan(&st.Name)
		of = append(of, st)
		return err
	}, `SELECT r.owner FROM reservations r WHERE r.tenant = ? AND r.ended_at = 0 AND r.pool = 0
		UNION SELECT x.owner FROM resources x WHERE x.tenant = ? AND x.gone_at > ? AND x.owner NOT LIKE 'pool:%'`, tenant, tenant, micros(app.MonthOf(now).Start))
	return of, err
}

// measuring adds up what is used.
type measuring struct {
	row func(query string, args ...any) scanner
	now time.Time
}

// standings gives the quotas that apply to a reservation, with what all others use of them. Except is the reservation that
// does not count; 0 for none.
func (m measuring) standings(all []app.Quota, r app.Reservation, except int64) (list []app.QuotaStanding, err error) {
	var own app.Limits
	for _, q := range all {
		if q.Scope == app.QuotaUser && q.Name == r.Owner {
			own = q.Limits
		}
	}
	for _, q := range all {
		s := app.QuotaStanding{Scope: q.Scope, Name: q.Name, Limits: q.Limits}
		switch q.Scope {
		case app.QuotaTenant:
		case app.QuotaGroup:
			if !slices.Contains(r.Groups, q.Name) {
				continue
			}
		case app.QuotaEachUser:
			if r.Pool {
				continue
			}
			s.Name, s.Limits = r.Owner, q.Limits.Without(own)
		case app.QuotaUser:
			if q.Name != r.Owner {
				continue
			}
		default:
			continue
		}
		if s.Limits.None() {
			continue
		}
		_, monthly := s.Limits.Of(app.MeasurePerMonth)
		if err := m.measure(&s, r.Tenant, except, monthly); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// measure fills in what is used. What was spent this month is added only where it is asked for, since it takes longest.
func (m measuring) measure(s *app.QuotaStanding, tenant string, except int64, monthly bool) error {
	months := app.QuotaMonths(m.now)
	var args []any
	commit := ""
	begin := micros(m.now)
	for _, month := range months {
		end := micros(month.End)
		commit += `, CAST(coalesce(sum(r.cost * CASE WHEN r.until_at = 0 OR r.until_at >= ? THEN ? WHEN r.until_at > ? THEN r.until_at - ? ELSE 0 END), 0) AS DOUBLE PRECISION)`
		args = append(args, end, end-begin, begin, begin)
		begin = end
	}
	from, where := `reservations r`, `r.tenant = ? AND r.ended_at = 0 AND r.id <> ?`
	args = append(args, tenant, except)
	switch s.Scope {
	case app.QuotaGroup:
		from = `reservation_groups g JOIN reservations r ON r.id = g.reservation`
		where += ` AND g.tenant = ? AND g.in_group = ? AND g.ended_at = 0`
		args = append(args, tenant, s.Name)
	case app.QuotaUser, app.QuotaEachUser:
		where += ` AND r.owner = ?`
		args = append(args, s.Name)
	}
	err := m.row(`SELECT CAST(coalesce(sum(1 - r.pool), 0) AS DOUBLE PRECISION), CAST(coalesce(sum(r.nodes), 0) AS DOUBLE PRECISION), CAST(coalesce(sum(r.cpu), 0) AS DOUBLE PRECISION),
		CAST(coalesce(sum(r.cost), 0) AS DOUBLE PRECISION)`+commit+` FROM `+from+` WHERE `+where, args...).
		Scan(&s.Used.Clusters, &s.Used.Nodes, &s.Used.CPU, &s.Used.PerHour, &s.Months[0], &s.Months[1], &s.Months[2])
	if err != nil {
		return wrapped(err)
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

// stoodSince finds the machines of a tenant that stood at some time since one moment and before another.
const stoodSince = `(x.tenant = ? AND x.gone_at = 0 OR x.tenant = ? AND x.gone_at > ?) AND x.made_at < ?`

// spent gives what machines have cost since a moment.
func (m measuring) spent(s *app.QuotaStanding, tenant string, since time.Time) (cost float64, err error) {
	from, now := micros(since), micros(m.now)
	args := []any{now, now, from, from, tenant, tenant, from, now}
	where := ""
	switch s.Scope {
	case app.QuotaGroup:
		where = ` AND EXISTS (SELECT 1 FROM reservations r JOIN reservation_groups g ON g.reservation = r.id WHERE r.cluster = x.cluster
			AND r.cluster <> '' AND g.in_group = ?)`
		args = append(args, s.Name)
	case app.QuotaUser, app.QuotaEachUser:
		where = ` AND x.owner = ?`
		args = append(args, s.Name)
	}
	err = m.row(`SELECT CAST(coalesce(sum(x.price * (CASE WHEN x.gone_at = 0 OR x.gone_at > ? THEN ? ELSE x.gone_at END
			- CASE WHEN x.made_at > ? THEN x.made_at ELSE ? END)), 0) AS DOUBLE PRECISION) FROM resources x
		WHERE `+stoodSince+`
			AND (x.gone_at = 0 OR x.gone_at > x.made_at)`+where, args...).Scan(&cost)
	return cost / float64(time.Hour.Microseconds()), wrapped(err)
}
