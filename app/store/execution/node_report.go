package execution

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/app/execution"
	"muster/app/health"
	"muster/app/ledger"
	"muster/app/store/db"
)

// keepNodeReport keeps what a step found out about its node.
func keepNodeReport(t *db.Tx, tenant, cluster string, st *ledger.Step, f execution.Finish) error {
	if f.Contract == nil || st.Node == "" {
		return nil
	}
	return t.Exec(`INSERT INTO node_reports (cluster, node, tenant, at, report) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (cluster, node) DO UPDATE SET at = excluded.at, report = excluded.report`,
		cluster, st.Node, tenant, db.Micros(f.Contract.At), db.JSON(f.Contract))
}

func (s *Store) NodeReports(ctx context.Context, tenant, cluster, node string, limit int) ([]health.NodeReport, error) {
	list := []health.NodeReport{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var name, text string
		if err := row.Scan(&name, &text); err != nil {
			return err
		}
		var r health.NodeReport
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
