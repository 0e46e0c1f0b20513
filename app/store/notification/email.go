package notification

import (
	"context"
	"time"

	"muster/app"
	"muster/app/notification"
	"muster/app/store/db"
	"muster/app/store/feed"
)

const emailQuery = `SELECT ` + feed.NoticeColumns + `, e.tenant, e.user_name, e.attempts, e.queued_at, COALESCE(u.full_name, ''),
		CASE WHEN u.disabled_at = 0 AND COALESCE(p.email, 1) = 1 THEN u.email ELSE '' END
	FROM notification_emails e JOIN notifications n ON n.id = e.notice LEFT JOIN users u ON u.tenant = e.tenant AND u.name = e.user_name
	LEFT JOIN notification_preferences p ON p.tenant = e.tenant AND p.user_name = e.user_name AND p.kind = n.kind
	WHERE e.holder = ? AND e.holder <> '' ORDER BY e.notice, e.user_name`

// ClaimEmails implements notification.EmailQueue. A claim that isn't ended by next_at is anyone's again.
func (s *Store) ClaimEmails(ctx context.Context, c notification.EmailClaim) (due []notification.Email, next time.Time, err error) {
	var first int64
	if err := s.Row(ctx, soonestEmail).Scan(&first); err != nil || first == 0 || first > db.Micros(c.Now) {
		return nil, db.FromMicros(first), err
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		if due, err = claimAddressEmails(t, c); err != nil { // first, as people wait for them
			return err
		}
		if err := t.Exec(`UPDATE notification_emails SET holder = ?, next_at = ?, attempts = attempts + 1 WHERE (tenant, user_name, notice) IN
			(SELECT tenant, user_name, notice FROM notification_emails WHERE state = 'waiting' AND next_at <= ? ORDER BY next_at, notice, user_name LIMIT ?)
			AND state = 'waiting' AND next_at <= ?`, // again, for rows that another server has claimed meanwhile
			c.Holder, db.Micros(c.Now.Add(c.For)), db.Micros(c.Now), c.Most-len(due), db.Micros(c.Now)); err != nil {
			return err
		}
		if err := t.Each(func(row db.Scanner) error {
			e := notification.Email{Holder: c.Holder}
			var n feed.NoticeRow
			var queued int64
			if err := row.Scan(append(n.Dest(), &e.Tenant, &e.User, &e.Attempts, &queued, &e.Name, &e.To)...); err != nil {
				return err
			}
			var err error
			e.What, err = n.Value()
			e.QueuedAt = db.FromMicros(queued)
			due = append(due, e)
			return err
		}, emailQuery, c.Holder); err != nil {
			return err
		}
		return t.Row(soonestEmail).Scan(&first)
	})
	return due, db.FromMicros(first), err
}

// EndEmail implements notification.EmailQueue.
func (s *Store) EndEmail(ctx context.Context, e notification.EmailEnd) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if e.Address != nil {
			n, err := endAddressEmail(t, e)
			return taken(n, err)
		}
		n, err := t.Count(`UPDATE notification_emails SET state = ?, next_at = ?, error = ?, holder = '' WHERE tenant = ? AND user_name = ? AND notice = ?
			AND holder = ? AND attempts = ? AND state = 'waiting'`, e.State, db.Micros(e.Next), e.Error, e.Tenant, e.User, e.What.ID, e.Holder, e.Attempts)
		return taken(n, err)
	})
}

// taken is the error of an email that isn't ended, as no row is the claim's anymore.
func taken(ended int64, err error) error {
	if err == nil && ended == 0 {
		err = app.Errorf(app.EStale, "Another server has taken over this email, or it was replaced.")
	}
	return err
}
