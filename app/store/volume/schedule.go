package volume

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/template"
	"muster/app/volume"
)

// SetSnapshots implements volume.SnapshotStore.
func (s *Store) SetSnapshots(ctx context.Context, who app.Actor, id string, w template.Snapshots, now time.Time) (volume.Volume, error) {
	next := int64(0)
	if at := w.After(now); !at.IsZero() {
		next = db.Micros(at)
	}
	const set = `snapshot_every = ?, snapshot_keep = ?, snapshot_keep_for = ?, snapshot_at = ?, unchanged = 0`
	// The new rule also holds for earlier scheduled snapshots; without a schedule they stay as they are, and the
	// newest doesn't expire.
	kept := func(t *db.Tx) error {
		switch d := w.Until(time.Time{}).Sub(time.Time{}); {
		case w.Every == "": // nothing replaces the newest one any more
			return t.Exec(`UPDATE volume_snapshots SET expires_at = 0 WHERE id = (SELECT n.id FROM volume_snapshots n
				WHERE n.volume = ? AND n.scheduled = 1 AND n.state = 'ready' ORDER BY n.created_at DESC, n.id DESC LIMIT 1)`, id)
		case w.KeepFor == "":
			return t.Exec(`UPDATE volume_snapshots SET expires_at = 0 WHERE volume = ? AND scheduled = 1`, id)
		default:
			return t.Exec(`UPDATE volume_snapshots SET expires_at = created_at + CAST(? AS BIGINT) WHERE volume = ? AND scheduled = 1`,
				d.Microseconds(), id)
		}
	}
	return s.changeAnd(ctx, who, id, "volume.snapshots", `'planned', 'attached', 'detached', 'kept'`, set, now, kept,
		w.Every, w.Keep, w.KeepFor, next)
}

// inUse writes down that a machine has a volume, which its next snapshot is made of. Where that was overdue while no machine had it, it waits for
// what is written from now on.
func inUse(t *db.Tx, at time.Time, id string) error {
	var w template.Snapshots
	var next, unchanged int64
	err := t.Row(`SELECT snapshot_every, snapshot_keep, snapshot_keep_for, snapshot_at, unchanged FROM volumes WHERE id = ?`, id).
		Scan(&w.Every, &w.Keep, &w.KeepFor, &next, &unchanged)
	if err != nil || w.Every == "" {
		return db.Wrapped(err)
	}
	if next > 0 && unchanged == 0 {
		return nil
	}
	if next <= db.Micros(at) {
		next = db.Micros(w.After(at))
	}
	return t.Exec(`UPDATE volumes SET snapshot_at = ?, unchanged = 0 WHERE id = ?`, next, id)
}

const (
	toCopy = `v.snapshot_at > 0 AND v.snapshot_at <= ? AND v.unchanged = 0 AND v.deleted_at = 0 AND v.volume <> ''
		AND v.state IN ('attached', 'detached', 'kept')`
	// expired are snapshots whose time is over, but for the newest of a volume that isn't used: no other would follow it.
	expired = `state = 'ready' AND expires_at > 0 AND expires_at <= ?
		AND NOT EXISTS (SELECT 1 FROM volumes v WHERE v.snapshot = volume_snapshots.id AND v.volume = '' AND v.deleted_at = 0)
		AND (EXISTS (SELECT 1 FROM volume_snapshots n WHERE n.volume = volume_snapshots.volume AND n.scheduled = 1 AND n.state = 'ready'
			AND n.created_at > volume_snapshots.created_at)
		OR NOT EXISTS (SELECT 1 FROM volumes v WHERE v.id = volume_snapshots.volume AND v.unchanged = 1 AND v.deleted_at = 0))`
)

// ScheduleSnapshots writes down the snapshots that are due by schedule, and has those deleted whose time is over. Each is made once, however many
// servers ask.
func (s *Store) ScheduleSnapshots(ctx context.Context, now time.Time, limit int) error {
	var due bool
	err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM volumes v WHERE `+toCopy+`) OR EXISTS (SELECT 1 FROM volume_snapshots WHERE `+expired+`)`,
		db.Micros(now), db.Micros(now)).Scan(&due)
	if err != nil || !due {
		return db.Wrapped(err)
	}
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`UPDATE volume_snapshots SET state = 'deleting' WHERE `+expired, db.Micros(now)); err != nil {
			return err
		}
		list, asleep := []volume.Volume{}, map[string]bool{}
		err := t.Each(func(row db.Scanner) error {
			var sleeps int64
			v, err := scan(row, &sleeps)
			list, asleep[v.ID] = append(list, v), sleeps > 0
			return err
		}, `SELECT `+columns+`, CASE WHEN EXISTS (SELECT 1 FROM clusters c WHERE c.id = v.cluster AND c.status = 'asleep' AND NOT EXISTS (
				SELECT 1 FROM operations o WHERE o.cluster = c.id AND o.status IN ('waiting', 'running', 'paused', 'cancelling'))) THEN 1 ELSE 0 END
			FROM volumes v WHERE `+toCopy+` ORDER BY v.snapshot_at, v.id LIMIT ?`, db.Micros(now), limit)
		if err != nil {
			return err
		}
		for _, v := range list {
			if err := copyDue(t, now, v, v.State != volume.StateAttached || asleep[v.ID]); err != nil {
				return err
			}
		}
		return nil
	})
}

// copyDue writes down one snapshot by schedule. While one before is still being made, its turn is left out.
func copyDue(t *db.Tx, now time.Time, v volume.Volume, idle bool) error {
	next := v.Snapshots.After(v.NextSnapshot)
	if !next.After(now) {
		next = v.Snapshots.After(now)
	}
	making, err := copying(t, v.ID)
	if err != nil {
		return err
	}
	n, err := t.Count(`UPDATE volumes SET snapshot_at = ?, unchanged = ? WHERE id = ? AND snapshot_at = ? AND unchanged = 0`,
		db.Micros(next), db.Flag(idle && !making), v.ID, db.Micros(v.NextSnapshot))
	if err != nil || n == 0 || making {
		return err
	}
	x, err := insert(t, v, volume.Snapshot{Keep: v.Snapshots.Keep, CreatedAt: now, Scheduled: true, ExpiresAt: v.Snapshots.Until(now)})
	if err != nil {
		return err
	}
	return t.Audit(now, v.Tenant, "muster", "snapshot.create", x.ID, "volume "+v.ID+", by schedule")
}

// copyFailed keeps why a snapshot couldn't be made, and notifies its owner once.
func copyFailed(t *db.Tx, id, failure string) (held bool, err error) {
	x, err := scanSnapshot(t.Row(`SELECT `+snapshotColumns+` FROM volume_snapshots s WHERE s.id = ? AND s.state = 'creating'`, id))
	if db.IsNoRows(err) {
		return false, nil
	}
	if err != nil {
		return false, db.Wrapped(err)
	}
	if err := t.Exec(`UPDATE volume_snapshots SET error = ?, looks = looks + 1 WHERE id = ?`, failure, id); err != nil || x.Error != "" || !x.Scheduled {
		return true, err
	}
	return true, t.Notice(app.Notice{At: x.CreatedAt, Tenant: x.Tenant, Kind: app.NoticeFailed, Cluster: x.Cluster, Users: []string{x.Owner},
		Title: fmt.Sprintf("A scheduled snapshot of volume %s couldn't be created.", x.Name), About: volumes, Act: volumes, ActionName: "View volumes",
		Text: fmt.Sprintf("%s Muster tries again until it succeeds or %s is deleted.", failure, x.ID)})
}

// volumes is where notices of volumes lead to.
var volumes = app.Subject{Kind: app.SubjectVolumes}

// NotifyExpiring notifies the owners of kept volumes that expire soon, once.
func (s *Store) NotifyExpiring(ctx context.Context, now time.Time, limit int) error {
	var due []volume.Volume
	err := s.Each(ctx, func(row db.Scanner) error {
		v, err := scan(row)
		due = append(due, v)
		return err
	}, `SELECT `+columns+` FROM volumes v WHERE v.state = 'kept' AND v.expires_at > 0 AND v.expires_at <= ? AND v.expiry_notified = 0
		ORDER BY v.expires_at, v.id LIMIT ?`, db.Micros(now.Add(volume.ExpiryNotice)), limit)
	if err != nil || len(due) == 0 {
		return err
	}
	return s.Write(ctx, func(t *db.Tx) error {
		for _, v := range due {
			n, err := t.Count(`UPDATE volumes SET expiry_notified = 1 WHERE id = ? AND state = 'kept' AND expiry_notified = 0 AND expires_at = ?`,
				v.ID, db.Micros(v.ExpiresAt))
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			if err := t.Notice(expiring(v, now)); err != nil {
				return err
			}
		}
		return nil
	})
}

func expiring(v volume.Volume, now time.Time) app.Notice {
	return app.Notice{At: now, Tenant: v.Tenant, Kind: app.NoticeLease, Users: []string{v.Owner}, About: volumes, Act: volumes,
		ActionName: "Extend volume", Title: fmt.Sprintf("Volume %s of %s expires on %s.", v.Name, v.From, v.ExpiresAt.UTC().Format(time.DateOnly)),
		Text: fmt.Sprintf("All data on %s (%d GB) is deleted then. To keep it, extend it on the page Volumes, or run muster volume extend %s 30d.",
			v.ID, v.SizeGB, v.ID)}
}
