package chat

import (
	"context"
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/store/db"
	"muster/app/store/identity"
)

func chatAccessAAD(kind, team string) string  { return "chat_access/" + kind + "/" + team }
func chatRefreshAAD(kind, team string) string { return "chat_refresh/" + kind + "/" + team }

// sealChat seals the tokens of a workspace.
func (s *Store) sealChat(kind, team string, k chat.ChatTokens) (access, refresh []byte) {
	return s.Seal([]byte(k.Access), chatAccessAAD(kind, team)), s.Seal([]byte(k.Refresh), chatRefreshAAD(kind, team))
}

const workspaceColumns = `w.kind, w.team, w.enterprise, w.name, w.tenant, w.app, w.bot, w.scopes, w.fixed, w.email, w.state, w.why, w.expires_at,
	w.installed_by, w.installed_at, w.changed_at, w.event_at, w.error, w.error_at, w.calls, w.calls_at, w.limited_until`

func scanWorkspace(row db.Scanner) (w chat.Workspace, err error) {
	var fixed, email, expires, installed, changed, event, erred, calls, limited int64
	err = row.Scan(&w.Kind, &w.Team, &w.Enterprise, &w.Name, &w.Tenant, &w.App, &w.Bot, &w.Scopes, &fixed, &email, &w.State, &w.Problem, &expires,
		&w.InstalledBy, &installed, &changed, &event, &w.Error, &erred, &w.Calls, &calls, &limited)
	w.Fixed, w.Email, w.ExpiresAt, w.InstalledAt, w.ChangedAt = fixed == 1, email == 1, db.FromMicros(expires), db.FromMicros(installed), db.FromMicros(changed)
	w.EventAt, w.ErrorAt, w.CallsAt, w.LimitedUntil = db.FromMicros(event), db.FromMicros(erred), db.FromMicros(calls), db.FromMicros(limited)
	if db.IsNoRows(err) {
		err = app.Errorf(app.ENotFound, "Muster isn't installed in this workspace.")
	}
	return w, err
}

func (s *Store) SaveChatInstall(ctx context.Context, hash []byte, i chat.Install) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM chat_installs WHERE expires_at < ?`, db.Micros(i.At.Add(-24*time.Hour))); err != nil {
			return err
		}
		return t.Exec(`INSERT INTO chat_installs (hash, tenant, user_name, session, at, expires_at, used_at) VALUES (?, ?, ?, ?, ?, ?, 0)`,
			hash, i.Tenant, i.User, i.Session, db.Micros(i.At), db.Micros(i.ExpiresAt))
	})
}

func (s *Store) UseChatInstall(ctx context.Context, hash []byte, who app.Actor, session int64, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var i chat.Install
		var expires, used int64
		err := t.Row(`SELECT tenant, user_name, session, expires_at, used_at FROM chat_installs WHERE hash = ?`, hash).Scan(&i.Tenant, &i.User, &i.Session, &expires, &used)
		again := "Start the installation again on the Slack page."
		switch {
		case db.IsNoRows(err), err == nil && (i.Tenant != who.Tenant || i.User != who.Name() || i.Session != session):
			return &app.Error{Code: app.ENotFound, Reason: "no_install", Message: "You didn't start this installation here.", Hint: again}
		case err != nil:
			return err
		case used != 0:
			return &app.Error{Code: app.EConflict, Reason: "used", Message: "This installation has already been completed.", Hint: again}
		case !at.Before(db.FromMicros(expires)):
			return &app.Error{Code: app.EConflict, Reason: "expired", Message: "This installation timed out.", Hint: again}
		}
		return t.Exec(`UPDATE chat_installs SET used_at = ? WHERE hash = ?`, db.Micros(at), hash)
	})
}

// workspaceFacts are what the audit keeps of a workspace.
func workspaceFacts(w chat.Workspace) map[string]any {
	return map[string]any{"team": w.Team, "name": w.Name, "tenant": w.Tenant, "state": string(w.State), "email_links": w.Email, "fixed": w.Fixed, "scopes": w.Scopes}
}

func workspace(t *db.Tx, kind, team string) (chat.Workspace, error) {
	return scanWorkspace(t.Row(`SELECT `+workspaceColumns+` FROM chat_workspaces w WHERE w.kind = ? AND w.team = ?`, kind, team))
}

func (s *Store) SaveWorkspace(ctx context.Context, who app.Actor, w chat.Workspace, k chat.ChatTokens, at time.Time) error {
	access, refresh := s.sealChat(w.Kind, w.Team, k)
	return s.Write(ctx, func(t *db.Tx) error {
		if err := identity.TenantOpen(t, w.Tenant); err != nil {
			return err
		}
		var before any
		was, err := workspace(t, w.Kind, w.Team)
		if err != nil && app.CodeOf(err) != app.ENotFound {
			return err
		}
		if err == nil {
			before = workspaceFacts(was)
			if err := was.CheckWorkspace(who); err != nil {
				return err
			}
			if was.Tenant != w.Tenant {
				if err := dropChatPlaces(t, w.Kind, w.Team); err != nil { // they were agreed with someone else
					return err
				}
			}
			w.Email = was.Email && was.Tenant == w.Tenant
		}
		if err := t.Exec(`INSERT INTO chat_workspaces (kind, team, enterprise, name, tenant, app, bot, scopes, fixed, email, state, why, access, refresh, version, expires_at,
				installed_by, installed_at, changed_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 'connected', '', ?, ?, 1, ?, ?, ?, ?)
			ON CONFLICT (kind, team) DO UPDATE SET enterprise = excluded.enterprise, name = excluded.name, tenant = excluded.tenant, app = excluded.app,
				bot = excluded.bot, scopes = excluded.scopes, fixed = 0, email = excluded.email, state = 'connected', why = '', access = excluded.access, refresh = excluded.refresh,
				version = chat_workspaces.version + 1, expires_at = excluded.expires_at, holder = '', held_until = 0, installed_by = excluded.installed_by,
				installed_at = excluded.installed_at, changed_at = excluded.changed_at, error = '', error_at = 0`,
			w.Kind, w.Team, w.Enterprise, w.Name, w.Tenant, w.App, w.Bot, w.Scopes, db.Flag(w.Email), access, refresh, db.Micros(k.ExpiresAt), w.InstalledBy, db.Micros(at), db.Micros(at)); err != nil {
			return err
		}
		w.State = chat.StateConnected
		return t.AddAudit(at, who, "chat.install", w.Kind+"/"+w.Team, before, workspaceFacts(w))
	})
}

func (s *Store) SaveFixedWorkspace(ctx context.Context, w chat.Workspace, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		was, err := workspace(t, w.Kind, w.Team)
		if err != nil && app.CodeOf(err) != app.ENotFound {
			return err
		}
		if err == nil && was.Tenant != w.Tenant {
			if err := dropChatPlaces(t, w.Kind, w.Team); err != nil {
				return err
			}
		}
		// Cards from before there were several workspaces are this one's.
		if err := t.Exec(`UPDATE chat_cards SET team = ? WHERE kind = ? AND team = ''`, w.Team, w.Kind); err != nil {
			return err
		}
		email := db.Flag(err == nil && was.Email && was.Tenant == w.Tenant)
		return t.Exec(`INSERT INTO chat_workspaces (kind, team, enterprise, name, tenant, app, bot, scopes, fixed, email, state, why, access, refresh, version, expires_at,
				installed_by, installed_at, changed_at)
			VALUES (?, ?, ?, ?, ?, '', ?, '', 1, 0, 'connected', '', x'', x'', 1, 0, '', ?, ?)
			ON CONFLICT (kind, team) DO UPDATE SET enterprise = excluded.enterprise, name = excluded.name, tenant = excluded.tenant, bot = excluded.bot, fixed = 1, email = ?,
				state = 'connected', why = '', access = excluded.access, refresh = excluded.refresh, version = chat_workspaces.version + 1, expires_at = 0, changed_at = excluded.changed_at`,
			w.Kind, w.Team, w.Enterprise, w.Name, w.Tenant, w.Bot, db.Micros(at), db.Micros(at), email)
	})
}

// dropChatPlaces takes what was agreed and set about the channels of a workspace.
func dropChatPlaces(t *db.Tx, kind, team string) error {
	for _, table := range []string{"chat_channels", "chat_approvals"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE kind = ? AND team = ?`, kind, team); err != nil {
			return err
		}
	}
	return dropChatShown(t, kind, team)
}

// dropChatShown stops what is shown in a workspace.
func dropChatShown(t *db.Tx, kind, team string) error {
	for _, table := range []string{"chat_cards", "chat_prompts", "chat_threads", "chat_reviews", "chat_messages", "chat_homes"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE kind = ? AND team = ?`, kind, team); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) Workspaces(ctx context.Context, kind, tenant string) ([]chat.Workspace, error) {
	list := []chat.Workspace{}
	at := map[string]int{}
	where, args := `w.kind = ?`, []any{kind}
	if tenant != "" {
		where += ` AND (w.tenant = ? OR EXISTS (SELECT 1 FROM chat_channels c WHERE c.kind = w.kind AND c.team = w.team AND c.tenant = ? AND c.host <> '' AND c.guest <> ''))`
		args = append(args, tenant, tenant)
	}
	err := s.Each(ctx, func(row db.Scanner) error {
		w, err := scanWorkspace(row)
		at[w.Team] = len(list)
		list = append(list, w)
		return err
	}, `SELECT `+workspaceColumns+` FROM chat_workspaces w WHERE `+where+` ORDER BY w.name, w.team LIMIT 1000`, args...)
	if err != nil || len(list) == 0 {
		return list, err
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		c, err := scanChannel(row)
		if i, ok := at[c.Team]; ok && (tenant == "" || list[i].Tenant == tenant || c.Tenant == tenant) {
			list[i].Channels = append(list[i].Channels, c)
		}
		return err
	}, `SELECT `+channelColumns+` FROM chat_channels c WHERE c.kind = ? ORDER BY c.team, c.name, c.channel LIMIT 10000`, kind)
	return list, err
}

func (s *Store) Workspace(ctx context.Context, kind, team, enterprise string) (chat.Workspace, error) {
	w, err := scanWorkspace(s.Row(ctx, `SELECT `+workspaceColumns+` FROM chat_workspaces w WHERE w.kind = ? AND w.team = ?`, kind, team))
	if app.CodeOf(err) == app.ENotFound && enterprise != "" && enterprise != team {
		return s.Workspace(ctx, kind, enterprise, "")
	}
	return w, err
}

func (s *Store) ChangeWorkspace(ctx context.Context, who app.Actor, kind, team string, email bool, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		was, err := workspace(t, kind, team)
		if err != nil {
			return err
		}
		is := was
		is.Email = email
		if err := t.Exec(`UPDATE chat_workspaces SET email = ?, changed_at = ? WHERE kind = ? AND team = ?`, db.Flag(email), db.Micros(at), kind, team); err != nil {
			return err
		}
		return t.AddAudit(at, who, "chat.change", kind+"/"+team, workspaceFacts(was), workspaceFacts(is))
	})
}

func (s *Store) EndWorkspace(ctx context.Context, who app.Actor, kind, team string, version int64, state chat.State, why string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		was, err := workspace(t, kind, team)
		if app.CodeOf(err) == app.ENotFound || err == nil && was.State == state {
			return nil
		}
		if err != nil {
			return err
		}
		where, args := ``, []any{string(state), why, db.Micros(at), kind, team}
		if version > 0 {
			where, args = ` AND version = ?`, append(args, version)
		}
		n, err := t.Count(`UPDATE chat_workspaces SET state = ?, why = ?, access = x'', refresh = x'', version = version + 1, expires_at = 0, changed_at = ?
			WHERE kind = ? AND team = ?`+where, args...)
		if err != nil || n == 0 {
			return err
		}
		if state == chat.StateRemoved {
			if err := dropChatShown(t, kind, team); err != nil {
				return err
			}
		}
		is := was
		is.State = state
		return t.AddAudit(at, who, "chat.remove", kind+"/"+team, workspaceFacts(was), workspaceFacts(is))
	})
}

func (s *Store) NoteWorkspace(ctx context.Context, kind, team string, h chat.Health) error {
	var sets []string
	var args []any
	set := func(text string, a ...any) { sets, args = append(sets, text), append(args, a...) }
	if !h.EventAt.IsZero() {
		set("event_at = ?", db.Micros(h.EventAt))
	}
	if !h.ErrorAt.IsZero() {
		set("error = ?, error_at = ?", h.Error, db.Micros(h.ErrorAt))
	}
	if !h.CallsAt.IsZero() {
		set("calls = ?, calls_at = ?", h.Calls, db.Micros(h.CallsAt))
	}
	if !h.LimitedUntil.IsZero() {
		set("limited_until = ?", db.Micros(h.LimitedUntil))
	}
	if len(sets) == 0 {
		return nil
	}
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE chat_workspaces SET `+strings.Join(sets, ", ")+` WHERE kind = ? AND team = ?`, append(args, kind, team)...)
	})
}
