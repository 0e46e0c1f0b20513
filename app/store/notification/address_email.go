package notification

import (
	"context"
	"crypto/rand"
	"time"

	"muster/app/identity"
	"muster/app/notification"
	"muster/app/store/db"
)

// KeepEmail implements notification.EmailQueue.
func (s *Store) KeepEmail(ctx context.Context, server string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`INSERT INTO email_servers (server, until) VALUES (?, ?) ON CONFLICT (server) DO UPDATE SET until = excluded.until`,
			server, db.Micros(now.Add(notification.EmailTime)))
	})
}

// StopEmail implements notification.EmailQueue.
func (s *Store) StopEmail(ctx context.Context, server string) error {
	var is bool
	if err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM email_servers WHERE server = ?)`, server).Scan(&is); err != nil || !is {
		return err
	}
	return s.Write(ctx, func(t *db.Tx) error { return t.Exec(`DELETE FROM email_servers WHERE server = ?`, server) })
}

const (
	soonestEmail = `SELECT COALESCE(min(next_at), 0) FROM (SELECT min(next_at) AS next_at FROM notification_emails WHERE state = 'waiting'
		UNION ALL SELECT min(next_at) FROM address_emails WHERE state = 'waiting') AS due`
	// An email with a link is for the address that still waits for it.
	addressEmailQuery = `SELECT e.id, e.tenant, e.user_name, e.kind, e.attempts, e.queued_at, COALESCE(c.expires_at, 0),
			CASE WHEN u.disabled_at = 0 AND (e.kind <> 'confirm' OR c.expires_at > ?) THEN e.address ELSE '' END
		FROM address_emails e LEFT JOIN users u ON u.tenant = e.tenant AND u.name = e.user_name LEFT JOIN email_changes c ON c.message = e.id
		WHERE e.holder = ? AND e.holder <> '' ORDER BY e.queued_at, e.id`
)

// claimAddressEmails claims emails about addresses, and writes the token of each link.
func claimAddressEmails(t *db.Tx, c notification.EmailClaim) (due []notification.Email, err error) {
	now := db.Micros(c.Now)
	n, err := t.Count(`UPDATE address_emails SET holder = ?, next_at = ?, attempts = attempts + 1 WHERE id IN
		(SELECT id FROM address_emails WHERE state = 'waiting' AND next_at <= ? ORDER BY next_at, id LIMIT ?) AND state = 'waiting' AND next_at <= ?`,
		c.Holder, db.Micros(c.Now.Add(c.For)), now, c.Most, now)
	if err != nil || n == 0 {
		return nil, err
	}
	if err := t.Each(func(row db.Scanner) error {
		a := notification.AddressEmail{}
		e := notification.Email{Holder: c.Holder, Address: &a}
		var queued, expires int64
		err := row.Scan(&a.ID, &e.Tenant, &e.User, &a.Kind, &e.Attempts, &queued, &expires, &e.To)
		e.QueuedAt, a.ExpiresAt = db.FromMicros(queued), db.FromMicros(expires)
		due = append(due, e)
		return err
	}, addressEmailQuery, now, c.Holder); err != nil {
		return nil, err
	}
	for _, e := range due {
		if e.To == "" || e.Address.Kind != notification.AddressConfirm {
			continue
		}
		e.Address.Token = rand.Text() // 130 bits
		if err := t.Exec(`UPDATE email_changes SET token_hash = ? WHERE message = ?`, identity.HashToken(e.Address.Token), e.Address.ID); err != nil {
			return nil, err
		}
	}
	return due, nil
}

func endAddressEmail(t *db.Tx, e notification.EmailEnd) (int64, error) {
	return t.Count(`UPDATE address_emails SET state = ?, next_at = ?, error = ?, holder = '' WHERE id = ? AND holder = ? AND attempts = ?
		AND state = 'waiting'`, e.State, db.Micros(e.Next), e.Error, e.Address.ID, e.Holder, e.Attempts)
}

// forgetAddressEmails deletes what neither limits nor people need anymore.
func forgetAddressEmails(t *db.Tx, now time.Time) error {
	if err := t.Exec(`DELETE FROM email_changes WHERE expires_at <= ?`, db.Micros(now)); err != nil {
		return err
	}
	if err := t.Exec(`DELETE FROM email_servers WHERE until <= ?`, db.Micros(now)); err != nil {
		return err
	}
	return t.Exec(`DELETE FROM address_emails WHERE queued_at < ?`, db.Micros(now.Add(-2*identity.EmailLinkLife)))
}
