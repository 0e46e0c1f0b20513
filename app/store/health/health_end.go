package health

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/execution"
	"muster/app/health"
	"muster/app/idle"
	"muster/app/store/cluster"
	"muster/app/store/db"
	idledb "muster/app/store/idle"
	scalingdb "muster/app/store/scaling"
	"muster/app/template"
)

const nodeHealthColumns = `h.node, h.state, h.since, h.machine, h.rounds, h.misses, h.reasons, h.counts`

func scanNodeHealth(row db.Scanner, more ...any) (health.NodeHealth, error) {
	var h health.NodeHealth
	var since int64
	var reasons, counts []byte
	if err := row.Scan(append([]any{&h.Node, &h.State, &since, &h.Machine, &h.Checks, &h.Misses, &reasons, &counts}, more...)...); err != nil {
		return h, err
	}
	h.Since = db.FromMicros(since)
	if err := json.Unmarshal(reasons, &h.Reasons); err != nil {
		return h, err
	}
	return h, json.Unmarshal(counts, &h.Counts)
}

// healthRow is what is kept of a cluster.
type healthRow struct {
	idleOnly                  int
	text                      []byte // the policy
	policy                    template.HealthPolicy
	began, looked, due, since int64
	state                     health.State
	ill                       int
	repairAt, repair          int64
	failures                  int
	note                      string
}

const healthColumns = `r.idle_only, r.policy, r.began_at, r.checked_at, r.due_at, r.since, r.state, r.unhealthy_nodes, r.repair_at, r.repair, r.failures, r.note`

func (h *healthRow) dest() []any {
	return []any{&h.idleOnly, &h.text, &h.began, &h.looked, &h.due, &h.since, &h.state, &h.ill, &h.repairAt, &h.repair, &h.failures, &h.note}
}

func (h *healthRow) scan(row db.Scanner) error {
	if err := row.Scan(h.dest()...); err != nil {
		return err
	}
	return json.Unmarshal(h.text, &h.policy)
}

func (s *Store) EndCheckBatch(ctx context.Context, o execution.CheckBatchOutcome) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var h healthRow
		err := h.scan(t.Row(`SELECT `+healthColumns+` FROM cluster_health r WHERE r.cluster = ? AND r.tenant = ? AND r.batch = ? AND r.holder = ?`,
			o.Cluster, o.Tenant, o.Round, o.Worker))
		if db.IsNoRows(err) {
			return app.Errorf(app.EStale, "Round %d of cluster %s no longer belongs to %s.", o.Round, o.Cluster, o.Worker)
		}
		if err != nil {
			return fmt.Errorf("store: health: %w", err)
		}
		due := db.FromMicros(h.began).Add(h.policy.Every())
		again, err := measured(t, o, h)
		if err != nil {
			return err
		}
		if again {
			due = o.Now
		}
		if o.NumbersMeasured {
			if err := scalingdb.Measured(t, o.Tenant, o.Cluster, o.Now, o.Numbers); err != nil {
				return err
			}
		}
		if err := t.Exec(`UPDATE cluster_health SET due_at = ?, holder = '', checked_at = ? WHERE cluster = ?`,
			db.Micros(due), db.Micros(o.Now), o.Cluster); err != nil {
			return err
		}
		if due.Sub(o.Now) < execution.HealthTick { // a short interval would else be as long as the tick
			t.Topics[app.HealthTopic()] = true
		}
		if h.idleOnly == 1 { // no one asked how its nodes are
			return nil
		}
		before, err := nodeHealth(t, o.Cluster)
		if err != nil {
			return err
		}
		if len(o.Findings) == 0 && len(before) == 0 {
			if h.state == health.Healthy {
				return nil
			}
			return settleHealth(t, o, h, nil)
		}
		after, err := judge(t, o, h, before)
		if err != nil {
			return err
		}
		return settleHealth(t, o, h, after)
	})
}

// measured notes how the cluster is used.
func measured(t *db.Tx, o execution.CheckBatchOutcome, h healthRow) (again bool, err error) {
	var unreachable []string
	for _, f := range o.Findings {
		if f.Unreachable != "" {
			unreachable = append(unreachable, f.Node)
		}
	}
	return idledb.Measured(t, o.Tenant, o.Cluster, idle.Measurement{Began: db.FromMicros(h.began), At: o.Now, Every: h.policy.Every(),
		Reasons: idle.ReasonsOf(o.UseMeasured, o.InUse, o.Left, unreachable)})
}

// nodeHealth returns what is kept of the nodes of a cluster.
func nodeHealth(t *db.Tx, cluster string) (list []health.NodeHealth, err error) {
	err = t.Each(func(row db.Scanner) error {
		h, err := scanNodeHealth(row)
		list = append(list, h)
		return err
	}, `SELECT `+nodeHealthColumns+` FROM node_health h WHERE h.cluster = ? ORDER BY h.number`, cluster)
	return list, err
}

// judge applies the rules to every node of which something is, or was, wrong, and writes what has changed. It returns those of which there
// is something to say now.
func judge(t *db.Tx, o execution.CheckBatchOutcome, h healthRow, before []health.NodeHealth) ([]health.NodeHealth, error) {
	type machine struct {
		name, id string
		number   int
	}
	var there []machine
	err := t.Each(func(row db.Scanner) error {
		var m machine
		err := row.Scan(&m.name, &m.id, &m.number)
		there = append(there, m)
		return err
	}, `SELECT name, machine_id, number FROM nodes WHERE cluster = ? AND status = ? AND removal < 2 ORDER BY number`, o.Cluster, string(app.NodeReady))
	if err != nil {
		return nil, err
	}
	was, found := map[string]health.NodeHealth{}, map[string]health.NodeFinding{}
	for _, n := range before {
		was[n.Node] = n
	}
	for _, f := range o.Findings {
		found[f.Node] = f
	}
	var after []health.NodeHealth
	for _, m := range there {
		old, known := was[m.name]
		finding, notified := found[m.name]
		delete(was, m.name)
		if !known && !notified {
			continue
		}
		if slices.Contains(o.Left, m.name) {
			if known {
				after = append(after, old)
			}
			continue
		}
		if !known {
			old = health.NodeHealth{State: health.Healthy, Machine: m.id}
			if h.state == health.Unknown {
				old.State = health.Unknown
			}
		}
		finding.Node = m.name
		now := old.After(finding, m.id, o.Need, h.policy.Rounds(), o.Now)
		if err := saveNodeHealth(t, o, m.number, known, old, now); err != nil {
			return nil, err
		}
		if !now.Plain() {
			after = append(after, now)
		}
	}
	for name := range was { // the node is gone
		if err := t.Exec(`DELETE FROM node_health WHERE cluster = ? AND node = ?`, o.Cluster, name); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// saveNodeHealth writes a node's health where it has changed, and tells where its state has.
func saveNodeHealth(t *db.Tx, o execution.CheckBatchOutcome, number int, known bool, old, now health.NodeHealth) error {
	counts, reasons := db.JSON(now.Counts), db.JSON(now.Reasons)
	switch {
	case now.Plain():
		if known {
			if err := t.Exec(`DELETE FROM node_health WHERE cluster = ? AND node = ?`, o.Cluster, now.Node); err != nil {
				return err
			}
		}
	case !known || now.State != old.State || now.Checks != old.Checks || now.Misses != old.Misses || now.Machine != old.Machine ||
		counts != db.JSON(old.Counts) || reasons != db.JSON(old.Reasons):
		if err := t.Exec(`INSERT INTO node_health (cluster, node, number, state, since, machine, rounds, misses, reasons, counts)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (cluster, node) DO UPDATE SET state = excluded.state, since = excluded.since,
			machine = excluded.machine, rounds = excluded.rounds, misses = excluded.misses, reasons = excluded.reasons, counts = excluded.counts`,
			o.Cluster, now.Node, number, string(now.State), db.Micros(now.Since), now.Machine, now.Checks, now.Misses, reasons, counts); err != nil {
			return err
		}
	}
	if now.State == old.State || old.State == health.Unknown && now.State == health.Healthy {
		return nil
	}
	return t.Event(app.Event{At: o.Now, Tenant: o.Tenant, Cluster: o.Cluster, Kind: app.EventHealth, Node: now.Node, Status: string(now.State),
		Message: now.Text()})
}

// settleHealth works out how the cluster is now, tells where that is another state than before, and whether it is to be repaired.
func settleHealth(t *db.Tx, o execution.CheckBatchOutcome, h healthRow, nodes []health.NodeHealth) error {
	sum := health.ClusterHealth{Nodes: nodes}
	sum.Sum(len(nodes)+1, true)
	ill, since := sum.Unhealthy+sum.Unreachable, h.since
	if sum.State != h.state {
		since = db.Micros(o.Now)
	}
	repairAt, note := h.repairAt, h.note
	long := slices.ContainsFunc(nodes, func(n health.NodeHealth) bool { return n.Ill() && n.Checks >= h.policy.Rounds() })
	if !long && repairAt > 0 && h.policy.Repair == template.RepairAuto {
		var leaving []string
		if err := t.Each(names(&leaving), interruptedNodes, o.Cluster); err != nil {
			return err
		}
		long = len(leaving) > 0
	}
	switch {
	case h.policy.Repair == template.RepairAuto && long, h.repair > 0:
		if repairAt == 0 {
			repairAt = db.Micros(o.Now)
		}
	default:
		repairAt, note = 0, ""
	}
	if err := t.Exec(`UPDATE cluster_health SET state = ?, since = ?, unhealthy_nodes = ?, repair_at = ?, note = ? WHERE cluster = ?`,
		string(sum.State), since, ill, repairAt, note, o.Cluster); err != nil {
		return err
	}
	if sum.State == h.state || h.state == health.Unknown && sum.State == health.Healthy {
		return nil
	}
	if err := t.Event(app.Event{At: o.Now, Tenant: o.Tenant, Cluster: o.Cluster, Kind: app.EventHealth, Status: string(sum.State), Message: sum.Reason}); err != nil {
		return err
	}
	c, err := cluster.Scan(t.Row(`SELECT `+cluster.Columns+` FROM clusters c WHERE c.id = ?`, o.Cluster))
	if err := cluster.ReadError(err, o.Cluster); err != nil {
		return err
	}
	return t.Notice(execution.HealthNotice(o.Now, c, sum))
}
