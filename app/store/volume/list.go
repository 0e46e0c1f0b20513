package volume

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/template"
	"muster/app/volume"
)

// mostListed bounds a list.
const mostListed = 10_000

func (s *Store) Volumes(ctx context.Context, tenant string, f volume.Filter) ([]volume.Volume, error) {
	where, args := []string{`v.tenant = ?`}, []any{tenant}
	add := func(clause string, values ...any) { where, args = append(where, clause), append(args, values...) }
	if f.Owner != "" {
		add(`v.owner = ?`, f.Owner)
	}
	if f.Cluster != "" {
		add(`(v.cluster = ? OR v.kept_cluster = ?)`, f.Cluster, f.Cluster)
	}
	if f.Kept {
		add(`v.cluster = '' AND v.deleted_at = 0`)
	}
	if !f.Gone {
		add(`v.deleted_at = 0`)
	}
	list := []volume.Volume{}
	err := s.Each(ctx, func(row db.Scanner) error {
		v, err := scan(row)
		list = append(list, v)
		return err
	}, `SELECT `+columns+` FROM volumes v WHERE `+strings.Join(where, ` AND `)+` ORDER BY v.created_at DESC, v.id LIMIT ?`, append(args, mostListed)...)
	return list, err
}

func (s *Store) Volume(ctx context.Context, tenant, id string) (volume.Volume, error) {
	v, err := scan(s.Row(ctx, `SELECT `+columns+` FROM volumes v WHERE v.id = ? AND v.tenant = ?`, id, tenant))
	if db.IsNoRows(err) {
		return v, errNone(id)
	}
	return v, db.Wrapped(err)
}

// change changes a volume that is in some states, and writes that down. EConflict says what it is instead.
func (s *Store) change(ctx context.Context, who app.Actor, id, act, states, set string, now time.Time, args ...any) (v volume.Volume, err error) {
	return s.changeAnd(ctx, who, id, act, states, set, now, func(*db.Tx) error { return nil }, args...)
}

// changeAnd also does something else in the same transaction.
func (s *Store) changeAnd(ctx context.Context, who app.Actor, id, act, states, set string, now time.Time, also func(*db.Tx) error,
	args ...any) (v volume.Volume, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		was, err := scan(t.Row(`SELECT `+columns+` FROM volumes v WHERE v.id = ? AND v.tenant = ?`, id, who.Tenant))
		if db.IsNoRows(err) {
			return errNone(id)
		}
		if err != nil {
			return db.Wrapped(err)
		}
		n, err := t.Count(`UPDATE volumes SET `+set+` WHERE id = ? AND state IN (`+states+`)`, append(args, id)...)
		if err != nil {
			return err
		}
		if n == 0 {
			return errState(was)
		}
		if v, err = scan(t.Row(`SELECT `+columns+` FROM volumes v WHERE v.id = ?`, id)); err != nil {
			return db.Wrapped(err)
		}
		if err := t.Exec(`UPDATE reservations SET until_at = ? WHERE cluster = ? AND ended_at = 0`, db.Micros(v.ExpiresAt), id); err != nil {
			return err
		}
		if err := also(t); err != nil {
			return err
		}
		return t.AddAudit(now, who, act, id, detail(was), detail(v))
	})
	return v, err
}

func errState(v volume.Volume) error {
	e := &app.Error{Code: app.EConflict, Reason: "volume", Message: fmt.Sprintf("Volume %s is %s.", v.ID, v.State)}
	switch {
	case v.Cluster != "":
		e.Message = fmt.Sprintf("Volume %s belongs to node %s of cluster %s.", v.ID, v.Node, v.Cluster)
		e.Hint = "It can be deleted once it's kept: delete the cluster or node, with its volumes kept."
	case v.State == volume.StateKept:
		e.Hint = "Only a volume of a node can be forgotten. Delete this one instead: muster volume delete " + v.ID + "."
	}
	return e
}

func detail(v volume.Volume) map[string]any {
	d := map[string]any{"state": v.State, "on_delete": v.OnDelete, "snapshots": v.Snapshots.String()}
	if !v.ExpiresAt.IsZero() {
		d["expires_at"] = v.ExpiresAt
	}
	return d
}

func (s *Store) DeleteVolume(ctx context.Context, who app.Actor, id string, now time.Time) (volume.Volume, error) {
	return s.change(ctx, who, id, "volume.delete", `'kept', 'deleting'`, `state = 'deleting', error = ''`, now)
}

func (s *Store) ExtendVolume(ctx context.Context, who app.Actor, id string, until, now time.Time) (volume.Volume, error) {
	return s.change(ctx, who, id, "volume.extend", `'kept'`, `expires_at = ?, expiry_notified = 0`, now, db.Micros(until))
}

func (s *Store) ForgetVolume(ctx context.Context, who app.Actor, id string, now time.Time) (v volume.Volume, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		was, err := scan(t.Row(`SELECT `+columns+` FROM volumes v WHERE v.id = ? AND v.tenant = ?`, id, who.Tenant))
		if db.IsNoRows(err) {
			return errNone(id)
		}
		if err != nil {
			return db.Wrapped(err)
		}
		if was.Cluster == "" || was.State == volume.StateDeleted {
			return errState(was)
		}
		if was.State == volume.StateAttached {
			return &app.Error{Code: app.EConflict, Reason: "volume",
				Message: fmt.Sprintf("Volume %s is attached to node %s of cluster %s.", id, was.Node, was.Cluster),
				Hint:    "Only a volume that a step didn't find at its provider can be forgotten. Repair the cluster first if it's lost."}
		}
		if err := gone(t, now, id, "Forgotten by "+who.Name()+"."); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE volumes SET state = 'forgotten' WHERE id = ?`, id); err != nil {
			return err
		}
		if v, err = scan(t.Row(`SELECT `+columns+` FROM volumes v WHERE v.id = ?`, id)); err != nil {
			return db.Wrapped(err)
		}
		return t.AddAudit(now, who, "volume.forget", id, detail(was), detail(v))
	})
	return v, err
}

func (s *Store) ChooseVolumes(ctx context.Context, who app.Actor, cluster string, c template.VolumeChoice, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := Choose(t, who.Tenant, cluster, c); err != nil {
			return err
		}
		return t.AddAudit(now, who, "volume.choose", cluster, nil, string(c))
	})
}

// Choose says whether the volumes of a cluster are kept or deleted with their nodes, in the transaction of what needs it.
func Choose(t *db.Tx, tenant, cluster string, c template.VolumeChoice) error {
	return t.Exec(`UPDATE volumes SET on_delete = ? WHERE cluster = ? AND cluster <> '' AND tenant = ? AND deleted_at = 0 AND on_delete <> ?`,
		string(c), cluster, tenant, string(c))
}
