package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/app"
	"muster/app/store/db"
)

// KeepChanges implements app.ChangesStore.
func (s *Store) KeepChanges(ctx context.Context, w app.WorkerID, all []app.FencedChanges) error {
	return s.Write(ctx, func(t *db.Tx) error {
		for _, c := range all {
			err := t.Exec(`INSERT INTO service_changes (cluster, node, service, tenant, at, changes)
				SELECT cluster, node, service, tenant, CAST(? AS BIGINT), CAST(? AS TEXT) FROM steps
				WHERE operation = ? AND idx = ? AND attempt = ? AND worker = ? AND tenant = ? AND state = 'running' AND service <> ''
				ON CONFLICT (cluster, node, service) DO UPDATE SET at = excluded.at, changes = excluded.changes`,
				db.Micros(c.Now), db.JSON(c.Changes), c.Fence.Operation, c.Fence.Index, c.Fence.Attempt, w.Name, w.Tenant)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ServiceChanges implements app.ChangesStore.
func (s *Store) ServiceChanges(ctx context.Context, tenant, cluster string, limit int) ([]app.ServiceChanges, error) {
	var list []app.ServiceChanges
	err := s.Each(ctx, func(row db.Scanner) error {
		var c app.ServiceChanges
		var at int64
		var text string
		if err := row.Scan(&c.Node, &c.Service, &at, &text); err != nil {
			return err
		}
		c.At = db.FromMicros(at)
		if err := json.Unmarshal([]byte(text), &c.Changes); err != nil {
			return fmt.Errorf("changes of %s on %s/%s: %w", c.Service, cluster, c.Node, err)
		}
		list = append(list, c)
		return nil
	}, `SELECT c.node, c.service, c.at, c.changes FROM service_changes c JOIN nodes n ON n.cluster = c.cluster AND n.name = c.node
		WHERE c.cluster = ? AND c.tenant = ? AND n.status <> 'deleted' ORDER BY n.number, c.service LIMIT ?`, cluster, tenant, limit)
	return list, err
}
