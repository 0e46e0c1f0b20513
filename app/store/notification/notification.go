package notification

import (
	"cmp"
	"context"
	"math"
	"strings"
	"time"

	"muster/app"
	"muster/app/notification"
	"muster/app/store/db"
	"muster/app/store/feed"
)

// Store keeps inboxes and preferences.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

const itemQuery = `SELECT ` + feed.NoticeColumns + `, i.read_at FROM inbox i JOIN notifications n ON n.id = i.notice WHERE i.tenant = ? AND i.user_name = ?`

func scanItem(row db.Scanner) (notification.Item, error) {
	var n feed.NoticeRow
	var read int64
	if err := row.Scan(append(n.Dest(), &read)...); err != nil {
		return notification.Item{}, err
	}
	v, err := n.Value()
	return notification.Item{Notice: v, ReadAt: db.FromMicros(read)}, err
}

// Inbox implements notification.Store.
func (s *Store) Inbox(ctx context.Context, q notification.Query) ([]notification.Item, error) {
	unread := ""
	if q.Unread {
		unread = ` AND i.read_at = 0`
	}
	list := []notification.Item{}
	err := s.Each(ctx, func(row db.Scanner) error {
		i, err := scanItem(row)
		list = append(list, i)
		return err
	}, itemQuery+unread+` AND i.notice < ? ORDER BY i.notice DESC LIMIT ?`, q.Tenant, q.User, cmp.Or(q.Before, math.MaxInt64), q.Limit)
	return list, err
}

// InboxItem implements notification.Store.
func (s *Store) InboxItem(ctx context.Context, tenant, user string, id int64) (notification.Item, error) {
	i, err := scanItem(s.Row(ctx, itemQuery+` AND i.notice = ?`, tenant, user, id))
	if db.IsNoRows(err) {
		err = &app.Error{Code: app.ENotFound, Message: "This notification isn't stored anymore, or isn't yours.", Hint: "See your notifications."}
	}
	return i, err
}

// InboxUnread implements notification.Store.
func (s *Store) InboxUnread(ctx context.Context, tenant, user string) (n int, err error) {
	err = s.Row(ctx, `SELECT count(*) FROM (SELECT 1 FROM inbox WHERE tenant = ? AND user_name = ? AND read_at = 0 LIMIT ?) AS unread`,
		tenant, user, notification.MostCounted).Scan(&n)
	return n, err
}

// MarkInbox implements notification.Store.
func (s *Store) MarkInbox(ctx context.Context, tenant, user string, m notification.Mark, now time.Time) (marked int, err error) {
	where, args := ` AND notice <= ?`, []any{db.Micros(now), tenant, user, cmp.Or(m.UpTo, math.MaxInt64)}
	if len(m.IDs) > 0 {
		where, args = ` AND notice IN (?`+strings.Repeat(`, ?`, len(m.IDs)-1)+`)`, args[:3]
		for _, id := range m.IDs {
			args = append(args, id)
		}
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE inbox SET read_at = ? WHERE tenant = ? AND user_name = ? AND read_at = 0`+where, args...)
		marked = int(n)
		return err
	})
	return marked, err
}

// NotificationPreferences implements notification.Store.
func (s *Store) NotificationPreferences(ctx context.Context, tenant, user string, now time.Time) (p notification.Preferences, err error) {
	err = s.Row(ctx, `SELECT u.email, EXISTS (SELECT 1 FROM identities i WHERE i.tenant = u.tenant AND i.user_name = u.name AND i.kind = 'slack'),
			`+db.EmailOn+`
		FROM users u WHERE u.tenant = ? AND u.name = ?`, db.Micros(now), tenant, user).Scan(&p.Email, &p.Slack, &p.EmailEnabled)
	if err != nil && !db.IsNoRows(err) {
		return p, err
	}
	p.Kinds, err = preferences(ctx, s.DB, tenant, user)
	return p, err
}

func preferences(ctx context.Context, d *db.DB, tenant, user string) (list []notification.Preference, err error) {
	err = d.Each(ctx, func(row db.Scanner) error {
		var p notification.Preference
		var portal, slack, email int64
		err := row.Scan(&p.Kind, &portal, &slack, &email)
		p.Portal, p.Slack, p.Email = portal == 1, slack == 1, email == 1
		list = append(list, p)
		return err
	}, `SELECT kind, portal, slack, email FROM notification_preferences WHERE tenant = ? AND user_name = ?`, tenant, user)
	return list, err
}

// SaveNotificationPreferences implements notification.Store. Only what isn't the default is kept, so that better defaults reach those who
// haven't chosen.
func (s *Store) SaveNotificationPreferences(ctx context.Context, who app.Actor, list []notification.Preference, now time.Time) error {
	if who.Home != "" && who.Home != who.Tenant {
		return &app.Error{Code: app.EConflict, Message: "You have no account in this tenant, so you aren't notified in it.", Hint: "Switch to your own tenant."}
	}
	before, err := preferences(ctx, s.DB, who.Tenant, who.User)
	if err != nil {
		return err
	}
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM notification_preferences WHERE tenant = ? AND user_name = ?`, who.Tenant, who.User); err != nil {
			return err
		}
		after := []notification.Preference{}
		for _, p := range list {
			if p != notification.Default(p.Kind) {
				after = append(after, p)
			}
		}
		err := t.ExecChunks(len(after), `INSERT INTO notification_preferences (tenant, user_name, kind, portal, slack, email) VALUES `, `(?, ?, ?, ?, ?, ?)`, ``,
			func(args []any, i int) []any {
				p := after[i]
				return append(args, who.Tenant, who.User, p.Kind, db.Flag(p.Portal), db.Flag(p.Slack), db.Flag(p.Email))
			})
		if err != nil {
			return err
		}
		return t.AddAudit(now, who, "notification.preferences", who.User, kept(before), kept(after))
	})
}

// kept is what the audit says of preferences: those that differ from the defaults.
func kept(list []notification.Preference) map[string]any {
	all := map[string]any{}
	for _, p := range list {
		all[string(p.Kind)] = map[string]bool{"portal": p.Portal, "slack": p.Slack, "email": p.Email}
	}
	return all
}

// ForgetNotifications deletes what is too old, and what is too much.
func (s *Store) ForgetNotifications(ctx context.Context, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		old := db.Micros(now.Add(-notification.Memory))
		if err := t.Exec(`DELETE FROM inbox WHERE at < ?`, old); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM inbox WHERE (tenant, user_name, notice) IN (SELECT tenant, user_name, notice FROM
			(SELECT tenant, user_name, notice, row_number() OVER (PARTITION BY tenant, user_name ORDER BY notice DESC) AS place FROM inbox) AS ranked
			WHERE place > ?)`, notification.MostKept); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM notification_emails WHERE queued_at < ?`, old); err != nil {
			return err
		}
		return forgetAddressEmails(t, now)
	})
}
