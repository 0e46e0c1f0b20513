package scaling

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/scaling"
	"muster/app/store/db"
	"muster/app/template"
)

// mostHistory is how many decisions are kept of a cluster.
const mostHistory = 200

const columns = `x.rules, x.state, x.measured, x.changed_by, x.changed_at, x.due_at, x.version`

// keptRow reads what is kept.
type keptRow struct {
	rules, state, measured []byte
	by                     string
	at, due, version       int64
}

func (r *keptRow) dest() []any {
	return []any{&r.rules, &r.state, &r.measured, &r.by, &r.at, &r.due, &r.version}
}

func (r *keptRow) kept() (k scaling.Kept, err error) {
	k = scaling.Kept{ChangedBy: r.by, ChangedAt: db.FromMicros(r.at), Due: db.FromMicros(r.due), Version: r.version}
	if err = json.Unmarshal(r.rules, &k.Rules); err == nil {
		err = json.Unmarshal(r.state, &k.State)
	}
	if err == nil && len(r.measured) > 0 {
		k.Measured = &scaling.Point{}
		err = json.Unmarshal(r.measured, k.Measured)
	}
	if err != nil {
		err = fmt.Errorf("store: scaling: %w", err)
	}
	return k, err
}

func found(row db.Scanner) (*scaling.Kept, error) {
	var r keptRow
	err := row.Scan(r.dest()...)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Wrapped(err)
	}
	k, err := r.kept()
	return &k, err
}

const byCluster = `SELECT ` + columns + ` FROM cluster_scaling x WHERE x.cluster = ? AND x.tenant = ?`

// Scaling implements scaling.Store.
func (s *Store) Scaling(ctx context.Context, tenant, cluster string) (*scaling.Kept, error) {
	return found(s.Row(ctx, byCluster, cluster, tenant))
}

// ScalingHistory implements scaling.Store.
func (s *Store) ScalingHistory(ctx context.Context, tenant, cluster string, limit int) (list []scaling.Entry, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		e, err := scanEntry(row)
		list = append(list, e)
		return err
	}, `SELECT id, entry FROM scaling_history WHERE cluster = ? AND tenant = ? ORDER BY id DESC LIMIT ?`, cluster, tenant, limit)
	return list, err
}

func scanEntry(row db.Scanner) (e scaling.Entry, err error) {
	var text []byte
	var id int64
	if err = row.Scan(&id, &text); err == nil {
		err = json.Unmarshal(text, &e)
	}
	e.ID = id
	return e, err
}

// Keep has a cluster scaled by its template's rules from now on, unless it has its own. It returns the rules that count; nil where there are none.
func Keep(t *db.Tx, at time.Time, c app.Cluster, p *template.ScalingPolicy) (*template.ScalingPolicy, error) {
	k, err := found(t.Row(byCluster, c.ID, c.Tenant))
	switch {
	case err != nil:
		return nil, err
	case c.Pool > 0, k == nil && p == nil:
		return nil, nil
	case k == nil:
		k = &scaling.Kept{}
	}
	if before := k.Rules.Template; k.Version > 0 && db.JSON(before) == db.JSON(p) {
		return k.Rules.Effective(), nil // a server that is at it now isn't disturbed
	}
	k.Rules.Template = p
	return k.Rules.Effective(), put(t, at, c, *k)
}

// put writes what is kept, and has it seen to at once. The version grows, so that a server that is at it now writes nothing.
func put(t *db.Tx, at time.Time, c app.Cluster, k scaling.Kept) error {
	p := k.Rules.Effective()
	if p == nil && k.Rules.Template == nil && !k.Rules.Off {
		return t.Exec(`DELETE FROM cluster_scaling WHERE cluster = ?`, c.ID)
	}
	scripts, due := 0, db.Micros(at)
	if p.Scripts() {
		scripts = 1
	}
	if p.None() {
		due = 0
	}
	return t.Exec(`INSERT INTO cluster_scaling (cluster, tenant, rules, scripts, state, measured, changed_by, changed_at, due_at, claimed_until, version)
		VALUES (?, ?, ?, ?, ?, '', ?, ?, ?, 0, 1) ON CONFLICT (cluster) DO UPDATE SET rules = excluded.rules, scripts = excluded.scripts, state = excluded.state,
		measured = '', changed_by = excluded.changed_by, changed_at = excluded.changed_at, due_at = excluded.due_at, claimed_until = 0,
		version = cluster_scaling.version + 1`,
		c.ID, c.Tenant, db.JSON(k.Rules), scripts, db.JSON(k.State), k.ChangedBy, db.Micros(k.ChangedAt), due)
}

// Drop forgets how a cluster is scaled, and what was decided.
func Drop(t *db.Tx, cluster string) error {
	if err := t.Exec(`DELETE FROM cluster_scaling WHERE cluster = ?`, cluster); err != nil {
		return err
	}
	return t.Exec(`DELETE FROM scaling_history WHERE cluster = ?`, cluster)
}

// Measured notes what nodes said in a batch of checks, and has the cluster seen to.
func Measured(t *db.Tx, tenant, cluster string, at time.Time, said []scaling.NodeNumber) error {
	k, err := found(t.Row(byCluster, cluster, tenant))
	if err != nil || k == nil {
		return err
	}
	p := k.Rules.Effective()
	if !p.Scripts() {
		return nil
	}
	point := scaling.Point{At: at}
	if err := t.Row(`SELECT size FROM clusters WHERE id = ?`, cluster).Scan(&point.Nodes); err != nil {
		return db.Wrapped(err)
	}
	point.Values = scaling.Gather(p, said, point.Nodes)
	return t.Exec(`UPDATE cluster_scaling SET measured = ?, due_at = CASE WHEN due_at = 0 OR due_at > ? THEN ? ELSE due_at END WHERE cluster = ?`,
		db.JSON(point), db.Micros(at), db.Micros(at), cluster)
}

// Forget forgets all of a tenant that is deleted.
func Forget(t *db.Tx, tenant string) error {
	if err := t.Exec(`DELETE FROM cluster_scaling WHERE tenant = ?`, tenant); err != nil {
		return err
	}
	return t.Exec(`DELETE FROM scaling_history WHERE tenant = ?`, tenant)
}
