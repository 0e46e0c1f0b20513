package place

import (
	"context"
	"time"

	"muster/app/layout"
	"muster/app/store/db"
)

// fresh is how much newer a sight of stock has to be to be written: of a thousand machines few are.
const fresh = time.Minute

// longestMessage bounds what is kept of what a provider said, in bytes.
const longestMessage = 500

// NoteFull writes that a place had no capacity.
func NoteFull(t *db.Tx, tenant string, p layout.Place, message string, at time.Time) error {
	if len(message) > longestMessage {
		message = message[:longestMessage]
	}
	return t.Exec(`INSERT INTO place_stock (tenant, provider, zone, hardware, full_at, message, created_at) VALUES (?, ?, ?, ?, ?, ?, 0)
		ON CONFLICT (tenant, provider, zone, hardware) DO UPDATE SET full_at = excluded.full_at, message = excluded.message`,
		tenant, p.Provider, p.Zone, p.Hardware, db.Micros(at), message)
}

// NoteCreated writes that a place had a machine.
func NoteCreated(t *db.Tx, tenant string, p layout.Place, at time.Time) error {
	return t.Exec(`INSERT INTO place_stock (tenant, provider, zone, hardware, full_at, message, created_at) VALUES (?, ?, ?, ?, 0, '', ?)
		ON CONFLICT (tenant, provider, zone, hardware) DO UPDATE SET created_at = excluded.created_at WHERE place_stock.created_at < ?`,
		tenant, p.Provider, p.Zone, p.Hardware, db.Micros(at), db.Micros(at.Add(-fresh)))
}

// Stock implements place.Store.
func (s *Store) Stock(ctx context.Context, tenant string, since time.Time) (map[layout.Place]layout.Stock, error) {
	list := map[layout.Place]layout.Stock{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var p layout.Place
		var full, created int64
		var k layout.Stock
		if err := row.Scan(&p.Provider, &p.Zone, &p.Hardware, &full, &k.Full, &created); err != nil {
			return err
		}
		if k.FullAt = db.FromMicros(full); k.FullAt.Before(since) {
			k.FullAt, k.Full = time.Time{}, ""
		}
		if k.CreatedAt = db.FromMicros(created); k.CreatedAt.Before(since) {
			k.CreatedAt = time.Time{}
		}
		list[p] = k
		return nil
	}, `SELECT provider, zone, hardware, full_at, message, created_at FROM place_stock WHERE tenant = ? AND (full_at >= ? OR created_at >= ?)`,
		tenant, db.Micros(since), db.Micros(since))
	return list, err
}
