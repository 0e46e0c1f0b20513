package volume

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/volume"
)

const snapshotColumns = `s.id, s.tenant, s.provider, s.volume, s.external_of, s.name, s.cluster, s.node, s.owner, s.size_gb, s.filesystem, s.snapshot, s.state,
	s.keep, s.created_at, s.deleted_at, s.proof, s.error, s.scheduled, s.expires_at, s.price`

func scanSnapshot(row db.Scanner) (s volume.Snapshot, err error) {
	var created, deleted, scheduled, expires int64
	err = row.Scan(&s.ID, &s.Tenant, &s.Provider, &s.Volume, &s.Of, &s.Name, &s.Cluster, &s.Node, &s.Owner, &s.SizeGB, &s.Filesystem, &s.External, &s.State,
		&s.Keep, &created, &deleted, &s.Proof, &s.Error, &scheduled, &expires, &s.Price)
	s.Scheduled, s.ExpiresAt = scheduled > 0, db.FromMicros(expires)
	s.CreatedAt, s.DeletedAt = db.FromMicros(created), db.FromMicros(deleted)
	return s, err
}

func errNoSnapshot(id string) error {
	return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Snapshot %.60q doesn't exist.", id), Hint: "Run muster volume snapshots to see the snapshots."}
}

// Snapshots implements volume.SnapshotStore.
func (s *Store) Snapshots(ctx context.Context, tenant string, f volume.SnapshotFilter) ([]volume.Snapshot, error) {
	where, args := []string{`s.tenant = ?`}, []any{tenant}
	add := func(clause string, values ...any) { where, args = append(where, clause), append(args, values...) }
	if f.Owner != "" {
		add(`s.owner = ?`, f.Owner)
	}
	if f.Volume != "" {
		add(`s.volume = ?`, f.Volume)
	}
	if !f.Gone {
		add(`s.deleted_at = 0`)
	}
	list := []volume.Snapshot{}
	err := s.Each(ctx, func(row db.Scanner) error {
		x, err := scanSnapshot(row)
		list = append(list, x)
		return err
	}, `SELECT `+snapshotColumns+` FROM volume_snapshots s WHERE `+strings.Join(where, ` AND `)+
		` ORDER BY s.created_at DESC, s.id LIMIT ?`, append(args, mostListed)...)
	return list, err
}

// Snapshot implements volume.SnapshotStore.
func (s *Store) Snapshot(ctx context.Context, tenant, id string) (volume.Snapshot, error) {
	x, err := scanSnapshot(s.Row(ctx, `SELECT `+snapshotColumns+` FROM volume_snapshots s WHERE s.id = ? AND s.tenant = ?`, id, tenant))
	if db.IsNoRows(err) {
		return x, errNoSnapshot(id)
	}
	return x, db.Wrapped(err)
}

// CreateSnapshot implements volume.SnapshotStore.
func (s *Store) CreateSnapshot(ctx context.Context, who app.Actor, id string, keep int, now time.Time) (x volume.Snapshot, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		v, err := scan(t.Row(`SELECT `+columns+` FROM volumes v WHERE v.id = ? AND v.tenant = ?`, id, who.Tenant))
		if db.IsNoRows(err) {
			return errNone(id)
		}
		if err != nil {
			return db.Wrapped(err)
		}
		if v.External == "" || v.State != volume.StateAttached && v.State != volume.StateDetached && v.State != volume.StateKept {
			return &app.Error{Code: app.EConflict, Reason: "volume", Message: fmt.Sprintf("Volume %s is %s, so there is nothing to copy.", id, v.State)}
		}
		if making, err := copying(t, id); err != nil || making {
			if err != nil {
				return err
			}
			return &app.Error{Code: app.EConflict, Reason: "snapshot", Message: fmt.Sprintf("A snapshot of volume %s is being created.", id),
				Hint: "Wait until it's ready."}
		}
		if x, err = insert(t, v, volume.Snapshot{Keep: keep, CreatedAt: now}); err != nil {
			return err
		}
		return t.AddAudit(now, who, "snapshot.create", x.ID, nil, map[string]any{"volume": v.ID, "keep": keep})
	})
	return x, err
}

// copying reports whether a snapshot of a volume is being made.
func copying(t *db.Tx, id string) (making bool, err error) {
	err = t.Row(`SELECT EXISTS (SELECT 1 FROM volume_snapshots WHERE volume = ? AND state = 'creating')`, id).Scan(&making)
	return making, db.Wrapped(err)
}

// insert writes down that a snapshot of a volume is wanted.
func insert(t *db.Tx, v volume.Volume, x volume.Snapshot) (volume.Snapshot, error) {
	x.ID, x.Tenant, x.Provider, x.Volume = volume.NewSnapshotID(rand.Text()[:16]), v.Tenant, v.Provider, v.ID
	x.Of, x.Name, x.Cluster, x.Node, x.Owner = v.External, v.Name, v.Cluster, v.Node, v.Owner
	x.SizeGB, x.Filesystem, x.State = v.SizeGB, v.Filesystem, volume.SnapshotCreating
	if x.Cluster == "" {
		x.Cluster = v.From
	}
	err := t.Exec(`INSERT INTO volume_snapshots (id, tenant, provider, volume, external_of, name, cluster, node, owner, size_gb,
			filesystem, state, keep, created_at, scheduled, expires_at, price)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT v.snapshot_price * v.size_gb FROM volumes v WHERE v.id = ?))`,
		x.ID, x.Tenant, x.Provider, x.Volume, x.Of, x.Name, x.Cluster, x.Node,
		x.Owner, x.SizeGB, x.Filesystem, string(x.State), x.Keep, db.Micros(x.CreatedAt), db.Flag(x.Scheduled), db.Micros(x.ExpiresAt), x.Volume)
	if err != nil {
		return x, err
	}
	return x, db.Wrapped(t.Row(`SELECT price FROM volume_snapshots WHERE id = ?`, x.ID).Scan(&x.Price))
}

// DeleteSnapshot implements volume.SnapshotStore.
func (s *Store) DeleteSnapshot(ctx context.Context, who app.Actor, id string, now time.Time) (x volume.Snapshot, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		was, err := scanSnapshot(t.Row(`SELECT `+snapshotColumns+` FROM volume_snapshots s WHERE s.id = ? AND s.tenant = ?`, id, who.Tenant))
		if db.IsNoRows(err) {
			return errNoSnapshot(id)
		}
		if err != nil {
			return db.Wrapped(err)
		}
		var used int
		if err := t.Row(`SELECT count(*) FROM volumes WHERE snapshot = ? AND volume = '' AND deleted_at = 0`, id).Scan(&used); err != nil {
			return db.Wrapped(err)
		}
		if used > 0 {
			return &app.Error{Code: app.EConflict, Reason: "snapshot", Message: fmt.Sprintf("A volume is being created from snapshot %s.", id),
				Hint: "Try again once it's attached."}
		}
		if err := t.Exec(`UPDATE volume_snapshots SET state = 'deleting', error = '' WHERE id = ? AND deleted_at = 0`, id); err != nil {
			return err
		}
		if x, err = scanSnapshot(t.Row(`SELECT `+snapshotColumns+` FROM volume_snapshots s WHERE s.id = ?`, id)); err != nil {
			return db.Wrapped(err)
		}
		return t.AddAudit(now, who, "snapshot.delete", id, map[string]any{"state": was.State, "volume": was.Volume}, nil)
	})
	return x, err
}

// DueSnapshots returns those that are to be created or deleted, of all tenants.
func (s *Store) DueSnapshots(ctx context.Context, limit int) (list []volume.Snapshot, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		x, err := scanSnapshot(row)
		list = append(list, x)
		return err
	}, `SELECT `+snapshotColumns+` FROM volume_snapshots s WHERE s.state IN ('creating', 'deleting')
		ORDER BY s.looks, s.id LIMIT ?`, limit)
	return list, err
}

// SnapshotLooked implements reconcile.SnapshotStore.
func (s *Store) SnapshotLooked(ctx context.Context, id string) error {
	return s.Write(ctx, func(t *db.Tx) error { return t.Exec(`UPDATE volume_snapshots SET looks = looks + 1 WHERE id = ?`, id) })
}

// SnapshotMade writes what came of a creation, and has the oldest ones deleted that are too many: of those by schedule,
// or of the others. False where the snapshot isn't to be created any more.
func (s *Store) SnapshotMade(ctx context.Context, id, external, failure string) (held bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		if failure != "" {
			held, err = copyFailed(t, id, failure)
			return err
		}
		n, err := t.Count(`UPDATE volume_snapshots SET state = 'ready', snapshot = ?, error = '' WHERE id = ? AND state = 'creating'`, external, id)
		if held = n > 0; err != nil || !held {
			return err
		}
		if err := beginCopy(t, id); err != nil {
			return err
		}
		return t.Exec(`UPDATE volume_snapshots SET state = 'deleting' WHERE state = 'ready'
			AND volume = (SELECT volume FROM volume_snapshots WHERE id = ?) AND scheduled = (SELECT scheduled FROM volume_snapshots WHERE id = ?)
			AND NOT EXISTS (SELECT 1 FROM volumes v WHERE v.snapshot = volume_snapshots.id AND v.volume = '' AND v.deleted_at = 0)
			AND 0 < (SELECT keep FROM volume_snapshots WHERE id = ?)
			AND (SELECT count(*) FROM volume_snapshots n WHERE n.volume = volume_snapshots.volume AND n.state = 'ready'
				AND n.scheduled = volume_snapshots.scheduled
				AND (n.created_at > volume_snapshots.created_at OR n.created_at = volume_snapshots.created_at AND n.id > volume_snapshots.id))
				>= (SELECT keep FROM volume_snapshots WHERE id = ?)`, id, id, id, id)
	})
	return held && err == nil, err
}

// beginCopy begins a line of what is paid for: of the snapshot's owner, and of no cluster, since it outlives that. It counts from the request on.
func beginCopy(t *db.Tx, id string) error {
	return t.Exec(`INSERT INTO resources (intent, kind, id, provider, tenant, cluster, node, zone, price, created_at, deleted_at, owner, template, hardware, cpu)
		SELECT s.id, 'snapshot', s.snapshot, s.provider, s.tenant, '', '', '', s.price, s.created_at, 0, s.owner, '', '', 0
		FROM volume_snapshots s WHERE s.id = ? ON CONFLICT DO NOTHING`, id)
}

// SnapshotGone ends a snapshot that is proven to be gone, or keeps why it couldn't be deleted.
func (s *Store) SnapshotGone(ctx context.Context, id string, now time.Time, proof, failure string) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if failure != "" {
			return t.Exec(`UPDATE volume_snapshots SET error = ?, looks = looks + 1 WHERE id = ? AND state = 'deleting'`, failure, id)
		}
		if err := t.Exec(`UPDATE resources SET deleted_at = ? WHERE kind = 'snapshot' AND intent = ? AND deleted_at = 0`, db.Micros(now), id); err != nil {
			return err
		}
		return t.Exec(`UPDATE volume_snapshots SET state = 'deleted', deleted_at = ?, proof = ?, error = '' WHERE id = ? AND state = 'deleting'`,
			db.Micros(now), proof, id)
	})
}

// FromSnapshot writes down a volume of a node of a new cluster that is made of a snapshot. EConflict where that isn't ready any more.
func FromSnapshot(t *db.Tx, at time.Time, tenant string, c volume.Claim, to Place) error {
	x, err := scanSnapshot(t.Row(`SELECT `+snapshotColumns+` FROM volume_snapshots s WHERE s.id = ? AND s.tenant = ?`, c.Volume, tenant))
	if db.IsNoRows(err) {
		return errNoSnapshot(c.Volume)
	}
	if err != nil {
		return db.Wrapped(err)
	}
	if x.State != volume.SnapshotReady || x.Provider != to.Provider {
		return &app.Error{Code: app.EConflict, Reason: "volume", Field: "volumes",
			Message: fmt.Sprintf("Snapshot %s is %s at provider %s, so it can't be used.", x.ID, x.State, x.Provider),
			Hint:    "Choose a snapshot that is ready at the cluster's provider: run muster volume snapshots."}
	}
	w := volume.Wanted{Tenant: tenant, Provider: to.Provider, Cluster: to.Cluster, Node: to.Node, Owner: to.Owner, Now: at,
		CostPerGBHour: c.Price / float64(max(c.New.SizeGB, 1)), SnapshotPerGBHour: x.Price / float64(max(x.SizeGB, 1))}
	v := *c.New
	v.Filesystem = x.Filesystem
	id, err := plan(t, w, v)
	if err != nil {
		return err
	}
	return t.Exec(`UPDATE volumes SET snapshot = ? WHERE id = ?`, x.ID, id)
}
