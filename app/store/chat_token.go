package store

import (
	"context"
	"strings"
	"time"

	"muster/app"
)

// WorkspaceTokens implements app.ChatWorkspaceStore.
func (s *chatStore) WorkspaceTokens(ctx context.Context, kind, team string) (k app.ChatTokens, err error) {
	var access, refresh []byte
	var expires int64
	err = s.row(ctx, `SELECT access, refresh, version, expires_at FROM chat_workspaces WHERE kind = ? AND team = ?`, kind, team).Scan(&access, &refresh, &k.Version, &expires)
	if isNoRows(err) || err == nil && len(access) == 0 {
		return k, app.Errorf(app.ENotFound, "There are no tokens of this workspace.")
	}
	if err != nil {
		return k, err
	}
	for _, v := range []struct {
		sealed []byte
		place  string
		into   *string
	}{{access, chatAccessPlace(kind, team), &k.Access}, {refresh, chatRefreshPlace(kind, team), &k.Refresh}} {
		b, err := s.unseal(v.sealed, v.place)
		if err != nil {
			return k, err
		}
		*v.into = string(b)
	}
	k.ExpiresAt = fromMicros(expires)
	return k, nil
}

// HoldRefresh implements app.ChatWorkspaceStore.
func (s *chatStore) HoldRefresh(ctx context.Context, kind, team string, version int64, holder string, now, until time.Time) (mine bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		n, err := t.count(`UPDATE chat_workspaces SET holder = ?, held_until = ? WHERE kind = ? AND team = ? AND version = ? AND held_until <= ?`,
			holder, micros(until), kind, team, version, micros(now))
		mine = n == 1
		return err
	})
	return mine, err
}

// Refreshed implements app.ChatWorkspaceStore.
func (s *chatStore) Refreshed(ctx context.Context, kind, team string, version int64, k app.ChatTokens, at time.Time) error {
	access, refresh := s.sealChat(kind, team, k)
	return s.write(ctx, func(t *tx) error {
		n, err := t.count(`UPDATE chat_workspaces SET access = ?, refresh = ?, expires_at = ?, version = version + 1, holder = '', held_until = 0, changed_at = ?
			WHERE kind = ? AND team = ? AND version = ?`, access, refresh, micros(k.ExpiresAt), micros(at), kind, team, version)
		if err == nil && n == 0 {
			err = app.Errorf(app.EConflict, "The tokens of this workspace were replaced meanwhile.")
		}
		return err
	})
}

// WorkspacesDue implements app.ChatWorkspaceStore.
func (s *chatStore) WorkspacesDue(ctx context.Context, kind string, before time.Time) (list []app.ChatWorkspace, err error) {
	err = s.each(ctx, func(row scanner) error {
		w, err := scanWorkspace(row)
		list = append(list, w)
		return err
	}, `SELECT `+workspaceColumns+` FROM chat_workspaces w WHERE w.kind = ? AND w.state = 'connected' AND w.expires_at > 0 AND w.expires_at < ? AND length(w.refresh) > 0
		ORDER BY w.expires_at LIMIT 100`, kind, micros(before))
	return list, err
}

// NoteLink implements app.ChatWorkspaceStore.
func (s *chatStore) NoteLink(ctx context.Context, l app.ChatLink) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.exec(`DELETE FROM chat_links WHERE seen_at < ?`, micros(l.SeenAt.Add(-24*time.Hour))); err != nil {
			return err
		}
		return t.exec(`INSERT INTO chat_links (server, kind, state, since, seen_at, error) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (server) DO UPDATE SET kind = excluded.kind, state = excluded.state, since = excluded.since, seen_at = excluded.seen_at, error = excluded.error`,
			l.Server, l.Kind, l.State, micros(l.Since), micros(l.SeenAt), l.Error)
	})
}

// ChatLinks implements app.ChatWorkspaceStore.
func (s *chatStore) ChatLinks(ctx context.Context, kind string, since time.Time) ([]app.ChatLink, error) {
	list := []app.ChatLink{}
	err := s.each(ctx, func(row scanner) error {
		var l app.ChatLink
		var from, seen int64
		err := row.Scan(&l.Server, &l.Kind, &l.State, &from, &seen, &l.Error)
		l.Since, l.SeenAt = fromMicros(from), fromMicros(seen)
		list = append(list, l)
		return err
	}, `SELECT server, kind, state, since, seen_at, error FROM chat_links WHERE kind = ? AND seen_at >= ? ORDER BY server LIMIT 100`, kind, micros(since))
	return list, err
}

// LinkByEmail implements app.ChatStore; the whole check is made in the transaction that links.
func (s *chatStore) LinkByEmail(ctx context.Context, who app.Actor, i app.Identity, email string, except []app.Role) (linked bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		linked = false
		if _, _, err := scanIdentity(t.each, i.Kind, i.External); app.CodeOf(err) != app.ENotFound {
			return err // it is linked already
		}
		var names []string
		var role app.Role
		err := t.each(func(row scanner) error {
			var name string
			err := row.Scan(&name, &role)
			names = append(names, name)
			return err
		}, `SELECT u.name, u.role FROM users u WHERE u.tenant = ? AND lower(u.email) = ? AND u.disabled_at = 0 AND EXISTS
			(SELECT 1 FROM subjects j WHERE j.tenant = u.tenant AND j.user_name = u.name AND j.at >= u.created_at) LIMIT 2`, i.Tenant, strings.ToLower(email))
		if err != nil || len(names) != 1 {
			return err
		}
		for _, r := range except {
			if r == role {
				return nil
			}
		}
		i.User = names[0]
		if err := t.exec(`INSERT INTO identities (kind, external, label, tenant, user_name, at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (kind, external) DO UPDATE SET label = excluded.label, tenant = excluded.tenant, user_name = excluded.user_name, at = excluded.at`,
			i.Kind, i.External, i.Label, i.Tenant, i.User, micros(i.At)); err != nil {
			return err
		}
		linked = true
		return t.deed(i.At, who, "identity.link", i.Kind+"/"+i.External, nil, map[string]any{"user": i.User, "label": i.Label, "by": "verified address"})
	})
	return linked, err
}
