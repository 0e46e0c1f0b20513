package health

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/health"
	appscaling "muster/app/scaling"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/idle"
	"muster/app/store/scaling"
	"muster/app/template"
)

// Keep begins to manage a cluster, continues by other policies, or stops where there are none.
func Keep(t *db.Tx, at time.Time, c app.Cluster, p *template.HealthPolicy, use *template.IdlePolicy, scale *template.ScalingPolicy) error {
	use, err := idle.Keep(t, at, c, use)
	if err != nil {
		return err
	}
	if scale, err = scaling.Keep(t, at, c, scale); err != nil {
		return err
	}
	idleOnly := 0
	if p == nil {
		var every []time.Duration
		if use.Measures() {
			every = append(every, use.Every())
		}
		if scale.Scripts() {
			every = append(every, scale.EveryOr1m())
		}
		if len(every) == 0 {
			return drop(t, c.ID)
		}
		p, idleOnly = &template.HealthPolicy{Interval: slices.Min(every)}, 1
	}
	t.Topics[app.HealthTopic()] = true
	return t.Exec(`INSERT INTO cluster_health (cluster, tenant, provider, policy, due_at, began_at, batch, holder, checked_at, state, since, unhealthy_nodes, repair_at, repair, failures, note, idle_only)
		VALUES (?, ?, ?, ?, ?, 0, 0, '', 0, ?, 0, 0, 0, 0, 0, '', ?) ON CONFLICT (cluster) DO UPDATE SET policy = excluded.policy, idle_only = excluded.idle_only,
		due_at = CASE WHEN cluster_health.due_at < excluded.due_at THEN cluster_health.due_at ELSE excluded.due_at END`,
		c.ID, c.Tenant, c.Provider, db.JSON(p), db.Micros(at.Add(p.Every())), string(health.Unknown), idleOnly)
}

// KeepOf manages a cluster as a definition says that was put back.
func KeepOf(t *db.Tx, at time.Time, cluster string, definition []byte) error {
	var d struct {
		Health  *template.HealthPolicy
		Idle    *template.IdlePolicy
		Scaling *template.ScalingPolicy
	}
	if err := json.Unmarshal(definition, &d); err != nil {
		return fmt.Errorf("store: definition of %s: %w", cluster, err)
	}
	c, err := clusterdb.Scan(t.Row(`SELECT `+clusterdb.Columns+` FROM clusters c WHERE c.id = ?`, cluster))
	if err := clusterdb.ReadError(err, cluster); err != nil {
		return err
	}
	return Keep(t, at, c, d.Health, d.Idle, d.Scaling)
}

// CheckSoon has the next check batch of a cluster begin at once, unless one is in progress, or its health isn't checked.
func CheckSoon(t *db.Tx, tenant, cluster string, now time.Time) error {
	t.Topics[app.HealthTopic()] = true
	return t.Exec(`UPDATE cluster_health SET due_at = ? WHERE cluster = ? AND tenant = ? AND due_at > ? AND holder = ''`,
		db.Micros(now), cluster, tenant, db.Micros(now))
}

// RepairSoon has a cluster looked at at once for nodes to repair, and reports whether its nodes are repaired automatically.
func RepairSoon(t *db.Tx, cluster string, now time.Time) (auto bool, err error) {
	var text []byte
	err = t.Row(`SELECT policy FROM cluster_health WHERE cluster = ? AND idle_only = 0`, cluster).Scan(&text)
	if db.IsNoRows(err) {
		return false, nil
	}
	var p template.HealthPolicy
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return false, fmt.Errorf("store: health: %w", err)
	}
	if p.Repair != template.RepairAuto {
		return false, nil
	}
	return true, t.Exec(`UPDATE cluster_health SET repair_at = ? WHERE cluster = ?`, db.Micros(now), cluster)
}

func (s *Store) CheckHealth(ctx context.Context, r execution.CheckRequest) error {
	return s.Write(ctx, func(t *db.Tx) error {
		c, err := clusterdb.Live(t, r.Tenant, r.Cluster)
		if err != nil {
			return err
		}
		if err := CheckSoon(t, c.Tenant, c.ID, r.Now); err != nil {
			return err
		}
		return t.AddAudit(r.Now, r.Who, "cluster.health_check", c.ID, nil, nil)
	})
}

// Drop forgets how a cluster is, and how it is used.
func Drop(t *db.Tx, cluster string) error {
	if err := idle.Drop(t, cluster); err != nil {
		return err
	}
	if err := scaling.Drop(t, cluster); err != nil {
		return err
	}
	return drop(t, cluster)
}

func drop(t *db.Tx, cluster string) error {
	if err := t.Exec(`DELETE FROM cluster_health WHERE cluster = ?`, cluster); err != nil {
		return err
	}
	return t.Exec(`DELETE FROM node_health WHERE cluster = ?`, cluster)
}

func (s *Store) HealthDue(ctx context.Context, now time.Time) (due execution.HealthDue, err error) {
	var next *int64
	if err := s.Row(ctx, `SELECT min(due_at) FROM cluster_health`).Scan(&next); err != nil {
		return due, fmt.Errorf("store: health: %w", err)
	}
	if next == nil {
		return due, nil
	}
	due.Next = db.FromMicros(*next)
	if due.Next.After(now) {
		return due, nil
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var tenant string
		err := row.Scan(&tenant)
		due.Tenants = append(due.Tenants, tenant)
		return err
	}, `SELECT DISTINCT tenant FROM cluster_health WHERE due_at <= ?`, db.Micros(now))
	return due, err
}

// CheckBatchesSoon tells for whom check batches are due before a time, one for each provider.
func (s *Store) CheckBatchesSoon(ctx context.Context, before time.Time) (list []execution.CheckBatchDemand, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var d execution.CheckBatchDemand
		var due int64
		err := row.Scan(&d.Tenant, &d.Provider, &due)
		d.DueAt = db.FromMicros(due)
		list = append(list, d)
		return err
	}, `SELECT tenant, provider, min(due_at) FROM cluster_health WHERE due_at <= ? GROUP BY tenant, provider`, db.Micros(before))
	return list, err
}

// putOff is how many clusters that are not to be looked at now are put off in one claim.
const putOff = 100

func (s *Store) ClaimCheckBatch(ctx context.Context, q execution.CheckBatchQuery) (*execution.ClaimedCheckBatch, error) {
	var found *execution.ClaimedCheckBatch
	err := s.Write(ctx, func(t *db.Tx) error {
		found = nil
		args := []any{q.Worker.Tenant, db.Micros(q.Now)}
		except := ""
		if len(q.Except) > 0 {
			except = ` AND r.provider NOT IN (?` + strings.Repeat(", ?", len(q.Except)-1) + `)`
			for _, p := range q.Except {
				args = append(args, p)
			}
		}
		type late struct {
			cluster string
			policy  template.HealthPolicy
		}
		var others []late
		err := t.Each(func(row db.Scanner) error {
			var text []byte
			var use, rules string
			var round, lost int64
			var idleOnly int
			c, err := clusterdb.Scan(row, &text, &round, &lost, &idleOnly, &use, &rules)
			if err != nil || found != nil {
				return err
			}
			if c.Status == app.ClusterActive || c.Status == app.ClusterFailed && lost > 0 {
				found = &execution.ClaimedCheckBatch{Cluster: c, Round: round + 1, IdleOnly: idleOnly == 1}
				if rules != "" && c.Status == app.ClusterActive {
					var s appscaling.Rules
					if err := json.Unmarshal([]byte(rules), &s); err != nil {
						return fmt.Errorf("store: scaling of %s: %w", c.ID, err)
					}
					found.Numbers = appscaling.Numbers(s.Effective())
				}
				if use == "" || c.Status != app.ClusterActive {
					return nil
				}
				var p template.IdlePolicy
				if err := json.Unmarshal([]byte(use), &p); err != nil {
					return fmt.Errorf("store: idle policy of %s: %w", c.ID, err)
				}
				if p.Measures() {
					found.Idle = &p.If
				}
				return nil
			}
			l := late{cluster: c.ID}
			others = append(others, l)
			return json.Unmarshal(text, &others[len(others)-1].policy)
		}, `SELECT `+clusterdb.Columns+`, r.policy, r.batch, c.lost_at, r.idle_only, coalesce(i.policy, ''), coalesce(x.rules, '')
			FROM cluster_health r JOIN clusters c ON c.id = r.cluster LEFT JOIN cluster_idle i ON i.cluster = r.cluster AND i.disabled = 0
			LEFT JOIN cluster_scaling x ON x.cluster = r.cluster AND x.scripts = 1
			WHERE r.tenant = ? AND r.due_at <= ?`+except+` ORDER BY r.due_at LIMIT `+fmt.Sprint(putOff), args...)
		if err != nil {
			return err
		}
		for _, l := range others {
			if err := t.Exec(`UPDATE cluster_health SET due_at = ?, holder = '' WHERE cluster = ?`, db.Micros(q.Now.Add(l.policy.Every())), l.cluster); err != nil {
				return err
			}
		}
		if found == nil {
			return nil
		}
		until := q.Now.Add(q.Within(found.Cluster.Size))
		return t.Exec(`UPDATE cluster_health SET due_at = ?, began_at = ?, batch = ?, holder = ? WHERE cluster = ?`,
			db.Micros(until), db.Micros(q.Now), found.Round, q.Worker.Name, found.Cluster.ID)
	})
	if err != nil || found == nil {
		return nil, err
	}
	return found, s.fillRound(ctx, found)
}

// fillRound reads what a check batch needs, outside of the one writing transaction.
func (s *Store) fillRound(ctx context.Context, r *execution.ClaimedCheckBatch) error {
	c := r.Cluster
	all, err := s.clusters.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return err
	}
	for _, n := range all {
		if n.Status == app.NodeReady {
			r.Nodes = append(r.Nodes, n)
		}
	}
	if r.Definition, err = s.clusters.Definition(ctx, c.Tenant, c.ID); err != nil {
		return err
	}
	r.Secrets, err = s.clusters.ClusterSecrets(ctx, c.Tenant, c.ID)
	return err
}
