package lease

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	applease "muster/app/lease"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/idle"
	"muster/app/store/policy"
	"muster/app/template"
)

// Begin notes when a lease was set, and when its first warning is due.
func Begin(t *db.Tx, cluster string, from, until time.Time) error {
	return t.Exec(`UPDATE clusters SET expires_at = ?, lease_from = ?, lease_reminder_at = ? WHERE id = ?`, db.Micros(until), db.Micros(from),
		db.Micros(template.LeaseTimes{From: from, Until: until}.NextWarning(from)), cluster)
}

func (s *Store) SetLease(ctx context.Context, c applease.Change) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var name, status string
		var expires, deleted int64
		var deleting bool
		err := t.Row(`SELECT c.name, c.status, c.expires_at, c.deleted_at, EXISTS (SELECT 1 FROM operations o WHERE o.cluster = c.id
			AND o.kind IN ('delete', 'roll_back') AND (o.status IN ('waiting', 'running', 'paused', 'cancelling') OR o.status = 'failed' AND o.followed_by = 0))
			FROM clusters c WHERE c.tenant = ? AND c.id = ?`, c.Tenant, c.Cluster).Scan(&name, &status, &expires, &deleted, &deleting)
		if err := clusterdb.ReadError(err, c.Cluster); err != nil {
			return err
		}
		switch {
		case deleted > 0:
			return app.Errorf(app.EConflict, "Cluster %q is gone.", name)
		case deleting:
			return &app.Error{Code: app.EConflict, Reason: "deleting", Message: fmt.Sprintf("Cluster %q is being deleted, so its lease can't be changed.", name)}
		case expires != db.Micros(c.Was):
			return &app.Error{Code: app.EConflict, Reason: "lease_moved", Message: fmt.Sprintf("Someone else has just changed the lease of %q.", name),
				Hint: "Check when the lease expires now, then try again."}
		}
		kept, err := policy.Reserved(t, c.Tenant, c.Cluster, 0)
		if err != nil {
			return err
		}
		if kept != nil && kept.EndedAt.IsZero() {
			kept.Until, kept.Groups = c.Until, nil
			if err := policy.Reserve(t, c.Now, kept.Reservation); err != nil {
				return err
			}
		}
		if err := Begin(t, c.Cluster, c.Now, c.Until); err != nil {
			return err
		}
		if c.Until.IsZero() || c.Until.After(c.Was) {
			if err := idle.Active(t, c.Cluster, c.Now); err != nil {
				return err
			}
		}
		if err := t.Event(app.Event{At: c.Now, Tenant: c.Tenant, Cluster: c.Cluster, Kind: app.EventLease, Status: status, Message: c.Message}); err != nil {
			return err
		}
		return t.AddAudit(c.Now, c.Who, "cluster.lease", c.Cluster, leaseDetail{Until: c.Was}, leaseDetail{Until: c.Until, Beyond: c.Beyond, Reason: c.Reason})
	})
}

// leaseDetail is a lease as the audit tells of it.
type leaseDetail struct {
	Until  time.Time `json:"until,omitzero"`
	Beyond bool      `json:"beyond_template,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// Over refuses to end a lease that was moved meanwhile, and tells the owner that it ends.
func Over(t *db.Tx, op app.Operation) error {
	var name, owner string
	var expires int64
	if err := t.Row(`SELECT name, owner, expires_at FROM clusters WHERE tenant = ? AND id = ?`, op.Tenant, op.Cluster).Scan(&name, &owner, &expires); err != nil {
		return clusterdb.ReadError(err, op.Cluster)
	}
	if expires == 0 || expires > db.Micros(op.CreatedAt) {
		return &app.Error{Code: app.EConflict, Reason: "lease_moved", Message: fmt.Sprintf("The lease of %q has just changed.", name)}
	}
	return t.Notice(app.Notice{At: op.CreatedAt, Tenant: op.Tenant, Kind: app.NoticeLease, Cluster: op.Cluster, Users: []string{owner}, About: app.ClusterSubject(op.Cluster),
		Title: fmt.Sprintf("The lease of %s has expired.", name), Text: "Muster is deleting the cluster and all its data."})
}

func (s *Store) LeaseTimes(ctx context.Context, tenant, cluster string) (l template.LeaseTimes, err error) {
	var from, until int64
	err = s.Row(ctx, `SELECT lease_from, expires_at FROM clusters WHERE tenant = ? AND id = ?`, tenant, cluster).Scan(&from, &until)
	return template.LeaseTimes{From: db.FromMicros(from), Until: db.FromMicros(until)}, clusterdb.ReadError(err, cluster)
}

const leaseDue = `c.deleted_at = 0 AND c.lease_reminder_at > 0 AND c.lease_reminder_at <= ?`

func (s *Store) LeasesToWarn(ctx context.Context, now time.Time, limit int) (list []applease.Due, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var from, warn int64
		c, err := clusterdb.Scan(row, &from, &warn)
		list = append(list, applease.Due{Cluster: c, Times: template.LeaseTimes{From: db.FromMicros(from), Until: c.ExpiresAt}, WarnAt: db.FromMicros(warn)})
		return err
	}, `SELECT `+clusterdb.Columns+`, c.lease_from, c.lease_reminder_at FROM clusters c WHERE `+leaseDue+`
		ORDER BY c.lease_reminder_at LIMIT ?`, db.Micros(now), limit)
	return list, err
}

func (s *Store) WarnLease(ctx context.Context, d applease.Due, before time.Duration, next time.Time, n app.Notice) (done bool, err error) {
	c := d.Cluster
	err = s.Write(ctx, func(t *db.Tx) error {
		changed, err := t.Count(`UPDATE clusters SET lease_reminder_at = ? WHERE id = ? AND deleted_at = 0 AND expires_at = ? AND lease_reminder_at = ?`,
			db.Micros(next), c.ID, db.Micros(d.Times.Until), db.Micros(d.WarnAt))
		if done = changed > 0; err != nil || !done || before == 0 {
			return err
		}
		if changed, err = t.Count(`INSERT INTO lease_warnings (cluster, until_at, before, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			c.ID, db.Micros(d.Times.Until), before.Microseconds(), db.Micros(n.At)); err != nil || changed == 0 {
			return err
		}
		// Who has it deleted already needs no warning.
		var deleting bool
		if err := t.Row(`SELECT EXISTS (SELECT 1 FROM operations WHERE cluster = ? AND kind IN ('delete', 'roll_back')
			AND status IN ('waiting', 'running', 'paused', 'cancelling'))`, c.ID).Scan(&deleting); err != nil || deleting {
			return err
		}
		if err := t.Event(app.Event{At: n.At, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventLease, Status: string(c.Status), Message: n.Title}); err != nil {
			return err
		}
		return t.Notice(n)
	})
	return done, err
}

func (s *Store) LeaseWarnings(ctx context.Context, tenant, cluster string) (map[time.Duration]time.Time, error) {
	sent := map[time.Duration]time.Time{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var before, at int64
		err := row.Scan(&before, &at)
		sent[time.Duration(before)*time.Microsecond] = db.FromMicros(at)
		return err
	}, `SELECT w.before, w.at FROM clusters c JOIN lease_warnings w ON w.cluster = c.id AND w.until_at = c.expires_at WHERE c.tenant = ? AND c.id = ?`,
		tenant, cluster)
	return sent, err
}
