package chat

import (
	"context"
	"time"

	"muster/app/chat"
	appcluster "muster/app/cluster"
	"muster/app/store/db"
)

func (s *Store) ChatOnce(ctx context.Context, keys []string, now, before time.Time) (first bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		first = true
		if err := t.Exec(`DELETE FROM chat_event_ids WHERE at < ?`, db.Micros(before)); err != nil {
			return err
		}
		for _, k := range keys {
			n, err := t.Count(`INSERT INTO chat_event_ids (key, at) VALUES (?, ?) ON CONFLICT (key) DO NOTHING`, k, db.Micros(now))
			if err != nil {
				return err
			}
			first = first && n == 1
		}
		return nil
	})
	return first, err
}

func (s *Store) SaveCard(ctx context.Context, c chat.Card, before time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM chat_cards WHERE at < ?`, db.Micros(before)); err != nil {
			return err
		}
		return t.Exec(`INSERT INTO chat_cards (kind, team, tenant, cluster, operation, channel, person, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (kind, operation, channel) DO NOTHING`, c.Kind, c.Team, c.Tenant, c.Cluster, c.Operation, c.Channel, c.Person, db.Micros(c.At))
	})
}

func (s *Store) Cards(ctx context.Context, kind string, limit int) ([]chat.Card, error) {
	var list []chat.Card
	err := s.Each(ctx, func(row db.Scanner) error {
		var c chat.Card
		var at, shown, held int64
		err := row.Scan(&c.ID, &c.Kind, &c.Team, &c.Tenant, &c.Cluster, &c.Operation, &c.Channel, &c.Person, &c.Message, &c.Shown, &shown, &c.Thread, &c.ThreadState, &at,
			&c.Status, &c.Done, &c.Total, &held)
		c.At, c.ShownAt, c.HeldUntil = db.FromMicros(at), db.FromMicros(shown), db.FromMicros(held)
		list = append(list, c)
		return err
	}, `SELECT c.id, c.kind, c.team, c.tenant, c.cluster, c.operation, c.channel, c.person, c.message, c.shown, c.shown_at, c.thread, c.notified_state, c.at,
			o.status, o.done, o.total, o.held_until
		FROM chat_cards c JOIN operations o ON o.id = c.operation AND o.tenant = c.tenant
		WHERE c.kind = ? ORDER BY c.id LIMIT ?`, kind, limit)
	return list, err
}

func (s *Store) ShownCard(ctx context.Context, c chat.Card) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if c.Message != "" {
			if err := t.Exec(`INSERT INTO chat_threads (kind, team, tenant, cluster, channel, message) SELECT kind, team, tenant, cluster, ?, ? FROM chat_cards WHERE id = ?
				ON CONFLICT (kind, cluster, channel) DO UPDATE SET message = excluded.message, team = excluded.team`, c.Channel, c.Message, c.ID); err != nil {
				return err
			}
		}
		return t.Exec(`UPDATE chat_cards SET channel = ?, message = ?, shown = ?, shown_at = ?, thread = ?, notified_state = ? WHERE id = ?`,
			c.Channel, c.Message, c.Shown, db.Micros(c.ShownAt), c.Thread, c.ThreadState, c.ID)
	})
}

func (s *Store) SaveAsk(ctx context.Context, a chat.Ask) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`INSERT INTO chat_prompts (request, kind, team, tenant, channel, person, at) SELECT r.id, ?, ?, r.tenant, ?, ?, ? FROM requests r
			WHERE r.id = ? AND r.tenant = ? ON CONFLICT (request) DO NOTHING`, a.Kind, a.Team, a.Channel, a.Person, db.Micros(a.At), a.Request, a.Tenant); err != nil {
			return err
		}
		var status appcluster.RequestStatus
		var cluster string
		err := t.Row(`SELECT status, cluster FROM requests WHERE id = ? AND tenant = ?`, a.Request, a.Tenant).Scan(&status, &cluster)
		if db.IsNoRows(err) || err == nil && status.Open() {
			return nil
		}
		if err != nil {
			return err
		}
		// It was decided on faster than this was noted.
		return AskEnded(t, a.Request, a.Tenant, cluster, status, a.At)
	})
}

// AskEnded makes the card of a request that runs now, where it was asked for, and forgets where that was.
func AskEnded(t *db.Tx, request int64, tenant, cluster string, status appcluster.RequestStatus, at time.Time) error {
	if status == appcluster.RequestAccepted {
		if err := t.Exec(`INSERT INTO chat_cards (kind, team, tenant, cluster, operation, channel, person, at)
			SELECT a.kind, a.team, a.tenant, o.cluster, o.id, a.channel, a.person, ? FROM chat_prompts a JOIN operations o ON o.tenant = a.tenant
			WHERE a.request = ? AND a.tenant = ? AND o.id = (SELECT max(id) FROM operations WHERE cluster = ?) ON CONFLICT (kind, operation, channel) DO NOTHING`,
			db.Micros(at), request, tenant, cluster); err != nil {
			return err
		}
	}
	return t.Exec(`DELETE FROM chat_prompts WHERE request = ?`, request)
}

func (s *Store) DropCard(ctx context.Context, id int64) error {
	return s.Write(ctx, func(t *db.Tx) error { return t.Exec(`DELETE FROM chat_cards WHERE id = ?`, id) })
}
