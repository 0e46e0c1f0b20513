package resource

import (
	"context"
	"slices"
	"strings"
	"time"

	"muster/app/resource"
	"muster/app/store/db"
)

// needed tells of a content b whether a version has it, or a cluster that is not gone may need it.
const needed = `(EXISTS (SELECT 1 FROM resource_versions v WHERE v.tenant = b.tenant AND v.hash = b.hash AND v.deleted_at = 0)
	OR EXISTS (SELECT 1 FROM resource_uses u JOIN clusters c ON c.id = u.cluster WHERE u.tenant = b.tenant AND u.hash = b.hash AND c.deleted_at = 0))`

func (s *Store) IdleBlobs(ctx context.Context, since, now time.Time, limit int) (going []resource.GoingBlob, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		going = nil
		if err := t.Exec(`DELETE FROM resource_uses WHERE cluster IN (SELECT id FROM clusters WHERE deleted_at > 0)`); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE resource_blobs AS b SET idle_at = 0 WHERE b.idle_at > 0 AND b.state <> 'going' AND ` + needed); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE resource_blobs AS b SET state = 'going', at = ? WHERE b.idle_at > 0 AND b.idle_at <= ? AND b.at <= ? AND b.state <> 'going' AND NOT `+needed,
			db.Micros(now), db.Micros(since), db.Micros(since)); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE resource_blobs AS b SET idle_at = ? WHERE b.idle_at = 0 AND b.state <> 'going' AND NOT `+needed, db.Micros(now)); err != nil {
			return err
		}
		// Those that an earlier sweep marked and did not get to remove are among them.
		return t.Each(func(row db.Scanner) error {
			var g resource.GoingBlob
			err := row.Scan(&g.Tenant, &g.Hash, &g.Name)
			going = append(going, g)
			return err
		}, `SELECT tenant, hash, name FROM resource_blobs WHERE state = 'going' ORDER BY tenant, hash LIMIT ?`, limit)
	})
	return going, err
}

func (s *Store) BlobGone(ctx context.Context, b resource.GoingBlob) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`DELETE FROM resource_blobs WHERE tenant = ? AND hash = ? AND name = ? AND state = 'going'`, b.Tenant, b.Hash, b.Name)
	})
}

func (s *Store) StrayBlobs(ctx context.Context, names []string, since, now time.Time) (strays []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = n
	}
	in := `(?` + strings.Repeat(", ?", len(names)-1) + `)`
	err = s.Write(ctx, func(t *db.Tx) error {
		strays = nil
		var known []string
		if err := t.Each(db.Texts(&known), `SELECT name FROM resource_blobs WHERE name IN `+in, args...); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM stray_blobs WHERE name IN (SELECT name FROM resource_blobs)`); err != nil {
			return err
		}
		for _, n := range names {
			if slices.Contains(known, n) {
				continue
			}
			if err := t.Exec(`INSERT INTO stray_blobs (name, seen_at) VALUES (?, ?) ON CONFLICT DO NOTHING`, n, db.Micros(now)); err != nil {
				return err
			}
		}
		if err := t.Each(db.Texts(&strays), `SELECT name FROM stray_blobs WHERE seen_at <= ? AND name IN `+in, append([]any{db.Micros(since)}, args...)...); err != nil {
			return err
		}
		for _, n := range strays {
			if err := t.Exec(`DELETE FROM stray_blobs WHERE name = ?`, n); err != nil {
				return err
			}
		}
		return nil
	})
	return strays, err
}
