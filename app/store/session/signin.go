package session

import (
	"context"
	"strconv"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/db"
	"muster/app/store/token"
	"muster/app/store/user"
)

// signInsKept is how long records of sign-ins are kept after they began; none counts for so long.
const signInsKept = 30 * 24 * time.Hour

const signInColumns = `s.id, s.tenant, s.user_name, s.at, s.seen_at, s.came_from, s.browser, s.method, s.provider, s.proven_at, s.password_fingerprint,
	s.revoked_at, s.second_factor`

// signInRow is a row of signInColumns on its way.
type signInRow struct {
	s                         identity.Session
	at, seen, proven, revoked int64
}

func (r *signInRow) to() []any {
	return []any{&r.s.ID, &r.s.Tenant, &r.s.User, &r.at, &r.seen, &r.s.From, &r.s.Browser, &r.s.How, &r.s.Provider, &r.proven, &r.s.Mark, &r.revoked, &r.s.Second}
}

func (r *signInRow) session() identity.Session {
	s := r.s
	s.At, s.SeenAt, s.ProvenAt, s.RevokedAt = db.FromMicros(r.at), db.FromMicros(r.seen), db.FromMicros(r.proven), db.FromMicros(r.revoked)
	return s
}

func (s *Store) BeginSession(ctx context.Context, n identity.Session) (id int64, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM signins WHERE at < ?`, db.Micros(n.At.Add(-signInsKept))); err != nil {
			return err
		}
		err := t.Row(`INSERT INTO signins (tenant, user_name, at, seen_at, came_from, browser, method, provider, proven_at, password_fingerprint, revoked_at,
			revoked_by, second_factor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', ?)
			RETURNING id`, n.Tenant, n.User, db.Micros(n.At), db.Micros(n.SeenAt), n.From, n.Browser, n.How,
			n.Provider, db.Micros(n.ProvenAt), n.Mark, n.Second).Scan(&id)
		if err != nil {
			return err
		}
		who := app.Actor{Tenant: n.Tenant, User: n.User, Via: app.ViaPortal, From: n.From, Session: strconv.FormatInt(id, 10)}
		facts := map[string]any{"how": n.How, "from": n.From, "browser": n.Browser}
		if n.Second != "" {
			facts["second_factor"] = n.Second
		}
		if n.Provider != "" {
			facts["provider"] = n.Provider
		}
		if err := t.AddAudit(n.At, who, "session.begin", n.User, nil, facts); err != nil {
			return err
		}
		return user.Saw(t, n.Tenant, n.User, n.At)
	})
	return id, err
}

func (s *Store) Session(ctx context.Context, id int64) (identity.Session, identity.User, error) {
	var u identity.User
	var r signInRow
	found := false
	err := s.Each(ctx, func(row db.Scanner) error {
		found = true
		return user.Scan(row, &u, r.to()...)
	}, `SELECT `+user.Columns+`, coalesce(m.group_name, ''), `+signInColumns+` FROM signins s
		JOIN users u ON u.tenant = s.tenant AND u.name = s.user_name
		LEFT JOIN memberships m ON m.tenant = u.tenant AND m.user_name = u.name
		WHERE s.id = ? ORDER BY m.group_name`, id)
	if err == nil && !found {
		err = app.Errorf(app.ENotFound, "The session doesn't exist.")
	}
	return r.session(), u, err
}

func (s *Store) SignIns(ctx context.Context, tenant, user string, after time.Time, limit int) ([]identity.Session, error) {
	list := []identity.Session{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var r signInRow
		if err := row.Scan(r.to()...); err != nil {
			return err
		}
		list = append(list, r.session())
		return nil
	}, `SELECT `+signInColumns+` FROM signins s WHERE s.tenant = ? AND s.user_name = ? AND s.at > ? ORDER BY s.at DESC, s.id DESC LIMIT ?`,
		tenant, user, db.Micros(after), limit)
	return list, err
}

func (s *Store) TouchSession(ctx context.Context, n identity.Session, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`UPDATE signins SET seen_at = ? WHERE id = ? AND seen_at < ?`, db.Micros(at), n.ID, db.Micros(at)); err != nil {
			return err
		}
		return user.Saw(t, n.Tenant, n.User, at)
	})
}

func (s *Store) RecordStepUp(ctx context.Context, who app.Actor, id int64, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE signins SET proven_at = ? WHERE id = ? AND tenant = ? AND user_name = ? AND revoked_at = 0`,
			db.Micros(at), id, who.Tenant, who.User)
		if err != nil {
			return err
		}
		if n == 0 {
			return app.Errorf(app.EUnauthorized, "This session was ended.")
		}
		return t.AddAudit(at, who, "session.prove", who.User, nil, nil)
	})
}

func (s *Store) RevokeSessions(ctx context.Context, who app.Actor, user string, id, except int64, at time.Time) (n int, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err = Revoke(t, who, user, id, except, at)
		return err
	})
	return n, err
}

// Revoke ends sign-ins of a user in the actor's tenant.
func Revoke(t *db.Tx, who app.Actor, user string, id, except int64, at time.Time) (int, error) {
	which, args := `id <> ?`, []any{db.Micros(at), who.Name(), who.Tenant, user, except}
	if id != 0 {
		which, args[4] = `id = ?`, id
	}
	n, err := t.Count(`UPDATE signins SET revoked_at = ?, revoked_by = ? WHERE tenant = ? AND user_name = ? AND revoked_at = 0 AND `+which, args...)
	if err != nil || n == 0 {
		return 0, err
	}
	return int(n), t.AddAudit(at, who, "session.revoke", user, nil, map[string]any{"sign_ins": n})
}

func (s *Store) SignedInFrom(ctx context.Context, tenant, user, address string, after time.Time) (bool, error) {
	var n int
	err := s.Row(ctx, `SELECT count(*) FROM signins WHERE tenant = ? AND user_name = ? AND at > ? AND came_from = ?`,
		tenant, user, db.Micros(after), address).Scan(&n)
	return n > 0, err
}

func (s *Store) ChangePassword(ctx context.Context, who app.Actor, session int64, hash, mark string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE users SET password_hash = ?, must_change_password = 0, password_at = ? WHERE tenant = ? AND name = ?`,
			hash, db.Micros(at), who.Tenant, who.User)
		if err != nil {
			return err
		}
		if n == 0 {
			return user.NoUser(who.User)
		}
		n, err = t.Count(`UPDATE signins SET password_fingerprint = ?, proven_at = ? WHERE id = ? AND tenant = ? AND user_name = ? AND revoked_at = 0`,
			mark, db.Micros(at), session, who.Tenant, who.User)
		if err != nil {
			return err
		}
		if n == 0 {
			return app.Errorf(app.EUnauthorized, "This session was ended.")
		}
		if err := t.AddAudit(at, who, "password.change", who.User, nil, nil); err != nil {
			return err
		}
		if _, err = Revoke(t, who, who.User, 0, session, at); err != nil {
			return err
		}
		return token.RevokeAll(t, who, who.User, at)
	})
}

func (s *Store) SetPassword(ctx context.Context, who app.Actor, name, hash string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE users SET password_hash = ?, password_at = ? WHERE tenant = ? AND name = ?`, hash, db.Micros(at), who.Tenant, name)
		if err == nil && n == 0 {
			err = user.NoUser(name)
		}
		if err != nil {
			return err
		}
		if err := t.AddAudit(at, who, "user.reset_password", name, nil, nil); err != nil {
			return err
		}
		return token.RevokeAll(t, who, name, at) // sign-ins count by the mark of their password
	})
}
