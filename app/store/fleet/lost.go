package fleet

import (
	"context"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/feed"
	"muster/app/store/health"
	pooldb "muster/app/store/pool"
)

// compared narrows clusters c to those whose machines can be compared with what the provider has.
const compared = `c.deleted_at = 0 AND c.status IN ('active', 'failed', 'asleep')`

// expectedMachines is what ExpectedMachines asks; where more narrows it down.
const expectedMachines = `SELECT n.machine_id, c.tenant, c.id, c.status, n.lost_at > 0, c.lost_at > 0, n.leaves_at > 0
	FROM clusters c JOIN nodes n ON n.cluster = c.id WHERE c.provider = ? AND (? = '' OR c.tenant = ?) AND ` + compared + ` AND n.removal < 2 AND n.machine_id <> ''
	AND (n.status = 'ready' OR n.status = 'created' AND c.status = 'failed')`

// ExpectedMachines calls f with the machines that the clusters of a provider should have, cluster by cluster: of all of them, or of these where
// clusters isn't nil; of one tenant, or of all where tenant is "". Clusters that an operation is changing have none.
func (s *Store) ExpectedMachines(ctx context.Context, provider, tenant string, clusters []string, f func(fleet.ExpectedMachine) error) error {
	each := func(row db.Scanner) error {
		var m fleet.ExpectedMachine
		if err := row.Scan(&m.ID, &m.Tenant, &m.Cluster, &m.Status, &m.Lost, &m.Marked, &m.Leaves); err != nil {
			return err
		}
		return f(m)
	}
	if clusters == nil {
		return s.Each(ctx, each, expectedMachines, provider, tenant, tenant)
	}
	return db.InChunks(len(clusters), func(from, size int) error {
		return s.Each(ctx, each, expectedMachines+` AND c.id IN (`+db.Repeated(`?`, size)+`)`, append([]any{provider, tenant, tenant}, db.Anys(clusters[from:from+size])...)...)
	})
}

// clustersChanged is what ClustersChanged asks.
const clustersChanged = `SELECT DISTINCT cluster FROM events WHERE seq > ? AND seq <= ? AND kind IN ('cluster', 'node') AND cluster <> ''`

// ClustersChanged returns the clusters, of all tenants, whose status or nodes changed after an event, and the latest event there is. Where after is
// negative, it returns that only.
func (s *Store) ClustersChanged(ctx context.Context, after int64) (clusters []string, latest int64, err error) {
	if err := s.Row(ctx, `SELECT COALESCE(max(seq), 0) FROM events`).Scan(&latest); err != nil {
		return nil, 0, db.Wrapped(err)
	}
	if after < 0 {
		return nil, latest, nil
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var id string
		err := row.Scan(&id)
		clusters = append(clusters, id)
		return err
	}, clustersChanged, after, latest)
	return clusters, latest, err
}

// ComparedClusters returns those of the clusters, with their nodes, whose machines can be compared with what the provider has now.
func (s *Store) ComparedClusters(ctx context.Context, clusters []string) (list []fleet.ComparedCluster, err error) {
	at := map[string]int{}
	err = db.InChunks(len(clusters), func(from, size int) error {
		ids := db.Anys(clusters[from : from+size])
		if err := s.Each(ctx, func(row db.Scanner) error {
			var lost bool
			c, err := cluster.Scan(row, &lost)
			at[c.ID] = len(list)
			list = append(list, fleet.ComparedCluster{Cluster: c, Lost: lost})
			return err
		}, `SELECT `+cluster.Columns+`, `+untouched+` FROM clusters c WHERE `+compared+` AND c.id IN (`+db.Repeated(`?`, size)+`)`, ids...); err != nil {
			return err
		}
		return s.Each(ctx, func(row db.Scanner) error {
			n, err := cluster.ScanNode(row)
			if i, ok := at[n.Cluster]; ok {
				list[i].Nodes = append(list[i].Nodes, n)
			}
			return err
		}, `SELECT `+cluster.NodeColumns+` FROM nodes WHERE cluster IN (`+db.Repeated(`?`, size)+`) AND removal < 2 ORDER BY cluster, number`, ids...)
	})
	return list, err
}

// MarkNodes notes which nodes' machines are lost, and which of those that were run again. A node is lost since it was first said to
// be; one that has no machine cannot be. The answer is how many weren't known to be lost before: of several servers one is that.
func (s *Store) MarkNodes(ctx context.Context, tenant, cluster string, lost, found []string, now time.Time) (newly int, err error) {
	if len(lost)+len(found) == 0 {
		return 0, nil
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		newly = 0
		m := &feed.EventBatch{Event: app.Event{At: now, Tenant: tenant, Cluster: cluster, Kind: app.EventNode}}
		for _, set := range []struct {
			names []string
			at    int64
			were  string
		}{{lost, db.Micros(now), `lost_at = 0 AND status IN ('created', 'ready')`}, {found, 0, `lost_at > 0`}} {
			if err := db.InChunks(len(set.names), func(from, size int) error {
				args := append([]any{set.at, tenant, cluster}, db.Anys(set.names[from:from+size])...)
				return t.Each(func(row db.Scanner) error {
					var node, status string
					err := row.Scan(&node, &status)
					m.Changes = append(m.Changes, feed.EventChange{"", node, status})
					if set.at > 0 {
						newly++
					}
					return err
				}, `UPDATE nodes SET lost_at = ? WHERE tenant = ? AND cluster = ? AND `+set.were+` AND name IN (`+db.Repeated(`?`, size)+`) RETURNING name, status`, args...)
			}); err != nil {
				return err
			}
		}
		if len(m.Changes) == 0 {
			return nil
		}
		return feed.WriteBatches(t, []*feed.EventBatch{m})
	})
	return newly, err
}

// untouched narrows clusters c to those to which nothing was done since they were found to have lost machines.
const untouched = `c.lost_at > 0 AND c.deleted_at = 0 AND c.status = 'failed' AND NOT EXISTS
	(SELECT 1 FROM operations o WHERE o.cluster = c.id AND (o.ended_at = 0 OR o.ended_at > c.lost_at))`

func (s *Store) MarkLost(ctx context.Context, tenant, cluster, message string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := pooldb.MachineLost(t, cluster, message, now); err != nil {
			return err
		}
		n, err := t.Count(`UPDATE clusters SET status = 'failed', message = ?, lost_at = CASE WHEN status = 'active' THEN ? ELSE lost_at END
			WHERE tenant = ? AND id = ? AND (status = 'active' OR status = 'failed' AND lost_at > 0 AND message <> ?)`,
			message, db.Micros(now), tenant, cluster, message)
		if err != nil {
			return err
		}
		var name, owner string
		var status app.ClusterStatus
		var pool int64
		err = t.Row(`SELECT name, owner, status, pool FROM clusters WHERE tenant = ? AND id = ?`, tenant, cluster).Scan(&name, &owner, &status, &pool)
		if db.IsNoRows(err) || err == nil && n == 0 && status != app.ClusterAsleep {
			return nil
		}
		if err != nil {
			return db.Wrapped(err)
		}
		if n > 0 {
			if err := health.CheckSoon(t, tenant, cluster, now); err != nil { // repair by itself begins with what a round finds
				return err
			}
		}
		if pool == 0 { // those of pools are notified of by their pool
			if err := t.Notice(app.Notice{At: now, Tenant: tenant, Kind: app.NoticeLost, Cluster: cluster, Users: []string{owner}, About: app.ClusterSubject(cluster),
				Title: name + " lost machines.", Text: message}); err != nil {
				return err
			}
		}
		return t.Event(app.Event{At: now, Tenant: tenant, Cluster: cluster, Kind: app.EventCluster,
			Status: string(status), Message: message})
	})
}
