package user

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/notification"
	"muster/app/store/db"
)

// ownEmail reads an account's address, the provider that it comes from, whether email is sent, and the address to confirm with its newest email.
// An account that was created again under an old name isn't the one that signed in elsewhere.
const ownEmail = `SELECT u.email, CASE WHEN EXISTS (SELECT 1 FROM sso_subjects j WHERE j.tenant = u.tenant AND j.user_name = u.name AND j.at >= u.created_at)
		THEN u.created_by ELSE '' END, ` + db.EmailOn + `,
		COALESCE(c.address, ''), COALESCE(c.requested_at, 0), COALESCE(c.expires_at, 0), COALESCE(m.state, ''), COALESCE(m.error, '')
	FROM users u LEFT JOIN email_changes c ON c.tenant = u.tenant AND c.user_name = u.name AND c.expires_at > ?
	LEFT JOIN address_emails m ON m.id = c.message WHERE u.tenant = ? AND u.name = ?`

func scanOwnEmail(row db.Scanner, user string) (o identity.OwnEmail, err error) {
	var requested, expires int64
	var state notification.EmailState
	err = row.Scan(&o.Address, &o.Provider, &o.Enabled, &o.Pending.Address, &requested, &expires, &state, &o.Pending.Problem)
	if db.IsNoRows(err) {
		return o, NoUser(user)
	}
	o.Pending.RequestedAt, o.Pending.ExpiresAt = db.FromMicros(requested), db.FromMicros(expires)
	o.Pending.Sent = state == notification.EmailSent
	return o, err
}

func ownEmailArgs(tenant, user string, now time.Time) []any {
	return []any{db.Micros(now), db.Micros(now), tenant, user}
}

// OwnEmail implements identity.EmailStore.
func (s *Store) OwnEmail(ctx context.Context, tenant, user string, now time.Time) (identity.OwnEmail, error) {
	return scanOwnEmail(s.Row(ctx, ownEmail, ownEmailArgs(tenant, user, now)...), user)
}

// limitKey is an address as it counts for limits.
func limitKey(address string) string { return strings.ToLower(address) }

// StartEmailChange implements identity.EmailStore.
func (s *Store) StartEmailChange(ctx context.Context, who app.Actor, address string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		is, err := scanOwnEmail(t.Row(ownEmail, ownEmailArgs(who.Tenant, who.User, now)...), who.User)
		if err != nil {
			return err
		}
		if err := is.MayChange(); err != nil {
			return err
		}
		expires, again := now.Add(identity.EmailLinkLife), address == ""
		if again {
			if address, expires = is.Pending.Address, is.Pending.ExpiresAt; address == "" {
				return noEmailChange()
			}
		}
		if address == is.Address {
			return &app.Error{Code: app.EConflict, Reason: "same", Field: "email", Message: "This is already your email address."}
		}
		count, err := countEmails(t, who, address, now)
		if err != nil {
			return err
		}
		if err := count.Check(now); err != nil {
			return err
		}
		if err := dropEmails(t, who.Tenant, who.User); err != nil {
			return err
		}
		id, err := queueAddressEmail(t, who, address, notification.AddressConfirm, now)
		if err != nil {
			return err
		}
		requested := now
		if again {
			requested = is.Pending.RequestedAt
		}
		if err := t.Exec(`INSERT INTO email_changes (tenant, user_name, address, requested_at, expires_at, message, token_hash) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, user_name) DO UPDATE SET address = excluded.address, requested_at = excluded.requested_at, expires_at = excluded.expires_at,
			message = excluded.message, token_hash = excluded.token_hash`,
			who.Tenant, who.User, address, db.Micros(requested), db.Micros(expires), id, []byte{}); err != nil {
			return err
		}
		return t.AddAudit(now, who, "email.request", who.User, nil, map[string]any{"email": address, "again": again})
	})
}

func noEmailChange() error {
	return &app.Error{Code: app.EConflict, Reason: "no_change", Field: "email", Message: "No address waits for confirmation.",
		Hint: "It was confirmed, canceled, or has expired. Reload the page."}
}

// countEmails counts the emails with a link that a person requested, and those to an address, which anyone may have requested.
func countEmails(t *db.Tx, who app.Actor, address string, now time.Time) (c identity.EmailCount, err error) {
	var person, to int64
	since := db.Micros(now.Add(-identity.EmailLimitTime))
	const counted = `SELECT count(*), COALESCE(min(queued_at), 0) FROM address_emails WHERE kind = 'confirm' AND queued_at > ?`
	if err := t.Row(counted+` AND tenant = ? AND user_name = ?`, since, who.Tenant, who.User).Scan(&c.Person, &person); err != nil {
		return c, err
	}
	err = t.Row(counted+` AND limit_key = ?`, since, limitKey(address)).Scan(&c.Address, &to)
	c.PersonSince, c.AddressSince = db.FromMicros(person), db.FromMicros(to)
	return c, err
}

// dropEmails keeps emails with an older link of a person from being sent.
func dropEmails(t *db.Tx, tenant, user string) error {
	return t.Exec(`UPDATE address_emails SET state = 'dropped', holder = '' WHERE tenant = ? AND user_name = ? AND kind = 'confirm' AND state = 'waiting'`,
		tenant, user)
}

func queueAddressEmail(t *db.Tx, who app.Actor, address string, kind notification.AddressEmailKind, now time.Time) (id string, err error) {
	t.Topics[app.NoticesTopic()] = true // mailers wait for it
	id = rand.Text()
	return id, t.Exec(`INSERT INTO address_emails (id, tenant, user_name, address, limit_key, kind, state, attempts, queued_at, next_at, holder, error)
		VALUES (?, ?, ?, ?, ?, ?, 'waiting', 0, ?, ?, '', '')`, id, who.Tenant, who.User, address, limitKey(address), kind, db.Micros(now), db.Micros(now))
}

// DropEmailChange forgets the address that a user entered, as an admin or identity provider has set another one.
func DropEmailChange(t *db.Tx, tenant, user string) error {
	n, err := t.Count(`DELETE FROM email_changes WHERE tenant = ? AND user_name = ?`, tenant, user)
	if err != nil || n == 0 {
		return err
	}
	return dropEmails(t, tenant, user)
}

// CancelEmailChange implements identity.EmailStore.
func (s *Store) CancelEmailChange(ctx context.Context, who app.Actor, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		c, found, err := emailChange(t.Row, who.Tenant, who.User)
		if err != nil {
			return err
		}
		if !found {
			return noEmailChange()
		}
		if err := DropEmailChange(t, who.Tenant, who.User); err != nil {
			return err
		}
		return t.AddAudit(now, who, "email.cancel", who.User, map[string]any{"email": c.Address}, nil)
	})
}

func emailChange(row func(query string, args ...any) db.Scanner, tenant, user string) (c identity.EmailChange, found bool, err error) {
	var requested, expires int64
	err = row(`SELECT address, requested_at, expires_at, token_hash FROM email_changes WHERE tenant = ? AND user_name = ?`, tenant, user).
		Scan(&c.Address, &requested, &expires, &c.Hash)
	if db.IsNoRows(err) {
		return c, false, nil
	}
	c.RequestedAt, c.ExpiresAt = db.FromMicros(requested), db.FromMicros(expires)
	return c, err == nil, err
}

// EmailChange implements identity.EmailStore.
func (s *Store) EmailChange(ctx context.Context, tenant, user string) (identity.EmailChange, bool, error) {
	return emailChange(func(query string, args ...any) db.Scanner { return s.Row(ctx, query, args...) }, tenant, user)
}

// ConfirmEmailChange implements identity.EmailStore.
func (s *Store) ConfirmEmailChange(ctx context.Context, who app.Actor, hash []byte, now time.Time) (address string, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		c, _, err := emailChange(t.Row, who.Tenant, who.User)
		if err != nil {
			return err
		}
		if err := c.Fits(hash, now); err != nil {
			return err
		}
		before, err := Read(t, who.Tenant, who.User)
		if err != nil {
			return err
		}
		after := before
		after.Email, address = c.Address, c.Address
		if err := t.Exec(`UPDATE users SET email = ? WHERE tenant = ? AND name = ?`, after.Email, who.Tenant, who.User); err != nil {
			return err
		}
		if err := DropEmailChange(t, who.Tenant, who.User); err != nil {
			return err
		}
		if before.Email != "" {
			if _, err := queueAddressEmail(t, who, before.Email, notification.AddressChanged, now); err != nil {
				return err
			}
		}
		return t.AddAudit(now, who, "email.confirm", who.User, Facts(before), Facts(after))
	})
	return address, err
}

// PendingEmails implements identity.UserStore.
func (s *Store) PendingEmails(ctx context.Context, tenant, from, to string, now time.Time) (map[string]string, error) {
	all := map[string]string{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var user, address string
		err := row.Scan(&user, &address)
		all[user] = address
		return err
	}, `SELECT user_name, address FROM email_changes WHERE tenant = ? AND user_name >= ? AND user_name <= ? AND expires_at > ?`,
		tenant, from, to, db.Micros(now))
	return all, err
}
