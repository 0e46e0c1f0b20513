package chat

import (
	"context"
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
	appidentity "muster/app/identity"
	"muster/app/store/db"
	"muster/app/store/signin"
)

func (s *Store) WorkspaceTokens(ctx context.Context, kind, team string) (k chat.ChatTokens, err error) {
	var access, refresh []byte
	var expires int64
	err = s.Row(ctx, `SELECT access, refresh, version, expires_at FROM chat_workspaces WHERE kind = ? AND team = ?`, kind, team).Scan(&access, &refresh, &k.Version, &expires)
	if db.IsNoRows(err) || err == nil && len(access) == 0 {
		return k, app.Errorf(app.ENotFound, "This workspace has no tokens.")
	}
	if err != nil {
		return k, err
	}
	for _, v := range []struct {
		sealed []byte
		place  string
		into   *string
	}{{access, chatAccessAAD(kind, team), &k.Access}, {refresh, chatRefreshAAD(kind, team), &k.Refresh}} {
		b, err := s.Unseal(v.sealed, v.place)
		if err != nil {
			return k, err
		}
		*v.into = string(b)
	}
	k.ExpiresAt = db.FromMicros(expires)
	return k, nil
}

func (s *Store) HoldRefresh(ctx context.Context, kind, team string, version int64, holder string, now, until time.Time) (mine bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE chat_workspaces SET holder = ?, held_until = ? WHERE kind = ? AND team = ? AND version = ? AND held_until <= ?`,
			holder, db.Micros(until), kind, team, version, db.Micros(now))
		mine = n == 1
		return err
	})
	return mine, err
}

func (s *Store) Refreshed(ctx context.Context, kind, team string, version int64, k chat.ChatTokens, at time.Time) error {
	access, refresh := s.sealChat(kind, team, k)
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE chat_workspaces SET access = ?, refresh = ?, expires_at = ?, version = version + 1, holder = '', held_until = 0, changed_at = ?
			WHERE kind = ? AND team = ? AND version = ?`, access, refresh, db.Micros(k.ExpiresAt), db.Micros(at), kind, team, version)
		if err == nil && n == 0 {
			err = app.Errorf(app.EConflict, "The workspace's tokens have since been replaced.")
		}
		return err
	})
}

func (s *Store) WorkspacesDue(ctx context.Context, kind string, before time.Time) (list []chat.Workspace, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		w, err := scanWorkspace(row)
		list = append(list, w)
		return err
	}, `SELECT `+workspaceColumns+` FROM chat_workspaces w WHERE w.kind = ? AND w.state = 'connected' AND w.expires_at > 0 AND w.expires_at < ? AND length(w.refresh) > 0
		ORDER BY w.expires_at LIMIT 100`, kind, db.Micros(before))
	return list, err
}

func (s *Store) NoteLink(ctx context.Context, l chat.Connection) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM chat_links WHERE seen_at < ?`, db.Micros(l.SeenAt.Add(-24*time.Hour))); err != nil {
			return err
		}
		return t.Exec(`INSERT INTO chat_links (server, kind, state, since, seen_at, error) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (server) DO UPDATE SET kind = excluded.kind, state = excluded.state, since = excluded.since, seen_at = excluded.seen_at, error = excluded.error`,
			l.Server, l.Kind, l.State, db.Micros(l.Since), db.Micros(l.SeenAt), l.Error)
	})
}

func (s *Store) ChatLinks(ctx context.Context, kind string, since time.Time) ([]chat.Connection, error) {
	list := []chat.Connection{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var l chat.Connection
		var from, seen int64
		err := row.Scan(&l.Server, &l.Kind, &l.State, &from, &seen, &l.Error)
		l.Since, l.SeenAt = db.FromMicros(from), db.FromMicros(seen)
		list = append(list, l)
		return err
	}, `SELECT server, kind, state, since, seen_at, error FROM chat_links WHERE kind = ? AND seen_at >= ? ORDER BY server LIMIT 100`, kind, db.Micros(since))
	return list, err
}

// LinkByEmail implements chat.LinkStore; the whole check is made in the transaction that links.
func (s *Store) LinkByEmail(ctx context.Context, who app.Actor, i appidentity.Identity, email string, except []app.Role) (linked bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		linked = false
		if _, _, err := signin.ScanIdentity(t.Each, i.Kind, i.External); app.CodeOf(err) != app.ENotFound {
			return err // it is linked already
		}
		var names []string
		var role app.Role
		err := t.Each(func(row db.Scanner) error {
			var name string
			err := row.Scan(&name, &role)
			names = append(names, name)
			return err
		}, `SELECT u.name, u.role FROM users u WHERE u.tenant = ? AND lower(u.email) = ? AND u.disabled_at = 0 AND EXISTS
			(SELECT 1 FROM sso_subjects j WHERE j.tenant = u.tenant AND j.user_name = u.name AND j.at >= u.created_at) LIMIT 2`, i.Tenant, strings.ToLower(email))
		if err != nil || len(names) != 1 {
			return err
		}
		for _, r := range except {
			if r == role {
				return nil
			}
		}
		i.User = names[0]
		if err := t.Exec(`INSERT INTO identities (kind, external, label, tenant, user_name, at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (kind, external) DO UPDATE SET label = excluded.label, tenant = excluded.tenant, user_name = excluded.user_name, at = excluded.at`,
			i.Kind, i.External, i.Label, i.Tenant, i.User, db.Micros(i.At)); err != nil {
			return err
		}
		linked = true
		return t.AddAudit(i.At, who, "identity.link", i.Kind+"/"+i.External, nil, map[string]any{"user": i.User, "label": i.Label, "by": "verified address"})
	})
	return linked, err
}
