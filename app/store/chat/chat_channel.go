package chat

import (
	"context"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/store/db"
	"muster/app/store/identity"
)

const channelColumns = `c.kind, c.team, c.channel, c.name, c.tenant, c.host, c.guest, c.at`

func scanChannel(row db.Scanner) (c chat.Channel, err error) {
	var at int64
	err = row.Scan(&c.Kind, &c.Team, &c.Channel, &c.Name, &c.Tenant, &c.Host, &c.Guest, &at)
	c.At = db.FromMicros(at)
	if db.IsNoRows(err) {
		err = app.Errorf(app.ENotFound, "This channel belongs to its workspace's tenant.")
	}
	return c, err
}

const channelByID = `SELECT ` + channelColumns + ` FROM chat_channels c WHERE c.kind = ? AND c.team = ? AND c.channel = ?`

// maxChannels is how many channels of a workspace may be given away.
const maxChannels = 1000

func (s *Store) SaveChannel(ctx context.Context, who app.Actor, c chat.Channel) (is chat.Channel, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		is = c
		var before any
		was, err := scanChannel(t.Row(channelByID, c.Kind, c.Team, c.Channel))
		switch {
		case err != nil && app.CodeOf(err) != app.ENotFound:
			return err
		case err == nil:
			before = was
			if was.Agreed() && was.Tenant != c.Tenant && (c.Host == "" || c.Guest == "") {
				// One side alone neither takes a channel from a tenant nor assigns it another.
				return &app.Error{Code: app.EConflict, Reason: "given", Message: "The channel is already assigned to another tenant.", Hint: "Return it to the workspace first: channel reset."}
			}
			if was.Tenant == c.Tenant {
				if is.Host == "" {
					is.Host = was.Host
				}
				if is.Guest == "" {
					is.Guest = was.Guest
				}
			}
			if is.Name == "" {
				is.Name = was.Name
			}
		default:
			var n int
			if err := t.Row(`SELECT count(*) FROM chat_channels WHERE kind = ? AND team = ?`, c.Kind, c.Team).Scan(&n); err != nil {
				return err
			}
			if n >= maxChannels {
				return app.Errorf(app.ETooLarge, "A workspace can have at most %d channels assigned to other tenants.", maxChannels)
			}
		}
		if is.Agreed() {
			if err := identity.TenantExists(t, c.Tenant); err != nil {
				return err
			}
			// What was shown there is another tenant's.
			if err := dropApprovalsAt(t, c.Kind, c.Team, c.Channel, c.Tenant); err != nil {
				return err
			}
		}
		if err := t.Exec(`INSERT INTO chat_channels (kind, team, channel, name, tenant, host, guest, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (kind, team, channel) DO UPDATE SET name = excluded.name, tenant = excluded.tenant, host = excluded.host, guest = excluded.guest, at = excluded.at`,
			is.Kind, is.Team, is.Channel, is.Name, is.Tenant, is.Host, is.Guest, db.Micros(is.At)); err != nil {
			return err
		}
		return t.AddAudit(c.At, who, "chat.channel", c.Kind+"/"+c.Team+"/"+c.Channel, before, is)
	})
	return is, err
}

// dropApprovalsAt ends the showing of requests in a channel, but for those of one tenant.
func dropApprovalsAt(t *db.Tx, kind, team, channel, except string) error {
	for _, table := range []string{"chat_approvals", "chat_reviews"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE kind = ? AND team = ? AND channel = ? AND tenant <> ?`, kind, team, channel, except); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) DropChannel(ctx context.Context, who app.Actor, kind, team, channel string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		was, err := scanChannel(t.Row(channelByID, kind, team, channel))
		if err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM chat_channels WHERE kind = ? AND team = ? AND channel = ?`, kind, team, channel); err != nil {
			return err
		}
		w, err := workspace(t, kind, team)
		if err != nil {
			return err
		}
		if err := dropApprovalsAt(t, kind, team, channel, w.Tenant); err != nil {
			return err
		}
		return t.AddAudit(at, who, "chat.channel", kind+"/"+team+"/"+channel, was, nil)
	})
}

func (s *Store) Channel(ctx context.Context, kind, team, channel string) (chat.Channel, error) {
	return scanChannel(s.Row(ctx, channelByID, kind, team, channel))
}

// SetApprovals implements chat.ChannelStore. Requests that are shown elsewhere are shown again at the new place.
func (s *Store) SetApprovals(ctx context.Context, who app.Actor, p chat.Approvals) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var before, after any
		was, err := scanApprovals(t.Row(approvalsOf, p.Tenant))
		if err != nil && app.CodeOf(err) != app.ENotFound {
			return err
		}
		if err == nil {
			before = was.Kind + "/" + was.Team + "/" + was.Channel
		}
		if p.Channel == "" {
			err = t.Exec(`DELETE FROM chat_approvals WHERE tenant = ?`, p.Tenant)
		} else {
			after = p.Kind + "/" + p.Team + "/" + p.Channel
			err = t.Exec(`INSERT INTO chat_approvals (tenant, kind, team, channel, set_by, set_at) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (tenant) DO UPDATE SET kind = excluded.kind, team = excluded.team, channel = excluded.channel, set_by = excluded.set_by, set_at = excluded.set_at`,
				p.Tenant, p.Kind, p.Team, p.Channel, p.SetBy, db.Micros(p.SetAt))
		}
		if err != nil {
			return err
		}
		if before != after {
			if err := t.Exec(`DELETE FROM chat_reviews WHERE tenant = ?`, p.Tenant); err != nil {
				return err
			}
		}
		return t.AddAudit(p.SetAt, who, "chat.approvals", p.Tenant, before, after)
	})
}

const approvalsOf = `SELECT tenant, kind, team, channel, set_by, set_at FROM chat_approvals WHERE tenant = ?`

func scanApprovals(row db.Scanner) (p chat.Approvals, err error) {
	var at int64
	err = row.Scan(&p.Tenant, &p.Kind, &p.Team, &p.Channel, &p.SetBy, &at)
	p.SetAt = db.FromMicros(at)
	if db.IsNoRows(err) {
		err = app.Errorf(app.ENotFound, "No channel shows this tenant's requests.")
	}
	return p, err
}

func (s *Store) Approvals(ctx context.Context, tenant string) (chat.Approvals, error) {
	return scanApprovals(s.Row(ctx, approvalsOf, tenant))
}

// DropOf takes what a tenant has of chats.
func DropOf(t *db.Tx, tenant string) error {
	for _, table := range []string{"chat_cards", "chat_reviews", "chat_messages", "chat_homes", "chat_approvals", "chat_channels", "chat_installs", "chat_workspaces"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE tenant = ?`, tenant); err != nil {
			return err
		}
	}
	return nil
}
