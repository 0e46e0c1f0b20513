package execution

import (
	"context"
	"fmt"

	"muster/app/execution"
	"muster/app/store/db"
)

// Each EXISTS by the operation alone is looked at once, not for every row.
const pendingCreates = `SELECT n.hardware, n.image, n.zone, COUNT(*) FROM steps s JOIN nodes n ON n.cluster = s.cluster AND n.name = s.node
	WHERE s.operation = ? AND s.tenant = ? AND s.action = 'create' AND s.state IN ('waiting', 'ready', 'queued', 'running') AND n.status = 'planned' AND n.machine_id = ''
	AND NOT EXISTS (SELECT 1 FROM pool_machines m WHERE m.for_cluster = n.cluster AND m.for_node = n.name AND m.for_cluster <> '' AND m.state = 'promised')
	AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.id = ? AND o.on_failure IN ('accept_partial', 'accept_partial_or_roll_back'))
	AND (s.state <> 'waiting' OR NOT EXISTS (SELECT 1 FROM steps d WHERE d.operation = ? AND d.action = 'delete' AND d.state NOT IN ('succeeded', 'dropped')))
	GROUP BY n.hardware, n.image, n.zone ORDER BY n.hardware, n.image, n.zone`

func (s *Store) MachinesToCreate(ctx context.Context, tenant string, operation int64) (kinds []execution.NodeKind, standing int, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var k execution.NodeKind
		err := row.Scan(&k.Hardware, &k.Image, &k.Zone, &k.Count)
		kinds = append(kinds, k)
		return err
	}, pendingCreates, operation, tenant, operation, operation)
	if err != nil || len(kinds) == 0 {
		return nil, 0, err
	}
	err = s.Row(ctx, `SELECT COUNT(*) FROM nodes WHERE tenant = ? AND cluster = (SELECT cluster FROM operations WHERE id = ?) AND status <> 'deleted'
		AND (status <> 'planned' OR machine_id <> '')`, tenant, operation).Scan(&standing)
	if err != nil {
		return nil, 0, fmt.Errorf("store: machines to make: %w", err)
	}
	return kinds, standing, nil
}
