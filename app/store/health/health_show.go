package health

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/health"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/template"
)

func (s *Store) ClusterHealth(ctx context.Context, tenant, cluster string) (*health.ClusterHealth, error) {
	moment, err := s.Moment(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = moment.Rollback() }()
	var h healthRow
	err = h.scan(moment.QueryRowContext(ctx, `SELECT `+healthColumns+` FROM cluster_health r WHERE r.cluster = ? AND r.tenant = ? AND r.idle_only = 0`, cluster, tenant))
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: health: %w", err)
	}
	out := &health.ClusterHealth{Since: db.FromMicros(h.since), CheckedAt: db.FromMicros(h.looked), NextAt: db.FromMicros(h.due), Nodes: []health.NodeHealth{},
		Repair: h.policy.Repair, Note: h.note, Every: h.policy.Every()}
	if out.Repair == "" {
		out.Repair = template.RepairOff
	}
	if err := db.Each(ctx, moment, func(row db.Scanner) error {
		var machine string
		n, err := scanNodeHealth(row, &machine)
		if n.Machine != machine {
			n.Checks = 0 // it was made again, and no one has looked since
		}
		out.Nodes = append(out.Nodes, n)
		return err
	}, `SELECT `+nodeHealthColumns+`, n.machine_id FROM node_health h JOIN nodes n ON n.cluster = h.cluster AND n.name = h.node
		WHERE h.cluster = ? AND n.status = ? AND n.removal < 2 ORDER BY h.number`, cluster, string(app.NodeReady)); err != nil {
		return nil, err
	}
	var nodes int
	if err := moment.QueryRowContext(ctx, `SELECT count(*) FROM nodes WHERE cluster = ? AND status = ? AND removal < 2`, cluster, string(app.NodeReady)).
		Scan(&nodes); err != nil {
		return nil, fmt.Errorf("store: health: %w", err)
	}
	out.Sum(nodes, h.looked > 0)
	return out, nil
}

func (s *Store) RepairsDue(ctx context.Context, now time.Time, limit int) ([]execution.RepairDue, error) {
	var all []execution.RepairDue
	err := s.Each(ctx, func(row db.Scanner) error {
		var h healthRow
		c, err := cluster.Scan(row, h.dest()...)
		if err == nil {
			err = json.Unmarshal(h.text, &h.policy)
		}
		all = append(all, execution.RepairDue{Cluster: c, Policy: h.policy, Failures: h.failures, Repair: h.repair, Note: h.note})
		return err
	}, `SELECT `+cluster.Columns+`, `+healthColumns+` FROM cluster_health r JOIN clusters c ON c.id = r.cluster
		WHERE r.repair_at > 0 AND r.repair_at <= ? ORDER BY r.repair_at LIMIT ?`, db.Micros(now), limit)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if err := s.fillRepair(ctx, &all[i], now); err != nil {
			return nil, err
		}
	}
	return all, nil
}
