package window

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/window"
)

// Store keeps maintenance windows.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// mostWaiting is how many requests of a cluster are listed.
const mostWaiting = 20

// Windows implements window.Store.
func (s *Store) Windows(ctx context.Context, tenant, cluster string) (k window.Kept, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var of string
		set, err := scan(row, &of)
		if of == "" {
			k.Tenant = set
		} else {
			k.Own = set
		}
		return err
	}, `SELECT cluster, settings, changed_at, changed_by FROM maintenance_windows WHERE tenant = ? AND cluster IN ('', ?)`, tenant, cluster)
	if err != nil || cluster == "" {
		return k, err
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var w window.Waiting
		var opening []byte
		if err := row.Scan(&w.Request, &w.Kind, &opening); err != nil {
			return err
		}
		err := json.Unmarshal(opening, &w.Window)
		k.Waits = append(k.Waits, w)
		return err
	}, `SELECT id, kind, maintenance_window FROM requests WHERE tenant = ? AND cluster = ? AND status = 'scheduled' ORDER BY id LIMIT ?`, tenant, cluster, mostWaiting)
	return k, err
}

func scan(row db.Scanner, of *string) (*window.Set, error) {
	var text []byte
	var at int64
	set := &window.Set{}
	if err := row.Scan(of, &text, &at, &set.ChangedBy); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &set.Settings); err != nil {
		return nil, fmt.Errorf("store: maintenance windows: %w", err)
	}
	set.ChangedAt = db.FromMicros(at)
	return set, nil
}

// SetWindows implements window.Store.
func (s *Store) SetWindows(ctx context.Context, who app.Actor, of string, is *window.Settings, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if of != "" {
			if _, err := cluster.Live(t, who.Tenant, of); err != nil {
				return err
			}
		}
		var cl string
		had, err := scan(t.Row(`SELECT cluster, settings, changed_at, changed_by FROM maintenance_windows WHERE tenant = ? AND cluster = ?`, who.Tenant, of), &cl)
		if err != nil && !db.IsNoRows(err) {
			return db.Wrapped(err)
		}
		var before, after any
		if had != nil {
			before = had.Settings
		}
		switch {
		case is == nil && had == nil, is != nil && had != nil && is.Same(had.Settings):
			return nil
		case is == nil:
			err = t.Exec(`DELETE FROM maintenance_windows WHERE tenant = ? AND cluster = ?`, who.Tenant, of)
		default:
			after = *is
			err = t.Exec(`INSERT INTO maintenance_windows (tenant, cluster, settings, changed_at, changed_by) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (tenant, cluster) DO UPDATE SET settings = excluded.settings, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
				who.Tenant, of, db.JSON(*is), db.Micros(now), who.Name())
		}
		if err != nil {
			return err
		}
		if err := LookAgain(t, now, who.Tenant, of); err != nil {
			return err
		}
		return t.AddAudit(now, who, "maintenance.set", Object(of), before, after)
	})
}

// Object names windows in the audit log: those of a cluster by the cluster.
func Object(cluster string) string {
	if cluster == "" {
		return "maintenance"
	}
	return cluster
}

// LookAgain has what waits for windows, of a tenant or of one of its clusters, looked at at once.
func LookAgain(t *db.Tx, now time.Time, tenant, cluster string) error {
	if cluster == "" {
		return t.Exec(`UPDATE requests SET due_at = ? WHERE tenant = ? AND status = 'scheduled'`, db.Micros(now), tenant)
	}
	return t.Exec(`UPDATE requests SET due_at = ? WHERE tenant = ? AND cluster = ? AND status = 'scheduled'`, db.Micros(now), tenant, cluster)
}

// Forget forgets the windows of a cluster that is gone.
func Forget(t *db.Tx, tenant, cluster string) error {
	return t.Exec(`DELETE FROM maintenance_windows WHERE tenant = ? AND cluster = ?`, tenant, cluster)
}

// DropOf forgets all windows of a tenant that is deleted.
func DropOf(t *db.Tx, tenant string) error {
	return t.Exec(`DELETE FROM maintenance_windows WHERE tenant = ?`, tenant)
}

// Copy sets the windows of a tenant for a new one.
func Copy(t *db.Tx, who app.Actor, from, to string, at time.Time) error {
	return t.Exec(`INSERT INTO maintenance_windows (tenant, cluster, settings, changed_at, changed_by)
		SELECT ?, '', settings, ?, ? FROM maintenance_windows WHERE tenant = ? AND cluster = ''`, to, db.Micros(at), who.Name(), from)
}
