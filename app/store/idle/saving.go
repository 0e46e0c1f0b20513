package idle

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/idle"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/template"
)

func (s *Store) IdleSavings(ctx context.Context, q idle.SavingsQuery) (list []idle.Saving, err error) {
	where, args := `x.tenant = ? AND x.from_at > 0 AND x.from_at < ? AND (x.until_at = 0 OR x.until_at > ?)`, []any{q.Tenant, db.Micros(q.To), db.Micros(q.From)}
	if q.Owner != "" {
		where, args = where+` AND c.owner = ?`, append(args, q.Owner)
	}
	if q.Cluster != "" {
		where, args = where+` AND x.cluster = ?`, append(args, q.Cluster)
	}
	may, mine := clusterdb.Readable(q.Reader)
	args = append(append(args, mine...), q.Limit)
	err = s.Each(ctx, func(row db.Scanner) error {
		var v idle.Saving
		var from, until int64
		err := row.Scan(&v.Cluster, &v.Name, &v.Owner, &v.Operation, &v.PerHour, &from, &until)
		v.From, v.Until = db.FromMicros(from), db.FromMicros(until)
		list = append(list, v)
		return err
	}, `SELECT x.cluster, c.name, c.owner, x.operation, x.per_hour, x.from_at, x.until_at FROM idle_savings x JOIN clusters c ON c.id = x.cluster
		WHERE `+where+may+` ORDER BY x.from_at DESC, x.operation DESC LIMIT ?`, args...)
	return list, err
}

// IdleWarnings returns the clusters of a tenant that go to sleep or are deleted soon because they are idle.
func (s *Store) IdleWarnings(ctx context.Context, r app.ClusterReader, limit int) (list []idle.Due, err error) {
	may, mine := clusterdb.Readable(&r)
	err = s.Each(ctx, func(row db.Scanner) error {
		d, err := scanDue(row)
		list = append(list, d)
		return err
	}, `SELECT `+clusterdb.Columns+`, `+columns+`, h.policy FROM cluster_idle i JOIN clusters c ON c.id = i.cluster JOIN cluster_health h ON h.cluster = i.cluster
		WHERE i.tenant = ? AND i.act_at > 0 AND i.disabled = 0`+may+` ORDER BY i.act_at LIMIT ?`, append(append([]any{r.Tenant}, mine...), limit)...)
	return list, err
}

// DefaultIdlePolicy returns the tenant's; nil where it has none.
func (s *Store) DefaultIdlePolicy(ctx context.Context, tenant string) (*template.IdlePolicy, error) {
	var text string
	if err := s.Row(ctx, `SELECT idle_policy FROM tenants WHERE name = ?`, tenant).Scan(&text); err != nil && !db.IsNoRows(err) {
		return nil, db.Wrapped(err)
	}
	if text == "" {
		return nil, nil
	}
	p := &template.IdlePolicy{}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, fmt.Errorf("store: idle policy of tenant %s: %w", tenant, err)
	}
	return p, nil
}

// SetDefault writes the tenant's policy, and has all of its clusters follow whose templates say nothing.
func SetDefault(t *db.Tx, who app.Actor, at time.Time, p *template.IdlePolicy) error {
	var was string
	if err := t.Row(`SELECT idle_policy FROM tenants WHERE name = ?`, who.Tenant).Scan(&was); err != nil {
		return db.Wrapped(err)
	}
	text := ""
	if p != nil {
		text = db.JSON(p)
	}
	if text == was {
		return nil
	}
	if err := t.Exec(`UPDATE tenants SET idle_policy = ? WHERE name = ?`, text, who.Tenant); err != nil {
		return err
	}
	err := t.Exec(`DELETE FROM cluster_idle WHERE tenant = ? AND from_tenant = 1`, who.Tenant)
	if err == nil && p.Measures() {
		err = t.Exec(`INSERT INTO cluster_idle (cluster, tenant, policy, from_tenant, disabled, active_at, idle_since, measured_at, reasons, kept_until, kept_by,
				warned_at, act_at, confirm_at, done_at, note, due_at)
			SELECT c.id, c.tenant, CAST(? AS TEXT), 1, 0, CAST(? AS BIGINT), 0, 0, '[]', 0, '', 0, 0, 0, 0, '', 0 FROM clusters c
			WHERE c.tenant = ? AND c.deleted_at = 0 AND c.pool = 0 AND NOT EXISTS (SELECT 1 FROM cluster_idle i WHERE i.cluster = c.id)`,
			text, db.Micros(at), who.Tenant)
	}
	if err != nil {
		return err
	}
	return t.AddAudit(at, who, "tenant.idle", who.Tenant, json.RawMessage(orNull(was)), json.RawMessage(orNull(text)))
}

func orNull(text string) string {
	if text == "" {
		return "null"
	}
	return text
}
