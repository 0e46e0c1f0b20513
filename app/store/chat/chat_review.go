package chat

import (
	"context"
	"time"

	"muster/app/chat"
	"muster/app/store/db"
)

// unshown are open requests that are to be shown and are not yet. Both sides of the join are found by an index.
const unshown = ` FROM chat_approvals a JOIN requests r ON r.tenant = a.tenant AND r.status IN ('waiting', 'offered')
	WHERE a.kind = ? AND NOT EXISTS (SELECT 1 FROM chat_reviews c WHERE c.request = r.id)`

// OpenReviews implements chat.ReviewStore. Mostly there is nothing to write.
func (s *Store) OpenReviews(ctx context.Context, kind string, now, before time.Time) error {
	var n, old int
	if err := s.Row(ctx, `SELECT count(*)`+unshown, kind).Scan(&n); err != nil {
		return err
	}
	if err := s.Row(ctx, `SELECT count(*) FROM chat_reviews WHERE ended = 1 AND at < ?`, db.Micros(before)).Scan(&old); err != nil {
		return err
	}
	if n == 0 && old == 0 {
		return nil
	}
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM chat_reviews WHERE ended = 1 AND at < ? AND request IN (SELECT r.id FROM requests r WHERE r.status NOT IN ('waiting', 'offered'))`,
			db.Micros(before)); err != nil {
			return err
		}
		type row struct {
			tenant, team, channel string
			request               int64
		}
		var list []row
		err := t.Each(func(scan db.Scanner) error {
			var r row
			err := scan.Scan(&r.tenant, &r.request, &r.team, &r.channel)
			list = append(list, r)
			return err
		}, `SELECT r.tenant, r.id, a.team, a.channel`+unshown+` ORDER BY r.id LIMIT 500`, kind)
		if err != nil {
			return err
		}
		for _, r := range list {
			if err := t.Exec(`INSERT INTO chat_reviews (tenant, request, kind, team, channel, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (request) DO NOTHING`,
				r.tenant, r.request, kind, r.team, r.channel, db.Micros(now)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) ChatReviews(ctx context.Context, kind, team string, limit int) ([]chat.Review, error) {
	var list []chat.Review
	err := s.Each(ctx, func(row db.Scanner) error {
		var c chat.Review
		var shown, at, due int64
		err := row.Scan(&c.ID, &c.Kind, &c.Team, &c.Channel, &c.Tenant, &c.Request, &c.Message, &c.Shown, &shown, &at, &c.Status, &c.Round, &due, &c.Reviews)
		c.ShownAt, c.At, c.DueAt = db.FromMicros(shown), db.FromMicros(at), db.FromMicros(due)
		list = append(list, c)
		return err
	}, `SELECT c.id, c.kind, c.team, c.channel, c.tenant, c.request, c.message, c.shown, c.shown_at, c.at, r.status, r.round, r.due_at,
			(SELECT count(*) FROM reviews v WHERE v.request = r.id)
		FROM chat_reviews c JOIN requests r ON r.id = c.request AND r.tenant = c.tenant
		WHERE c.kind = ? AND c.team = ? AND c.ended = 0 ORDER BY c.id LIMIT ?`, kind, team, limit)
	return list, err
}

func (s *Store) ShownReview(ctx context.Context, c chat.Review, ended bool) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE chat_reviews SET channel = ?, message = ?, shown = ?, shown_at = ?, ended = ? WHERE id = ?`,
			c.Channel, c.Message, c.Shown, db.Micros(c.ShownAt), db.Flag(ended), c.ID)
	})
}
