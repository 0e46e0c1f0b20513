package scaling

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/scaling"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
)

// dueScaling is looked for every few seconds.
const dueScaling = `x.due_at > 0 AND x.due_at <= ? AND x.claimed_until <= ?`

// latest finds the newest operation that scaling has begun, and waiting a request of its that is open.
const (
	latest = `(SELECT max(o.id) FROM operations o WHERE o.cluster = x.cluster AND o.tenant = x.tenant
		AND o.kind = 'resize' AND o.requester = '` + app.ScalingUser + `')`
	waiting = `coalesce((SELECT max(q.id) FROM requests q WHERE q.tenant = x.tenant AND q.cluster = x.cluster AND q.requester = '` + app.ScalingUser + `'
		AND q.status IN ('waiting', 'offered', 'scheduled')), 0)`
)

// DueScaling implements scaling.Store.
func (s *Store) DueScaling(ctx context.Context, now time.Time, limit int) (list []scaling.Due, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var r keptRow
		var d scaling.Due
		var at int64
		var err error
		if d.Cluster, err = clusterdb.Scan(row, append(r.dest(), &d.Request, &d.Latest.ID, &d.Latest.Status, &at, &d.Latest.Error)...); err != nil {
			return err
		}
		d.Latest.At = db.FromMicros(at)
		d.Kept, err = r.kept()
		list = append(list, d)
		return err
	}, `SELECT `+clusterdb.Columns+`, `+columns+`, `+waiting+`, coalesce(l.id, 0), coalesce(l.status, ''), coalesce(l.created_at, 0), coalesce(l.message, '')
		FROM cluster_scaling x JOIN clusters c ON c.id = x.cluster LEFT JOIN operations l ON l.id = `+latest+`
		WHERE `+dueScaling+` ORDER BY x.due_at LIMIT ?`, db.Micros(now), db.Micros(now), limit)
	return list, err
}

// ClaimScaling implements scaling.Store.
func (s *Store) ClaimScaling(ctx context.Context, c scaling.Claim) (is bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		var version int64
		err := t.Row(`UPDATE cluster_scaling SET version = version + 1, claimed_until = ? WHERE cluster = ? AND tenant = ? AND version = ? AND claimed_until <= ?
			RETURNING version`, db.Micros(c.Until), c.Due.Cluster.ID, c.Due.Cluster.Tenant, c.Due.Version, db.Micros(c.Now)).Scan(&version)
		is = err == nil
		if db.IsNoRows(err) {
			return nil
		}
		return db.Wrapped(err)
	})
	return is, err
}

// MoveScaling implements scaling.Store.
func (s *Store) MoveScaling(ctx context.Context, m scaling.Move) (moved bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		c := m.Due.Cluster
		moved = false
		k, err := found(t.Row(byCluster, c.ID, c.Tenant))
		if err != nil || k == nil {
			return err
		}
		if k.Version != m.Due.Version { // someone has changed the rules, or it took too long: what was done is noted nevertheless
			return write(t, c, m.Entries)
		}
		moved = true
		next := db.Micros(m.Next)
		if k.Measured != nil && (m.Due.Measured == nil || k.Measured.At.After(m.Due.Measured.At)) {
			next = db.Micros(m.Now) // it was measured meanwhile
		}
		if err := t.Exec(`UPDATE cluster_scaling SET state = ?, due_at = ?, claimed_until = 0 WHERE cluster = ?`, db.JSON(m.After), next, c.ID); err != nil {
			return err
		}
		if err := write(t, c, m.Entries); err != nil || m.Notice.Kind == "" {
			return err
		}
		return t.Notice(m.Notice)
	})
	return moved, err
}

// write adds to the history of a cluster, and forgets what is too much. The same decision again is one entry.
func write(t *db.Tx, c app.Cluster, entries []scaling.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	last, err := scanEntry(t.Row(`SELECT id, entry FROM scaling_history WHERE cluster = ? ORDER BY id DESC LIMIT 1`, c.ID))
	if err != nil && !db.IsNoRows(err) {
		return db.Wrapped(err)
	}
	for _, e := range entries {
		if last.ID > 0 && e.Same(last) && e.Outcome != scaling.Changed {
			last.Until, last.Value, last.Note = e.At, e.Value, e.Note
			if err := t.Exec(`UPDATE scaling_history SET entry = ? WHERE cluster = ? AND id = ?`, db.JSON(last), c.ID, last.ID); err != nil {
				return err
			}
			continue
		}
		e.ID = last.ID + 1
		if err := t.Exec(`INSERT INTO scaling_history (cluster, id, tenant, at, entry) VALUES (?, ?, ?, ?, ?)`,
			c.ID, e.ID, c.Tenant, db.Micros(e.At), db.JSON(e)); err != nil {
			return err
		}
		last = e
		switch e.Outcome {
		case scaling.Started, scaling.DryRun, scaling.Failed, scaling.Brake, scaling.Approval, scaling.Window, scaling.Changed:
			if err := t.Event(app.Event{At: e.At, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventScaling, Status: string(c.Status),
				Message: "Scaling: " + e.Text()}); err != nil {
				return err
			}
		}
	}
	return t.Exec(`DELETE FROM scaling_history WHERE cluster = ? AND id <= ?`, c.ID, last.ID-mostHistory)
}

// Set writes what someone has set of a cluster's scaling.
func Set(t *db.Tx, ch scaling.Change) (app.Cluster, error) {
	c, err := clusterdb.Live(t, ch.Tenant, ch.Cluster)
	if err != nil {
		return c, err
	}
	k, err := found(t.Row(byCluster, c.ID, c.Tenant))
	if err != nil {
		return c, err
	}
	act := "cluster.scaling"
	var note string
	switch {
	case ch.Resume && (k == nil || !k.State.Paused()):
		return c, &app.Error{Code: app.EConflict, Message: fmt.Sprintf("Scaling of cluster %q isn't paused.", c.Name)}
	case ch.Resume:
		k.State = k.State.Resumed(ch.Now)
		act, note = "cluster.scaling_resume", ch.Who.Name()+" resumed scaling."
	default:
		if k == nil {
			k = &scaling.Kept{}
		}
		before := k.Rules
		k.Rules.Own, k.Rules.Off = ch.Own, ch.Off
		if db.JSON(before) == db.JSON(k.Rules) {
			return c, nil
		}
		// What was measured and waited for follows from other rules; the latest operation doesn't.
		k.State = scaling.State{ChangedAt: k.State.ChangedAt, Operation: k.State.Operation, Awaited: k.State.Awaited, From: k.State.From, To: k.State.To}
		k.ChangedBy, k.ChangedAt = ch.Who.Name(), ch.Now
		note = map[bool]string{true: " turned off scaling.", false: " changed the scaling rules."}[ch.Off]
		note = ch.Who.Name() + note
		if err := t.AddAudit(ch.Now, ch.Who, act, c.ID, before, k.Rules); err != nil {
			return c, err
		}
	}
	if ch.Resume {
		if err := t.AddAudit(ch.Now, ch.Who, act, c.ID, nil, nil); err != nil {
			return c, err
		}
	}
	if err := put(t, ch.Now, c, *k); err != nil {
		return c, err
	}
	return c, write(t, c, []scaling.Entry{{At: ch.Now, From: c.Size, To: c.Size, Outcome: scaling.Changed, Note: note}})
}
