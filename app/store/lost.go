package store

import (
	"context"
	"time"

	"muster/app"
)

// compared narrows clusters c to those whose machines can be compared with what the provider has.
const compared = `c.deleted_at = 0 AND c.status IN ('active', 'failed', 'asleep')`

// expectedMachines is what ExpectedMachines asks; where more narrows it down.
const expectedMachines = `SELECT n.machine_id, c.tenant, c.id, c.status, n.lost_at > 0, c.lost_at > 0 FROM clusters c JOIN nodes n ON n.cluster = c.id
	WHERE c.provider = ? AND (? = '' OR c.tenant = ?) AND ` + compared + ` AND n.leaving < 2 AND n.machine_id <> ''
	AND (n.status = 'ready' OR n.status = 'created' AND c.status = 'failed')`

// ExpectedMachines implements app.OrphanStore.
func (s *operationStore) ExpectedMachines(ctx context.Context, provider, tenant string, clusters []string, f func(app.ExpectedMachine) error) error {
	each := func(row scanner) error {
		var m app.ExpectedMachine
		if err := row.Scan(&m.ID, &m.Tenant, &m.Cluster, &m.Status, &m.Lost, &m.Marked); err != nil {
			return err
		}
		return f(m)
	}
	if clusters == nil {
		return s.each(ctx, each, expectedMachines, provider, tenant, tenant)
	}
	return inSets(len(clusters), func(from, size int) error {
		return s.each(ctx, each, expectedMachines+` AND c.id IN (`+repeated(`?`, size)+`)`, append([]any{provider, tenant, tenant}, anys(clusters[from:from+size])...)...)
	})
}

// clustersChanged is what ClustersChanged asks.
const clustersChanged = `SELECT DISTINCT cluster FROM events WHERE seq > ? AND seq <= ? AND kind IN ('cluster', 'node') AND cluster <> ''`

// ClustersChanged implements app.OrphanStore.
func (s *operationStore) ClustersChanged(ctx context.Context, after int64) (clusters []string, latest int64, err error) {
	if err := s.row(ctx, `SELECT COALESCE(max(seq), 0) FROM events`).Scan(&latest); err != nil {
		return nil, 0, wrapped(err)
	}
	if after < 0 {
		return nil, latest, nil
	}
	err = s.each(ctx, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		clusters = append(clusters, id)
		return err
	}, clustersChanged, after, latest)
	return clusters, latest, err
}

// ComparedClusters implements app.OrphanStore.
func (s *operationStore) ComparedClusters(ctx context.Context, clusters []string) (list []app.ComparedCluster, err error) {
	at := map[string]int{}
	err = inSets(len(clusters), func(from, size int) error {
		ids := anys(clusters[from : from+size])
		if err := s.each(ctx, func(row scanner) error {
			var lost bool
			c, err := scanCluster(row, &lost)
			at[c.ID] = len(list)
			list = append(list, app.ComparedCluster{Cluster: c, Lost: lost})
			return err
		}, `SELECT `+clusterColumns+`, `+untouched+` FROM clusters c WHERE `+compared+` AND c.id IN (`+repeated(`?`, size)+`)`, ids...); err != nil {
			return err
		}
		return s.each(ctx, func(row scanner) error {
			n, err := scanNode(row)
			if i, ok := at[n.Cluster]; ok {
				list[i].Nodes = append(list[i].Nodes, n)
			}
			return err
		}, `SELECT `+nodeColumns+` FROM nodes WHERE cluster IN (`+repeated(`?`, size)+`) AND leaving < 2 ORDER BY cluster, number`, ids...)
	})
	return list, err
}

// MarkNodes implements app.OrphanStore.
func (s *operationStore) MarkNodes(ctx context.Context, tenant, cluster string, lost, found []string, now time.Time) (newly int, err error) {
	if len(lost)+len(found) == 0 {
		return 0, nil
	}
	err = s.write(ctx, func(t *tx) error {
		newly = 0
		m := &many{Event: app.Event{At: now, Tenant: tenant, Cluster: cluster, Kind: app.EventNode}}
		for _, set := range []struct {
			names []string
			at    int64
			were  string
		}{{lost, micros(now), `lost_at = 0 AND status IN ('created', 'ready')`}, {found, 0, `lost_at > 0`}} {
			if err := inSets(len(set.names), func(from, size int) error {
				args := append([]any{set.at, tenant, cluster}, anys(set.names[from:from+size])...)
				return t.each(func(row scanner) error {
					var node, status string
					err := row.Scan(&node, &status)
					m.changes = append(m.changes, told{"", node, status})
					if set.at > 0 {
						newly++
					}
					return err
				}, `UPDATE nodes SET lost_at = ? WHERE tenant = ? AND cluster = ? AND `+set.were+` AND name IN (`+repeated(`?`, size)+`) RETURNING name, status`, args...)
			}); err != nil {
				return err
			}
		}
		if len(m.changes) == 0 {
			return nil
		}
		return tell(t, []*many{m})
	})
	return newly, err
}

// lostOf gives the nodes of a cluster whose machines are lost, the first of them by name and how many more.
func lostOf(t *tx, cluster string) (names []string, err error) {
	err = t.each(func(row scanner) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT name FROM nodes WHERE cluster = ? AND lost_at > 0 AND leaving = 0 AND status IN ('created', 'ready') ORDER BY number`, cluster)
	return names, err
}

// failLost makes a cluster that counts as active one that has lost machines, where an operation left them out.
func failLost(t *tx, now time.Time, cluster string) (message string, err error) {
	names, err := lostOf(t, cluster)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return app.LostWords(names), t.exec(`UPDATE clusters SET lost_at = ? WHERE id = ?`, micros(now), cluster)
}

// untouched narrows clusters c to those to which nothing was done since they were found to have lost machines.
const untouched = `c.lost_at > 0 AND c.deleted_at = 0 AND c.status = 'failed' AND NOT EXISTS
	(SELECT 1 FROM operations o WHERE o.cluster = c.id AND (o.ended_at = 0 OR o.ended_at > c.lost_at))`

// MarkLost implements app.ClusterStore.
func (s *operationStore) MarkLost(ctx context.Context, tenant, cluster, message string) error {
	return s.write(ctx, func(t *tx) error {
		if err := poolMachineLost(t, cluster, message); err != nil {
			return err
		}
		n, err := t.count(`UPDATE clusters SET status = 'failed', message = ?, lost_at = CASE WHEN status = 'active' THEN ? ELSE lost_at END
			WHERE tenant = ? AND id = ? AND (status = 'active' OR status = 'failed' AND lost_at > 0 AND message <> ?)`,
			message, micros(time.Now()), tenant, cluster, message)
		if err != nil {
			return err
		}
		var name, owner string
		var status app.ClusterStatus
		var pool int64
		err = t.row(`SELECT name, owner, status, pool FROM clusters WHERE tenant = ? AND id = ?`, tenant, cluster).Scan(&name, &owner, &status, &pool)
		if isNoRows(err) || err == nil && n == 0 && status != app.ClusterAsleep {
			return nil
		}
		if err != nil {
			return wrapped(err)
		}
		if n > 0 {
			if err := checkSoon(t, tenant, cluster, time.Now()); err != nil { // repair by itself begins with what a round finds
				return err
			}
		}
		if pool == 0 { // those of pools are told of by their pool
			if err := t.notice(app.Notice{At: time.Now(), Tenant: tenant, Kind: app.NoticeLost, Cluster: cluster, Users: []string{owner}, Path: "/clusters/" + cluster,
				Title: name + " lost machines.", Text: message}); err != nil {
				return err
			}
		}
		return t.event(app.Event{At: time.Now(), Tenant: tenant, Cluster: cluster, Kind: app.EventCluster,
			Status: string(status), Message: message})
	})
}
