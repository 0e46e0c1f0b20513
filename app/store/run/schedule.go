package run

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/run"
	"muster/app/store/db"
)

const scheduleColumns = `cluster, name, tenant, ask, every, zone, due_at, version, created_by, created_at, last_at, last_operation, last_result`

func scheduleRow(list *[]run.ActionSchedule) func(db.Scanner) error {
	return func(row db.Scanner) error {
		var a run.ActionSchedule
		var ask run.Ask
		var text []byte
		var due, created, last int64
		if err := row.Scan(&a.Cluster, &a.Name, &a.Tenant, &text, &a.Every, &a.Zone, &due, &a.Version, &a.CreatedBy, &created, &last, &a.LastOperation,
			&a.LastResult); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &ask); err != nil {
			return fmt.Errorf("store: schedule %s of %s: %w", a.Name, a.Cluster, err)
		}
		a.Action, a.Parameters, a.On = ask.Action, ask.Parameters, ask.On
		a.Paused, a.Next, a.CreatedAt, a.LastAt = due == 0, db.FromMicros(due), db.FromMicros(created), db.FromMicros(last)
		*list = append(*list, a)
		return nil
	}
}

// ActionSchedules implements run.ScheduleStore.
func (s *Store) ActionSchedules(ctx context.Context, tenant, cluster string) ([]run.ActionSchedule, error) {
	list := []run.ActionSchedule{}
	err := s.Each(ctx, scheduleRow(&list), `SELECT `+scheduleColumns+` FROM action_schedules WHERE tenant = ? AND cluster = ? ORDER BY name`, tenant, cluster)
	return list, err
}

// AddActionSchedule implements run.ScheduleStore.
func (s *Store) AddActionSchedule(ctx context.Context, who app.Actor, a run.ActionSchedule, most int) error {
	return s.Write(ctx, func(t *db.Tx) error {
		// A cluster that was deleted meanwhile gets none. This row also has two who add at the same time wait for each other.
		if n, err := t.Count(`UPDATE clusters SET name = name WHERE id = ? AND tenant = ? AND deleted_at = 0`, a.Cluster, a.Tenant); err != nil || n == 0 {
			if err == nil {
				err = app.Errorf(app.EConflict, "Cluster %q was deleted.", a.Cluster)
			}
			return err
		}
		var n, same int
		if err := t.Row(`SELECT count(*), coalesce(sum(CASE WHEN name = ? THEN 1 ELSE 0 END), 0) FROM action_schedules WHERE cluster = ?`, a.Name, a.Cluster).Scan(&n, &same); err != nil {
			return err
		}
		switch {
		case same > 0:
			return &app.Error{Code: app.EConflict, Field: "name",
				Message: fmt.Sprintf("The cluster already has a schedule %s.", a.Name), Hint: "Choose another name, or delete that one."}
		case n >= most:
			return &app.Error{Code: app.EQuota, Message: fmt.Sprintf("A cluster can have at most %d schedules.", most), Hint: "Delete one first."}
		}
		err := t.Exec(`INSERT INTO action_schedules (cluster, name, tenant, ask, every, zone, due_at, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			a.Cluster, a.Name, a.Tenant, db.JSON(run.Ask{Action: a.Action, Parameters: a.Parameters,
				On: a.On}), a.Every, a.Zone, db.Micros(a.Next), a.CreatedBy, db.Micros(a.CreatedAt))
		if err != nil {
			return err
		}
		return t.AddAudit(a.CreatedAt, who, "cluster.action_schedule", a.Cluster, nil, said(a))
	})
}

// said is what the audit log says of a schedule.
func said(a run.ActionSchedule) map[string]any {
	return map[string]any{"name": a.Name, "action": a.Action, "every": a.Every, "zone": a.Zone, "paused": a.Paused}
}

// PauseActionSchedule implements run.ScheduleStore.
func (s *Store) PauseActionSchedule(ctx context.Context, who app.Actor, a run.ActionSchedule, due, now time.Time) error {
	return s.change(ctx, who, a, now, said(a), `UPDATE action_schedules SET due_at = ?, version = version + 1 WHERE tenant = ? AND cluster = ? AND name = ?`,
		db.Micros(due), a.Tenant, a.Cluster, a.Name)
}

// DeleteActionSchedule implements run.ScheduleStore.
func (s *Store) DeleteActionSchedule(ctx context.Context, who app.Actor, a run.ActionSchedule, now time.Time) error {
	return s.change(ctx, who, a, now, nil, `DELETE FROM action_schedules WHERE tenant = ? AND cluster = ? AND name = ?`, a.Tenant, a.Cluster, a.Name)
}

func (s *Store) change(ctx context.Context, who app.Actor, a run.ActionSchedule, now time.Time, after any, query string, args ...any) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(query, args...)
		switch {
		case err != nil:
			return err
		case n == 0:
			return app.Errorf(app.ENotFound, "Schedule %q doesn't exist.", a.Name)
		}
		return t.AddAudit(now, who, "cluster.action_schedule", a.Cluster, map[string]any{"name": a.Name, "action": a.Action}, after)
	})
}

// DueActionSchedules implements run.ScheduleStore.
func (s *Store) DueActionSchedules(ctx context.Context, now time.Time, limit int) (list []run.ActionSchedule, err error) {
	err = s.Each(ctx, scheduleRow(&list), `SELECT `+scheduleColumns+` FROM action_schedules WHERE due_at > 0 AND due_at <= ? ORDER BY due_at LIMIT ?`,
		db.Micros(now), limit)
	return list, err
}

// ClaimActionSchedule implements run.ScheduleStore.
func (s *Store) ClaimActionSchedule(ctx context.Context, a run.ActionSchedule, next time.Time) (claimed bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE action_schedules SET due_at = ?, version = version + 1 WHERE cluster = ? AND name = ? AND version = ? AND due_at = ?`,
			db.Micros(next), a.Cluster, a.Name, a.Version, db.Micros(a.Next))
		claimed = n > 0
		return err
	})
	return claimed, err
}

// EndActionSchedule implements run.ScheduleStore.
func (s *Store) EndActionSchedule(ctx context.Context, a run.ActionSchedule, n app.Notice) error {
	return s.Write(ctx, func(t *db.Tx) error {
		changed, err := t.Count(`UPDATE action_schedules SET last_at = ?, last_operation = ?, last_result = ? WHERE cluster = ? AND name = ? AND version = ?`,
			db.Micros(a.LastAt), a.LastOperation, a.LastResult, a.Cluster, a.Name, a.Version)
		if err != nil || changed == 0 || n.Kind == "" {
			return err
		}
		return t.Notice(n)
	})
}
