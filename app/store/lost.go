package store

import (
	"context"
	"time"

	"muster/app"
)

// FailedClusters implements app.OrphanStore.
func (s *Store) FailedClusters(ctx context.Context) ([]app.Cluster, error) {
	return s.clusters(ctx, `SELECT `+clusterColumns+` FROM clusters c WHERE c.deleted_at = 0 AND c.status = 'failed' AND NOT (`+untouched+`)`)
}

// MarkNodes implements app.OrphanStore.
func (s *Store) MarkNodes(ctx context.Context, tenant, cluster string, lost, found []string, now time.Time) error {
	if len(lost)+len(found) == 0 {
		return nil
	}
	return s.write(ctx, func(t *tx) error {
		m := &many{Event: app.Event{At: now, Tenant: tenant, Cluster: cluster, Kind: app.EventNode}}
		for _, set := range []struct {
			names []string
			at    int64
			were  string
		}{{lost, micros(now), `lost_at = 0 AND status IN ('created', 'ready')`}, {found, 0, `lost_at > 0`}} {
			if err := inSets(len(set.names), func(from, size int) error {
				args := []any{set.at, tenant, cluster}
				for _, n := range set.names[from : from+size] {
					args = append(args, n)
				}
				return t.each(func(row scanner) error {
					var node, status string
					err := row.Scan(&node, &status)
					m.changes = append(m.changes, told{"", node, status})
					return err
				}, `UPDATE nodes SET lost_at = ? WHERE tenant = ? AND cluster = ? AND `+set.were+` AND name IN (`+repeated(`?`, size)+`) RETURNING name, status`, args...)
			}); err != nil {
				return err
			}
		}
		if len(m.changes) == 0 {
			return nil
		}
		return t.tell([]*many{m})
	})
}

// lostOf gives the nodes of a cluster whose machines are lost, the first of them by name and how many more.
func (t *tx) lostOf(cluster string) (names []string, err error) {
	err = t.each(func(row scanner) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT name FROM nodes WHERE cluster = ? AND lost_at > 0 AND leaving = 0 AND status IN ('created', 'ready') ORDER BY number`, cluster)
	return names, err
}

// failLost makes a cluster that counts as active one that has lost machines, where an operation left them out.
func (t *tx) failLost(now time.Time, cluster string) (message string, err error) {
	names, err := t.lostOf(cluster)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return app.LostWords(names), t.exec(`UPDATE clusters SET lost_at = ? WHERE id = ?`, micros(now), cluster)
}
