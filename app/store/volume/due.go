package volume

import (
	"context"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/volume"
)

func (s *Store) DueVolumes(ctx context.Context, now time.Time, limit int) (list []volume.Volume, err error) {
	for _, q := range []struct {
		where string
		args  []any
	}{{`v.state = 'deleting'`, nil}, {`v.state = 'kept' AND v.expires_at > 0 AND v.expires_at <= ?`, []any{db.Micros(now)}}} {
		err := s.Each(ctx, func(row db.Scanner) error {
			v, err := scan(row)
			list = append(list, v)
			return err
		}, `SELECT `+columns+` FROM volumes v WHERE `+q.where+` ORDER BY CASE WHEN v.error = '' THEN 0 ELSE 1 END, v.id LIMIT ?`, append(q.args, limit)...)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s *Store) ExpireVolume(ctx context.Context, id string, now time.Time) (expired bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		var tenant string
		err := t.Row(`UPDATE volumes SET state = 'deleting' WHERE id = ? AND state = 'kept' AND expires_at > 0 AND expires_at <= ? RETURNING tenant`, id,
			db.Micros(now)).Scan(&tenant)
		if db.IsNoRows(err) {
			return nil
		}
		if err != nil {
			return db.Wrapped(err)
		}
		expired = true
		return t.Audit(now, tenant, app.Expirer, "volume.expire", id, "")
	})
	return expired, err
}

func (s *Store) VolumeGone(ctx context.Context, id string, now time.Time, proof, failure string) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if failure != "" {
			return t.Exec(`UPDATE volumes SET error = ? WHERE id = ? AND state = 'deleting'`, failure, id)
		}
		var tenant string
		err := t.Row(`SELECT tenant FROM volumes WHERE id = ? AND state = 'deleting'`, id).Scan(&tenant)
		if db.IsNoRows(err) {
			return nil
		}
		if err != nil {
			return db.Wrapped(err)
		}
		if err := gone(t, now, id, proof); err != nil {
			return err
		}
		return t.Audit(now, tenant, "muster", "volume.deleted", id, proof)
	})
}

func (s *Store) VolumeIntents(ctx context.Context, provider string, ids []string) (map[string]volume.Volume, error) {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	known := map[string]volume.Volume{}
	add := func(row db.Scanner) error {
		v, err := scan(row)
		if wanted[v.ID] {
			known[v.ID] = v
		}
		return err
	}
	if err := s.Each(ctx, add, `SELECT `+columns+` FROM volumes v WHERE v.provider = ? AND v.deleted_at = 0`, provider); err != nil {
		return nil, err
	}
	// Those that are listed although they ended are few.
	for id := range wanted {
		if _, ok := known[id]; ok {
			continue
		}
		if err := s.Each(ctx, add, `SELECT `+columns+` FROM volumes v WHERE v.id = ? AND v.provider = ?`, id, provider); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// mostAtOnce is how many ids one query names.
const mostAtOnce = 200

// SnapshotIntents returns those of the ids that are snapshots of a provider's name, whatever their state.
func (s *Store) SnapshotIntents(ctx context.Context, provider string, ids []string) (map[string]volume.Snapshot, error) {
	known := map[string]volume.Snapshot{}
	for some := range slices.Chunk(ids, mostAtOnce) {
		args := []any{provider}
		for _, id := range some {
			args = append(args, id)
		}
		err := s.Each(ctx, func(row db.Scanner) error {
			x, err := scanSnapshot(row)
			known[x.ID] = x
			return err
		}, `SELECT `+snapshotColumns+` FROM volume_snapshots s WHERE s.provider = ? AND s.id IN (?`+strings.Repeat(`, ?`, len(some)-1)+`)`, args...)
		if err != nil {
			return nil, err
		}
	}
	return known, nil
}
