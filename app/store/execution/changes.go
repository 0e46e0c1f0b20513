package execution

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/operation"
	"muster/app/store/db"
)

// keepChanges keeps what a comparison found of a service.
func keepChanges(t *db.Tx, tenant, cluster string, st *ledger.Step, f execution.Finish) error {
	if f.Changes == nil || st.Service == "" {
		return nil
	}
	return t.Exec(`INSERT INTO service_changes (cluster, node, service, tenant, at, changes) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (cluster, node, service) DO UPDATE SET at = excluded.at, changes = excluded.changes`,
		cluster, st.Node, st.Service, tenant, db.Micros(f.Now), db.JSON(f.Changes))
}

func (s *Store) ServiceChanges(ctx context.Context, tenant, cluster string, limit int) ([]operation.ServiceChanges, error) {
	var list []operation.ServiceChanges
	err := s.Each(ctx, func(row db.Scanner) error {
		var c operation.ServiceChanges
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
