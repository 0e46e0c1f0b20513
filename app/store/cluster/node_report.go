package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/app"
	"muster/app/store/db"
)

// KeepNodeReports implements app.NodeReportStore.
func (s *Store) KeepNodeReports(ctx context.Context, w app.WorkerID, reports []app.FencedNodeReport) error {
	return s.Write(ctx, func(t *db.Tx) error {
		for _, r := range reports {
			b, err := json.Marshal(r.Report)
			if err != nil {
				return fmt.Errorf("store: node report: %w", err)
			}
			err = t.Exec(`INSERT INTO node_reports (cluster, node, tenant, at, report)
				SELECT cluster, node, tenant, CAST(? AS BIGINT), CAST(? AS TEXT) FROM steps
				WHERE operation = ? AND idx = ? AND attempt = ? AND worker = ? AND tenant = ? AND state = 'running'
				ON CONFLICT (cluster, node) DO UPDATE SET at = excluded.at, report = excluded.report`,
				db.Micros(r.Report.At), string(b), r.Fence.Operation, r.Fence.Index, r.Fence.Attempt, w.Name, w.Tenant)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// NodeReports implements app.NodeReportStore.
func (s *Store) NodeReports(ctx context.Context, tenant, cluster, node string, limit int) ([]app.NodeReport, error) {
	list := []app.NodeReport{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var name, text string
		if err := row.Scan(&name, &text); err != nil {
			return err
		}
		var r app.NodeReport
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return fmt.Errorf("report of %s/%s: %w", cluster, name, err)
		}
		r.Node = name
		list = append(list, r)
		return nil
	}, `SELECT r.node, r.report FROM node_reports r JOIN nodes n ON n.cluster = r.cluster AND n.name = r.node
		WHERE r.cluster = ? AND r.tenant = ? AND (CAST(? AS TEXT) = '' OR r.node = ?) AND n.status <> 'deleted' ORDER BY n.number LIMIT ?`,
		cluster, tenant, node, node, limit)
	return list, err
}
