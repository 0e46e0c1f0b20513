package health

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/health"
	"muster/app/store/db"
)

// fillRepair reads what decides about a repair: how the nodes are, what happened to the last one, and how the tenant's other nodes are.
func (s *Store) fillRepair(ctx context.Context, d *execution.RepairDue, now time.Time) error {
	h, err := s.ClusterHealth(ctx, d.Cluster.Tenant, d.Cluster.ID)
	if err != nil || h == nil {
		return err
	}
	d.Nodes = h.Healthy + h.Unhealthy + h.Unreachable + h.Unknown
	for _, n := range h.Nodes {
		if n.Ill() {
			d.Ill = append(d.Ill, n)
		}
	}
	if err := s.Each(ctx, names(&d.Interrupted), interruptedNodes, d.Cluster.ID); err != nil {
		return err
	}
	tenant := d.Cluster.Tenant
	var repaired, leaving int
	for _, q := range []struct {
		into  any
		query string
		args  []any
	}{
		{&d.RepairStatus, `SELECT coalesce((SELECT status FROM operations WHERE id = ? AND cluster = ?), ?)`,
			[]any{d.Repair, d.Cluster.ID, string(app.OperationCancelled)}},
		{&d.RepairVeto, `SELECT coalesce((SELECT message FROM operations WHERE id = ? AND cluster = ? AND vetoed_by <> ''), '')`, []any{d.Repair, d.Cluster.ID}},
		{&d.TenantNodes, `SELECT count(*) FROM cluster_health r JOIN nodes n ON n.cluster = r.cluster WHERE r.tenant = ? AND r.idle_only = 0 AND n.status = ? AND n.removal < 2`,
			[]any{tenant, string(app.NodeReady)}},
		{&d.TenantIll, `SELECT CAST(coalesce(sum(unhealthy_nodes), 0) AS BIGINT) FROM cluster_health WHERE tenant = ?`, []any{tenant}},
		{&leaving, `SELECT count(*) FROM nodes n JOIN cluster_health r ON r.cluster = n.cluster WHERE n.tenant = ? AND ` + isInterrupted + ` AND r.idle_only = 0
			AND NOT EXISTS (SELECT 1 FROM node_health h WHERE h.cluster = n.cluster AND h.node = n.name AND h.state IN ('unhealthy', 'unreachable'))`, []any{tenant}},
		{&repaired, `SELECT count(*) FROM operations o JOIN steps s ON s.operation = o.id WHERE o.tenant = ? AND o.requester = ? AND o.kind = ?
			AND o.created_at > ? AND s.action = ?`,
			[]any{tenant, app.HealthUser, string(app.OperationRepair), db.Micros(now.Add(-execution.RepairWindow)), string(app.ActionCreate)}},
		{&d.Repairing, `SELECT coalesce(max(id), 0) FROM operations WHERE tenant = ? AND requester = ? AND kind = ? AND cluster <> ?
			AND status IN ('waiting', 'running', 'paused', 'cancelling')`,
			[]any{tenant, app.HealthUser, string(app.OperationRepair), d.Cluster.ID}},
	} {
		if err := s.Row(ctx, q.query, q.args...).Scan(q.into); err != nil {
			return fmt.Errorf("store: health: %w", err)
		}
	}
	d.TenantIll += repaired + leaving
	return nil
}

func (s *Store) NoteRepair(ctx context.Context, n execution.RepairNote) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var note string
		err := t.Row(`SELECT note FROM cluster_health WHERE cluster = ? AND tenant = ?`, n.Cluster, n.Tenant).Scan(&note)
		if db.IsNoRows(err) {
			return nil // no one manages it any more
		}
		if err != nil {
			return fmt.Errorf("store: health: %w", err)
		}
		if err := t.Exec(`UPDATE cluster_health SET repair_at = ?, repair = ?, failures = ?, note = ? WHERE cluster = ?`,
			db.Micros(n.NextAt), n.Operation, n.Failures, n.Note, n.Cluster); err != nil {
			return err
		}
		if n.Tell == nil || note == n.Note {
			return nil
		}
		if err := t.Event(app.Event{At: n.Now, Tenant: n.Tenant, Cluster: n.Cluster, Kind: app.EventHealth, Status: string(health.Unhealthy), Message: n.Note}); err != nil {
			return err
		}
		return t.Notice(*n.Tell)
	})
}
