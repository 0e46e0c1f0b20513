package idle

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/idle"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/template"
)

const columns = `i.policy, i.from_tenant, i.disabled, i.active_at, i.idle_since, i.measured_at, i.reasons, i.kept_until, i.kept_by, i.warned_at, i.act_at,
	i.confirm_at, i.done_at, i.note, i.due_at`

// stateRow reads a state.
type stateRow struct {
	policy, reasons                                                []byte
	fromTenant, disabled                                           int
	active, since, measured, kept, warned, act, confirm, done, due int64
	keptBy, note                                                   string
}

func (r *stateRow) dest() []any {
	return []any{&r.policy, &r.fromTenant, &r.disabled, &r.active, &r.since, &r.measured, &r.reasons, &r.kept, &r.keptBy, &r.warned, &r.act, &r.confirm, &r.done,
		&r.note, &r.due}
}

func (r *stateRow) state() (s idle.State, err error) {
	s = idle.State{FromTenant: r.fromTenant == 1, Disabled: r.disabled == 1, ActiveAt: db.FromMicros(r.active), IdleSince: db.FromMicros(r.since),
		MeasuredAt: db.FromMicros(r.measured), KeptUntil: db.FromMicros(r.kept), KeptBy: r.keptBy, WarnedAt: db.FromMicros(r.warned), ActAt: db.FromMicros(r.act),
		ConfirmAt: db.FromMicros(r.confirm), DoneAt: db.FromMicros(r.done), Note: r.note, DueAt: db.FromMicros(r.due)}
	if err = json.Unmarshal(r.policy, &s.Policy); err == nil {
		err = json.Unmarshal(r.reasons, &s.Reasons)
	}
	if err != nil {
		err = fmt.Errorf("store: idle: %w", err)
	}
	return s, err
}

// read returns the state of a cluster; nil where it has none.
func read(t *db.Tx, tenant, cluster string) (*idle.State, error) {
	var r stateRow
	err := t.Row(`SELECT `+columns+` FROM cluster_idle i WHERE i.cluster = ? AND i.tenant = ?`, cluster, tenant).Scan(r.dest()...)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Wrapped(err)
	}
	s, err := r.state()
	return &s, err
}

// save writes all of a state but the policy.
func save(t *db.Tx, cluster string, s idle.State) error {
	disabled := 0
	if s.Disabled {
		disabled = 1
	}
	reasons := s.Reasons
	if reasons == nil {
		reasons = []string{}
	}
	return t.Exec(`UPDATE cluster_idle SET disabled = ?, active_at = ?, idle_since = ?, measured_at = ?, reasons = ?, kept_until = ?, kept_by = ?, warned_at = ?,
		act_at = ?, confirm_at = ?, done_at = ?, note = ?, due_at = ? WHERE cluster = ?`, disabled, db.Micros(s.ActiveAt), db.Micros(s.IdleSince),
		db.Micros(s.MeasuredAt), db.JSON(reasons), db.Micros(s.KeptUntil), s.KeptBy, db.Micros(s.WarnedAt), db.Micros(s.ActAt), db.Micros(s.ConfirmAt),
		db.Micros(s.DoneAt), s.Note, db.Micros(s.DueAt), cluster)
}

// Keep has a cluster measured by its template's policy, or by the tenant's default where the template says nothing. It returns the policy; nil
// where there is none.
func Keep(t *db.Tx, at time.Time, c app.Cluster, p *template.IdlePolicy) (*template.IdlePolicy, error) {
	fromTenant := 0
	if p == nil {
		var text string
		if err := t.Row(`SELECT idle_policy FROM tenants WHERE name = ?`, c.Tenant).Scan(&text); err != nil && !db.IsNoRows(err) {
			return nil, db.Wrapped(err)
		}
		if text == "" || c.Pool > 0 {
			return nil, Drop(t, c.ID)
		}
		p, fromTenant = &template.IdlePolicy{}, 1
		if err := json.Unmarshal([]byte(text), p); err != nil {
			return nil, fmt.Errorf("store: idle policy of tenant %s: %w", c.Tenant, err)
		}
	}
	return p, t.Exec(`INSERT INTO cluster_idle (cluster, tenant, policy, from_tenant, disabled, active_at, idle_since, measured_at, reasons, kept_until, kept_by,
			warned_at, act_at, confirm_at, done_at, note, due_at) VALUES (?, ?, ?, ?, 0, ?, 0, 0, '[]', 0, '', 0, 0, 0, 0, '', 0)
		ON CONFLICT (cluster) DO UPDATE SET policy = excluded.policy, from_tenant = excluded.from_tenant, idle_since = 0, warned_at = 0, act_at = 0,
			confirm_at = 0, done_at = 0, note = '', due_at = 0`,
		c.ID, c.Tenant, db.JSON(p), fromTenant, db.Micros(at))
}

// Drop forgets how a cluster is used.
func Drop(t *db.Tx, cluster string) error {
	return t.Exec(`DELETE FROM cluster_idle WHERE cluster = ?`, cluster)
}

// Measured notes what a batch of checks found. Again reports that a last look is awaited for which this batch began too early.
func Measured(t *db.Tx, tenant, cluster string, m idle.Measurement) (again bool, err error) {
	s, err := read(t, tenant, cluster)
	if err != nil || s == nil || s.Disabled || !s.Policy.Measures() {
		return false, err
	}
	if err := t.Row(`SELECT size FROM clusters WHERE id = ?`, cluster).Scan(&m.Nodes); err != nil {
		return false, db.Wrapped(err)
	}
	after := s.Measured(m)
	if s.WarnedAt.IsZero() != after.WarnedAt.IsZero() { // the page shows that it's in use again
		if err := t.Event(app.Event{At: m.At, Tenant: tenant, Cluster: cluster, Kind: app.EventIdle, Message: "The cluster is in use again."}); err != nil {
			return false, err
		}
	}
	return !after.ConfirmAt.IsZero() && after.DueAt.IsZero(), save(t, cluster, after)
}

// Active notes use by a person or an operation.
func Active(t *db.Tx, cluster string, at time.Time) error {
	return t.Exec(`UPDATE cluster_idle SET active_at = ?, idle_since = 0, reasons = '[]', warned_at = 0, act_at = 0, confirm_at = 0, done_at = 0, note = '', due_at = 0
		WHERE cluster = ?`, db.Micros(at), cluster)
}

// Over refuses an action on a cluster that is in use again, which someone may just have kept, and tells its owner of it.
func Over(t *db.Tx, op app.Operation) error {
	s, err := read(t, op.Tenant, op.Cluster)
	if err != nil {
		return err
	}
	if s == nil || s.Disabled || s.ConfirmAt.IsZero() || s.DueAt.IsZero() || s.DueAt.After(op.CreatedAt) || s.IdleSince.IsZero() || !s.DoneAt.IsZero() {
		return &app.Error{Code: app.EConflict, Reason: idle.ReasonInUse, Message: "The cluster is in use again."}
	}
	c, err := clusterdb.Live(t, op.Tenant, op.Cluster)
	if err != nil {
		return err
	}
	return t.Notice(idle.ActNotice(c, *s, op.CreatedAt))
}

// Saves begins to count what an operation saves that puts a cluster to sleep.
func Saves(t *db.Tx, op app.Operation, perHour float64) error {
	if op.Kind != app.OperationSleep {
		return nil
	}
	return t.Exec(`INSERT INTO idle_savings (operation, tenant, cluster, per_hour, from_at, until_at) VALUES (?, ?, ?, ?, 0, 0)`,
		op.ID, op.Tenant, op.Cluster, perHour)
}

// Moved counts what is saved from when a cluster sleeps until it wakes or is deleted.
func Moved(t *db.Tx, at time.Time, cluster string, status app.ClusterStatus) error {
	switch status {
	case app.ClusterAsleep:
		return t.Exec(`UPDATE idle_savings SET from_at = ? WHERE cluster = ? AND until_at = 0 AND from_at = 0`, db.Micros(at), cluster)
	case app.ClusterPending:
		return t.Exec(`UPDATE idle_savings SET until_at = ? WHERE cluster = ? AND until_at = 0 AND from_at > 0`, db.Micros(at), cluster)
	}
	return t.Exec(`DELETE FROM idle_savings WHERE cluster = ? AND until_at = 0 AND from_at = 0`, cluster) // it didn't come to that
}

func (s *Store) IdleState(ctx context.Context, tenant, cluster string) (*idle.State, error) {
	var r stateRow
	err := s.Row(ctx, `SELECT `+columns+` FROM cluster_idle i WHERE i.cluster = ? AND i.tenant = ?`, cluster, tenant).Scan(r.dest()...)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Wrapped(err)
	}
	state, err := r.state()
	return &state, err
}

// dueIdle is looked for every few seconds.
const dueIdle = `i.due_at > 0 AND i.due_at <= ?`

func (s *Store) DueIdle(ctx context.Context, now time.Time, limit int) (list []idle.Due, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		d, err := scanDue(row)
		list = append(list, d)
		return err
	}, `SELECT `+clusterdb.Columns+`, `+columns+`, h.policy FROM cluster_idle i JOIN clusters c ON c.id = i.cluster JOIN cluster_health h ON h.cluster = i.cluster
		WHERE `+dueIdle+` ORDER BY i.due_at LIMIT ?`, db.Micros(now), limit)
	return list, err
}

func scanDue(row db.Scanner) (d idle.Due, err error) {
	var r stateRow
	var text []byte
	if d.Cluster, err = clusterdb.Scan(row, append(r.dest(), &text)...); err != nil {
		return d, err
	}
	if d.State, err = r.state(); err != nil {
		return d, err
	}
	var p template.HealthPolicy
	err = json.Unmarshal(text, &p)
	d.Every = p.Every()
	return d, err
}

// Move writes the state after a step, unless another server, a person or a measurement was faster.
func Move(t *db.Tx, m idle.Move) (bool, error) {
	is, err := read(t, m.Due.Cluster.Tenant, m.Due.Cluster.ID)
	if err != nil || is == nil || !is.Same(m.Due.State) {
		return false, err
	}
	if err := save(t, m.Due.Cluster.ID, m.After); err != nil || m.Notice.Kind == "" {
		return err == nil, err
	}
	if err := t.Event(app.Event{At: m.Now, Tenant: m.Due.Cluster.Tenant, Cluster: m.Due.Cluster.ID, Kind: app.EventIdle, Status: string(m.Due.Cluster.Status),
		Message: m.Notice.Title}); err != nil {
		return false, err
	}
	return true, t.Notice(m.Notice)
}

func (s *Store) ChangeIdle(ctx context.Context, ch idle.Change) error {
	return s.Write(ctx, func(t *db.Tx) error {
		c, err := clusterdb.Live(t, ch.Tenant, ch.Cluster)
		if err != nil {
			return err
		}
		is, err := read(t, c.Tenant, c.ID)
		switch {
		case err != nil:
			return err
		case is == nil:
			return &app.Error{Code: app.EConflict, Message: fmt.Sprintf("Cluster %q has no idle policy.", c.Name)}
		case c.Status != app.ClusterActive && !ch.Until.IsZero():
			return &app.Error{Code: app.EConflict, Reason: "cluster_" + string(c.Status), Message: fmt.Sprintf("Cluster %q is %s, so it can't be kept.", c.Name,
				c.StatusWord(nil)),
				Hint: "Keep it once it's running."}
		}
		after, act := is.Active(ch.Now), "cluster.idle"
		var message string
		switch {
		case !ch.Until.IsZero():
			after, act, message = is.Keep(ch.Until, ch.Now, ch.Who.Name()), "cluster.keep", ch.Who.Name()+" kept the cluster until "+app.Moment(ch.Until)+"."
		case ch.Disable:
			after.Disabled, message = true, ch.Who.Name()+" turned off the idle policy."
		default:
			after.Disabled, message = false, ch.Who.Name()+" turned on the idle policy."
		}
		if is.Disabled == after.Disabled && ch.Until.IsZero() {
			return nil
		}
		if err := save(t, c.ID, after); err != nil {
			return err
		}
		if err := t.Event(app.Event{At: ch.Now, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventIdle, Status: string(c.Status), Message: message}); err != nil {
			return err
		}
		return t.AddAudit(ch.Now, ch.Who, act, c.ID, detail{is.KeptUntil, is.Disabled}, detail{after.KeptUntil, after.Disabled})
	})
}

// detail is a change as the audit tells of it.
type detail struct {
	Until time.Time `json:"kept_until,omitzero"`
	Off   bool      `json:"off,omitempty"`
}
