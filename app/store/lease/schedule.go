package lease

import (
	"context"
	"time"

	"muster/app"
	"muster/app/schedule"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
)

func (s *Store) ClusterSchedule(ctx context.Context, tenant, cluster string) (v schedule.ClusterSchedule, err error) {
	var at int64
	err = s.Row(ctx, `SELECT sleep, wake, zone, changed_at, changed_by FROM cluster_schedules WHERE tenant = ? AND cluster = ?`, tenant, cluster).
		Scan(&v.Sleep, &v.Wake, &v.Zone, &at, &v.ChangedBy)
	if db.IsNoRows(err) {
		return schedule.ClusterSchedule{}, nil
	}
	v.ChangedAt = db.FromMicros(at)
	return v, db.Wrapped(err)
}

func (s *Store) SetSchedule(ctx context.Context, c schedule.Change) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if _, err := clusterdb.Live(t, c.Tenant, c.Cluster); err != nil {
			return err
		}
		var was schedule.Schedule
		err := t.Row(`SELECT sleep, wake, zone FROM cluster_schedules WHERE cluster = ?`, c.Cluster).Scan(&was.Sleep, &was.Wake, &was.Zone)
		if err != nil && !db.IsNoRows(err) {
			return db.Wrapped(err)
		}
		if was == c.Schedule {
			return nil
		}
		is := c.Schedule
		if is.None() {
			err = t.Exec(`DELETE FROM cluster_schedules WHERE cluster = ?`, c.Cluster)
		} else {
			err = t.Exec(`INSERT INTO cluster_schedules (cluster, tenant, sleep, wake, zone, since, due_at, changed_at, changed_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (cluster) DO UPDATE SET sleep = excluded.sleep, wake = excluded.wake, zone = excluded.zone, since = excluded.since,
					due_at = excluded.due_at, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
				c.Cluster, c.Tenant, is.Sleep, is.Wake, is.Zone, db.Micros(c.Now), db.Micros(c.Due), db.Micros(c.Now), c.Who.Name())
		}
		if err != nil {
			return err
		}
		return t.AddAudit(c.Now, c.Who, "cluster.schedule", c.Cluster, was, is)
	})
}

func (s *Store) DueSchedules(ctx context.Context, now time.Time, limit int) (list []schedule.Due, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var d schedule.Due
		var since, due int64
		d.Cluster, err = clusterdb.Scan(row, &d.Schedule.Sleep, &d.Schedule.Wake, &d.Schedule.Zone, &since, &due)
		d.Since, d.Due = db.FromMicros(since), db.FromMicros(due)
		list = append(list, d)
		return err
	}, `SELECT `+clusterdb.Columns+`, s.sleep, s.wake, s.zone, s.since, s.due_at FROM cluster_schedules s JOIN clusters c ON c.id = s.cluster
		WHERE s.due_at > 0 AND s.due_at <= ? AND c.deleted_at = 0 ORDER BY s.due_at LIMIT ?`, db.Micros(now), limit)
	return list, err
}

func (s *Store) MoveSchedule(ctx context.Context, d schedule.Due, until, due time.Time, n app.Notice) (moved bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		changed, err := t.Count(`UPDATE cluster_schedules SET since = ?, due_at = ? WHERE cluster = ? AND due_at = ? AND since = ?`,
			db.Micros(until), db.Micros(due), d.Cluster.ID, db.Micros(d.Due), db.Micros(d.Since))
		if moved = changed > 0; err != nil || !moved || n.Kind == "" {
			return err
		}
		return t.Notice(n)
	})
	return moved, err
}
