package lease

import (
	"context"
	"time"

	"muster/app"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

// OverdueDeletes returns, of all tenants, the deletions that are paused, and were not paused again since then, of clusters whose
// lease had ended by then.
func (s *Store) OverdueDeletes(ctx context.Context, before time.Time, limit int) (ops []app.Operation, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var o cluster.OperationRow
		err := row.Scan(o.Dest()...)
		ops = append(ops, o.Operation())
		return err
	}, `SELECT `+cluster.OperationColumns+` FROM operations o JOIN clusters c ON c.id = o.cluster
		WHERE o.kind = 'delete' AND o.status = 'paused' AND c.deleted_at = 0 AND c.expires_at > 0 AND c.expires_at <= ?
		AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.tenant = o.tenant AND a.act = 'operation.pause' AND a.object = o.cluster AND a.at > ?)
		ORDER BY o.id LIMIT ?`, db.Micros(before), db.Micros(before), limit)
	return ops, err
}

// PausedAt returns when someone last paused an operation of the same cluster; the zero time where no one did.
func (s *Store) PausedAt(ctx context.Context, o app.Operation) (time.Time, error) {
	var at int64
	err := s.Row(ctx, `SELECT COALESCE(max(at), 0) FROM audit WHERE tenant = ? AND act = 'operation.pause' AND object = ?`,
		o.Tenant, o.Cluster).Scan(&at)
	return db.FromMicros(at), err
}
