package health

import (
	"context"
	"time"

	"muster/app"
	apphealth "muster/app/health"
	"muster/app/idle"
	"muster/app/store/db"
	idledb "muster/app/store/idle"
	"muster/app/template"
)

// MoveIdle writes the state of an idle cluster after a step; false where another server, a person or a measurement was faster. A last look
// begins at once.
func (s *Store) MoveIdle(ctx context.Context, m idle.Move) (moved bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		if moved, err = idledb.Move(t, m); err != nil || !moved || m.After.ConfirmAt.IsZero() || !m.Due.State.ConfirmAt.IsZero() {
			return err
		}
		return CheckSoon(t, m.Due.Cluster.Tenant, m.Due.Cluster.ID, m.Now)
	})
	return moved, err
}

// SetDefaultIdlePolicy sets the tenant's policy; nil for none. Clusters without health checks are looked at for it from now on.
func (s *Store) SetDefaultIdlePolicy(ctx context.Context, who app.Actor, now time.Time, p *template.IdlePolicy) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := idledb.SetDefault(t, who, now, p); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM cluster_health WHERE tenant = ? AND idle_only = 1
			AND NOT EXISTS (SELECT 1 FROM cluster_idle i WHERE i.cluster = cluster_health.cluster)
			AND NOT EXISTS (SELECT 1 FROM cluster_scaling x WHERE x.cluster = cluster_health.cluster AND x.scripts = 1)`, who.Tenant); err != nil || !p.Measures() {
			return err
		}
		t.Topics[app.HealthTopic()] = true
		policy, due := db.JSON(template.HealthPolicy{Interval: p.Every()}), db.Micros(now.Add(p.Every()))
		if err := t.Exec(`UPDATE cluster_health SET policy = ? WHERE tenant = ? AND idle_only = 1
			AND cluster IN (SELECT i.cluster FROM cluster_idle i WHERE i.tenant = ? AND i.from_tenant = 1)`, policy, who.Tenant, who.Tenant); err != nil {
			return err
		}
		return t.Exec(`INSERT INTO cluster_health (cluster, tenant, provider, policy, due_at, began_at, batch, holder, checked_at, state, since, unhealthy_nodes, repair_at,
				repair, failures, note, idle_only)
			SELECT c.id, c.tenant, c.provider, CAST(? AS TEXT), CAST(? AS BIGINT), 0, 0, '', 0, CAST(? AS TEXT), 0, 0, 0, 0, 0, '', 1 FROM cluster_idle i
			JOIN clusters c ON c.id = i.cluster
			WHERE i.tenant = ? AND i.from_tenant = 1 AND NOT EXISTS (SELECT 1 FROM cluster_health h WHERE h.cluster = c.id)`,
			policy, due, string(apphealth.Unknown), who.Tenant)
	})
}
