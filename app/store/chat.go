package store

import (
	"context"
	"time"

	"muster/app"
)

// ChatOnce implements app.ChatStore.
func (s *Store) ChatOnce(ctx context.Context, keys []string, now, before time.Time) (first bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		first = true
		if err := t.exec(`DELETE FROM chat_once WHERE at < ?`, micros(before)); err != nil {
			return err
		}
		for _, k := range keys {
			n, err := t.count(`INSERT INTO chat_once (key, at) VALUES (?, ?) ON CONFLICT (key) DO NOTHING`, k, micros(now))
			if err != nil {
				return err
			}
			first = first && n == 1
		}
		return nil
	})
	return first, err
}

// SaveCard implements app.ChatStore.
func (s *Store) SaveCard(ctx context.Context, c app.ChatCard, before time.Time) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.exec(`DELETE FROM chat_cards WHERE at < ?`, micros(before)); err != nil {
			return err
		}
		return t.exec(`INSERT INTO chat_cards (kind, team, tenant, cluster, operation, channel, person, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (kind, operation, channel) DO NOTHING`, c.Kind, c.Team, c.Tenant, c.Cluster, c.Operation, c.Channel, c.Person, micros(c.At))
	})
}

// Cards implements app.ChatStore.
func (s *Store) Cards(ctx context.Context, kind string, limit int) ([]app.ChatCard, error) {
	var list []app.ChatCard
	err := s.each(ctx, func(row scanner) error {
		var c app.ChatCard
		var at, shown, held int64
		err := row.Scan(&c.ID, &c.Kind, &c.Team, &c.Tenant, &c.Cluster, &c.Operation, &c.Channel, &c.Person, &c.Message, &c.Shown, &shown, &c.Thread, &c.Told, &at,
			&c.Status, &c.Done, &c.Total, &held)
		c.At, c.ShownAt, c.HeldUntil = fromMicros(at), fromMicros(shown), fromMicros(held)
		list = append(list, c)
		return err
	}, `SELECT c.id, c.kind, c.team, c.tenant, c.cluster, c.operation, c.channel, c.person, c.message, c.shown, c.shown_at, c.thread, c.told, c.at,
			o.status, o.done, o.total, o.held_until
		FROM chat_cards c JOIN operations o ON o.id = c.operation AND o.tenant = c.tenant
		WHERE c.kind = ? ORDER BY c.id LIMIT ?`, kind, limit)
	return list, err
}

// ShownCard implements app.ChatStore.
func (s *Store) ShownCard(ctx context.Context, c app.ChatCard) error {
	return s.write(ctx, func(t *tx) error {
		return t.exec(`UPDATE chat_cards SET channel = ?, message = ?, shown = ?, shown_at = ?, thread = ?, told = ? WHERE id = ?`,
			c.Channel, c.Message, c.Shown, micros(c.ShownAt), c.Thread, c.Told, c.ID)
	})
}

// DropCard implements app.ChatStore.
func (s *Store) DropCard(ctx context.Context, id int64) error {
	return s.write(ctx, func(t *tx) error { return t.exec(`DELETE FROM chat_cards WHERE id = ?`, id) })
}
