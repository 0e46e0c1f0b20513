package store

import (
	"context"
	"time"

	"muster/app"
)

// OverdueDeletes implements app.Ledger.
func (s *clusterStore) OverdueDeletes(ctx context.Context, before time.Time, limit int) (ops []app.Operation, err error) {
	err = s.each(ctx, func(row scanner) error {
		var o operationRow
		err := row.Scan(o.dest()...)
		ops = append(ops, o.operation())
		return err
	}, `SELECT `+operationColumns+` FROM operations o JOIN clusters c ON c.id = o.cluster
		WHERE o.kind = 'delete' AND o.status = 'paused' AND c.deleted_at = 0 AND c.expires_at > 0 AND c.expires_at <= ?
		AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.tenant = o.tenant AND a.act = 'operation.pause' AND a.object = o.cluster AND a.at > ?)
		ORDER BY o.id LIMIT ?`, micros(before), micros(before), limit)
	return ops, err
}

// PausedAt implements app.Ledger.
func (s *clusterStore) PausedAt(ctx context.Context, o app.Operation) (time.Time, error) {
	var at int64
	err := s.row(ctx, `SELECT COALESCE(max(at), 0) FROM audit WHERE tenant = ? AND act = 'operation.pause' AND object = ?`,
		o.Tenant, o.Cluster).Scan(&at)
	return fromMicros(at), err
}
