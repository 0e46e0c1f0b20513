package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/store/db"
	"muster/app/store/feed"
)

// The settings that say up to where notices and events were looked through for what chats show.
const (
	chatNoticed = "chat_noticed"
	chatEvents  = "chat_events"
)

// maxScanned is how many notices, or rows of events, are looked through in one transaction.
const maxScanned = 500

// CollectChatNotices implements chat.MessageStore. Where nothing has happened it writes nothing.
func (s *Store) CollectChatNotices(ctx context.Context, kind string, kinds []app.NoticeKind, now, before time.Time) error {
	for {
		var some bool
		if err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM notifications WHERE id > (SELECT CAST(value AS BIGINT) FROM settings WHERE name = ?))
			OR EXISTS (SELECT 1 FROM events WHERE seq > (SELECT CAST(value AS BIGINT) FROM settings WHERE name = ?))`, chatNoticed, chatEvents).Scan(&some); err != nil || !some {
			return err
		}
		if err := s.Write(ctx, func(t *db.Tx) error {
			if err := queueNotices(t, kind, kinds, now, before); err != nil {
				return err
			}
			return queueEvents(t, kind, now)
		}); err != nil {
			return err
		}
	}
}

// passed gives up to where rows were looked through, and moves that on by one batch; past all of them where no one of the chat is
// there whom they could be about, as in the long time before there was one.
func passed(t *db.Tx, kind, setting, table, column string) (from, top int64, err error) {
	if err = t.Row(`SELECT CAST(value AS BIGINT) FROM settings WHERE name = ?`, setting).Scan(&from); err != nil {
		return
	}
	var heard bool
	if err = t.Row(`SELECT EXISTS (SELECT 1 FROM identities WHERE kind = ?) OR EXISTS (SELECT 1 FROM chat_homes WHERE kind = ?)`, kind, kind).Scan(&heard); err != nil {
		return
	}
	if !heard {
		if err = t.Row(`SELECT COALESCE(max(`+column+`), ?) FROM `+table, from).Scan(&top); err != nil {
			return
		}
		return top, top, t.Exec(`UPDATE settings SET value = ? WHERE name = ?`, strconv.FormatInt(max(top, from), 10), setting)
	}
	if err = t.Row(`SELECT COALESCE(max(n), ?) FROM (SELECT `+column+` AS n FROM `+table+` WHERE `+column+` > ? ORDER BY `+column+` LIMIT ?) AS batch`,
		from, from, maxScanned).Scan(&top); err != nil {
		return
	}
	return from, top, t.Exec(`UPDATE settings SET value = ? WHERE name = ?`, strconv.FormatInt(top, 10), setting)
}

// queueNotices notes who gets the next notices, and marks the homes that they are about.
func queueNotices(t *db.Tx, kind string, kinds []app.NoticeKind, now, before time.Time) error {
	from, top, err := passed(t, kind, chatNoticed, "notifications", "id")
	if err != nil || from == top {
		return err
	}
	type notified struct {
		id                  int64
		kind                app.NoticeKind
		tenant, user, group string
		cluster             string
	}
	var all []notified
	asked := map[string]bool{} // tenants in which a request has moved
	err = t.Each(func(row db.Scanner) error {
		var n notified
		var names, in []byte
		var users, groups []string
		if err := row.Scan(&n.id, &n.kind, &n.tenant, &n.cluster, &names, &in); err != nil {
			return err
		}
		if err := errors.Join(json.Unmarshal(names, &users), json.Unmarshal(in, &groups)); err != nil {
			return fmt.Errorf("store: notice %d: %w", n.id, err)
		}
		if n.kind == app.NoticeManualStep {
			for _, n.group = range groups {
				all = append(all, n)
			}
			n.group = ""
		}
		asked[n.tenant] = asked[n.tenant] || n.kind == app.NoticeApproval || n.kind == app.NoticeManualStep
		slices.Sort(users)
		for _, n.user = range slices.Compact(users) {
			all = append(all, n)
		}
		return nil
	}, `SELECT id, kind, tenant, cluster, users, in_groups FROM notifications WHERE id > ? AND id <= ? ORDER BY id`, from, top)
	if err != nil {
		return err
	}
	for _, n := range all {
		if !slices.Contains(kinds, n.kind) {
			continue
		}
		if n.cluster != "" && slices.Contains(chat.ThreadKinds, n.kind) {
			beneath, err := queueCluster(t, kind, n.id, n.tenant, n.cluster, now)
			if err != nil {
				return err
			}
			if beneath {
				continue
			}
		}
		if err := queueAll(t, kind, n.id, n.kind, n.tenant, n.user, n.group, now); err != nil {
			return err
		}
	}
	for tenant := range asked {
		if !asked[tenant] {
			continue
		}
		// Whom a request waits for is up to policies, so all who have a page of the tenant's are looked at.
		if err := t.Exec(`UPDATE chat_homes SET stale = ? WHERE kind = ? AND tenant = ? AND user_name <> ''`, db.Micros(now), kind, tenant); err != nil {
			return err
		}
	}
	if err := t.Exec(`DELETE FROM chat_threads WHERE kind = ? AND NOT EXISTS (SELECT 1 FROM clusters c WHERE c.id = chat_threads.cluster AND c.deleted_at = 0)`, kind); err != nil {
		return err
	}
	return t.Exec(`DELETE FROM chat_messages WHERE at < ?`, db.Micros(before))
}

// queueCluster notes a notice for the cards of its cluster, and reports whether there are any. A cluster that is private by now is
// notified of in direct conversations only.
func queueCluster(t *db.Tx, kind string, notice int64, tenant, cluster string, now time.Time) (some bool, err error) {
	const places = ` FROM chat_threads p JOIN clusters c ON c.id = p.cluster AND c.tenant = p.tenant
		WHERE p.kind = ? AND p.tenant = ? AND p.cluster = ? AND (c.visibility = ? OR p.channel LIKE 'D%')`
	if err := t.Row(`SELECT EXISTS (SELECT 1`+places+`)`, kind, tenant, cluster, app.VisibleTenant).Scan(&some); err != nil {
		return false, err
	}
	if !some {
		// A card that is still to be posted shows by itself how its operation ended.
		err := t.Row(`SELECT EXISTS (SELECT 1 FROM chat_cards WHERE kind = ? AND tenant = ? AND cluster = ? AND message = '')`, kind, tenant, cluster).Scan(&some)
		return some, err
	}
	return true, t.Exec(`INSERT INTO chat_messages (kind, team, person, tenant, user_name, notice, state, next_at, at, thread)
		SELECT p.kind, p.team, p.channel, p.tenant, '', ?, ?, ?, ?, p.message`+places+` ON CONFLICT (kind, team, person, notice) DO NOTHING`,
		notice, chat.ChatDMWaiting, db.Micros(now), db.Micros(now), kind, tenant, cluster, app.VisibleTenant)
}

// queueAll notes a notice for everyone of a chat who is linked to the account of a user, or of a member of a group, unless they have chosen
// not to be sent such notices there.
func queueAll(t *db.Tx, kind string, notice int64, about app.NoticeKind, tenant, user, group string, now time.Time) error {
	type linked struct{ user, external string }
	var all []linked
	if err := t.Each(func(row db.Scanner) error {
		var l linked
		err := row.Scan(&l.user, &l.external)
		all = append(all, l)
		return err
	}, `SELECT i.user_name, i.external FROM identities i JOIN users u ON u.tenant = i.tenant AND u.name = i.user_name AND u.created_at <= i.at
		WHERE i.tenant = ? AND i.kind = ? AND (i.user_name = ? OR ? <> '' AND EXISTS
			(SELECT 1 FROM memberships m WHERE m.tenant = i.tenant AND m.user_name = i.user_name AND m.group_name = ?))
			AND NOT EXISTS (SELECT 1 FROM notification_preferences p WHERE p.tenant = i.tenant AND p.user_name = i.user_name AND p.kind = ? AND p.slack = 0)
		ORDER BY i.external`,
		tenant, kind, user, group, group, about); err != nil {
		return err
	}
	for _, l := range all {
		team, person, ok := strings.Cut(l.external, "/")
		if !ok {
			continue
		}
		if err := t.Exec(`INSERT INTO chat_messages (kind, team, person, tenant, user_name, notice, state, next_at, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (kind, team, person, notice) DO NOTHING`, kind, team, person, tenant, l.user, notice, chat.ChatDMWaiting, db.Micros(now), db.Micros(now)); err != nil {
			return err
		}
	}
	return nil
}

// queueEvents marks the homes of those to whose clusters something has happened.
func queueEvents(t *db.Tx, kind string, now time.Time) error {
	from, top, err := passed(t, kind, chatEvents, "events", "seq")
	if err != nil || from == top {
		return err
	}
	return t.Exec(`UPDATE chat_homes SET stale = ? WHERE kind = ? AND EXISTS (SELECT 1 FROM events e JOIN clusters c ON c.id = e.cluster
		WHERE e.seq > ? AND e.seq <= ? AND e.kind <> ? AND c.tenant = chat_homes.tenant AND c.owner = chat_homes.user_name)`,
		db.Micros(now), kind, from, top, app.EventStep)
}

func (s *Store) ChatDMs(ctx context.Context, kind, team string, now time.Time, limit int) ([]chat.DM, error) {
	var list []chat.DM
	err := s.Each(ctx, func(row db.Scanner) error {
		var c chat.DM
		var began int64
		var n feed.NoticeRow
		if err := row.Scan(append([]any{&c.ID, &c.Kind, &c.Team, &c.Person, &c.Tenant, &c.User, &c.State, &c.Tries, &began, &c.Thread}, n.Dest()...)...); err != nil {
			return err
		}
		c.BeganAt = db.FromMicros(began)
		var err error
		c.Notice, err = n.Value()
		list = append(list, c)
		return err
	}, `SELECT t.id, t.kind, t.team, t.person, t.tenant, t.user_name, t.state, t.tries, t.began_at, t.thread, `+feed.NoticeColumns+`
		FROM chat_messages t JOIN notifications n ON n.id = t.notice
		WHERE t.kind = ? AND (? = '' OR t.team = ?) AND t.state IN ('waiting', 'sending') AND t.next_at <= ? ORDER BY t.next_at, t.id LIMIT ?`,
		kind, team, team, db.Micros(now), limit)
	return list, err
}

func (s *Store) BeginDM(ctx context.Context, c chat.DM, now, until time.Time) (mine bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE chat_messages SET state = 'sending', tries = tries + 1, next_at = ?, began_at = CASE WHEN began_at = 0 THEN ? ELSE began_at END
			WHERE id = ? AND state IN ('waiting', 'sending') AND tries = ? AND next_at <= ?`, db.Micros(until), db.Micros(now), c.ID, c.Tries, db.Micros(now))
		mine = n == 1
		return err
	})
	return mine, err
}

func (s *Store) EndDM(ctx context.Context, id int64, state chat.DMState, next time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE chat_messages SET state = ?, next_at = ? WHERE id = ? AND state IN ('waiting', 'sending')`, state, db.Micros(next), id)
	})
}

func (s *Store) SaveHome(ctx context.Context, h chat.Home, since time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`INSERT INTO chat_homes (kind, team, person, tenant, user_name, shown, shown_at, opened_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (kind, team, person) DO UPDATE SET tenant = excluded.tenant, user_name = excluded.user_name, shown = excluded.shown,
				shown_at = excluded.shown_at, opened_at = excluded.opened_at, stale = CASE WHEN chat_homes.stale > ? THEN chat_homes.stale ELSE 0 END`,
			h.Kind, h.Team, h.Person, h.Tenant, h.User, h.Shown, db.Micros(h.ShownAt), db.Micros(h.OpenedAt), db.Micros(since))
	})
}

func (s *Store) StaleHomes(ctx context.Context, kind, team string, opened time.Time, limit int) ([]chat.Home, error) {
	var list []chat.Home
	err := s.Each(ctx, func(row db.Scanner) error {
		var h chat.Home
		var shown, open, stale int64
		err := row.Scan(&h.Kind, &h.Team, &h.Person, &h.Tenant, &h.User, &h.Shown, &shown, &open, &stale)
		h.ShownAt, h.OpenedAt, h.StaleAt = db.FromMicros(shown), db.FromMicros(open), db.FromMicros(stale)
		list = append(list, h)
		return err
	}, `SELECT kind, team, person, tenant, user_name, shown, shown_at, opened_at, stale FROM chat_homes
		WHERE kind = ? AND (? = '' OR team = ?) AND stale > 0 AND opened_at > ? ORDER BY shown_at, person LIMIT ?`, kind, team, team, db.Micros(opened), limit)
	return list, err
}

func (s *Store) DropHome(ctx context.Context, kind, team, person string) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`DELETE FROM chat_homes WHERE kind = ? AND team = ? AND person = ?`, kind, team, person)
	})
}
