package token

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/db"
	userdb "muster/app/store/user"
)

func (s *Store) ReplaceToken(ctx context.Context, who app.Actor, k identity.Token, hash []byte) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM api_tokens WHERE tenant = ? AND user_name = ? AND label = ?`, k.Tenant, k.User, k.Label); err != nil {
			return err
		}
		_, err := Add(t, who, k, hash)
		return err
	})
}

// Add writes a token and the audit of it; it returns 0 where the user has one of that label.
func Add(t *db.Tx, who app.Actor, k identity.Token, hash []byte) (id int64, err error) {
	err = t.Row(`INSERT INTO api_tokens (hash, tenant, user_name, label, scopes, created_by, created_at, expires_at, used_at, used_from)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '') ON CONFLICT DO NOTHING RETURNING id`,
		hash, k.Tenant, k.User, k.Label, ScopeText(k.Scopes), k.CreatedBy, db.Micros(k.CreatedAt), db.Micros(k.ExpiresAt)).Scan(&id)
	if db.IsNoRows(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return id, t.AddAudit(k.CreatedAt, who, "token.create", k.Label, nil, tokenFacts(k))
}

// tokenFacts are what the audit keeps of a token.
func tokenFacts(k identity.Token) map[string]any {
	facts := map[string]any{"user": k.User, "scopes": k.Scopes}
	if !k.ExpiresAt.IsZero() {
		facts["expires_at"] = k.ExpiresAt
	}
	return facts
}

const tokenColumns = `k.id, k.tenant, k.user_name, k.label, k.scopes, k.created_by, k.created_at, k.expires_at, k.used_at, k.used_from`

// tokenRow is a row of tokenColumns on its way.
type tokenRow struct {
	k                      identity.Token
	scopes                 string
	created, expires, used int64
}

func (r *tokenRow) to() []any {
	return []any{&r.k.ID, &r.k.Tenant, &r.k.User, &r.k.Label, &r.scopes, &r.k.CreatedBy, &r.created, &r.expires, &r.used, &r.k.UsedFrom}
}

func (r *tokenRow) token() identity.Token {
	k := r.k
	k.CreatedAt, k.ExpiresAt, k.UsedAt = db.FromMicros(r.created), db.FromMicros(r.expires), db.FromMicros(r.used)
	for _, s := range strings.Fields(r.scopes) {
		k.Scopes = append(k.Scopes, app.Scope(s))
	}
	return k
}

// ScopeText is how scopes are written.
func ScopeText(scopes []app.Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, " ")
}

func (s *Store) UserOfToken(ctx context.Context, hash []byte) (identity.User, identity.Token, error) {
	var u identity.User
	var r tokenRow
	found := false
	err := s.Each(ctx, func(row db.Scanner) error {
		found = true
		return userdb.Scan(row, &u, r.to()...)
	}, `SELECT `+userdb.Columns+`, coalesce(m.group_name, ''), `+tokenColumns+` FROM api_tokens k
		JOIN users u ON u.tenant = k.tenant AND u.name = k.user_name
		LEFT JOIN memberships m ON m.tenant = u.tenant AND m.user_name = u.name
		WHERE k.hash = ? ORDER BY m.group_name`, hash)
	if err == nil && !found {
		err = app.Errorf(app.ENotFound, "The token doesn't exist.")
	}
	return u, r.token(), err
}

func (s *Store) UsedToken(ctx context.Context, k identity.Token, at time.Time, from string) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`UPDATE api_tokens SET used_at = ?, used_from = ? WHERE id = ? AND used_at < ?`, db.Micros(at), from, k.ID, db.Micros(at)); err != nil {
			return err
		}
		return userdb.Saw(t, k.Tenant, k.User, at)
	})
}

func (s *Store) AddToken(ctx context.Context, who app.Actor, k identity.Token, hash []byte, robots bool, most int) (identity.Token, error) {
	err := s.Write(ctx, func(t *db.Tx) error {
		u, err := userdb.Read(t, k.Tenant, k.User)
		if err != nil {
			return err
		}
		switch {
		case robots && u.Role != app.RoleRobot:
			return &app.Error{Code: app.EForbidden, Field: "user", Message: fmt.Sprintf("%s isn't a robot account; people create their own tokens.", k.User)}
		case u.Disabled():
			return &app.Error{Code: app.EConflict, Reason: "disabled", Field: "user", Message: fmt.Sprintf("User %q is disabled.", k.User)}
		}
		var has int
		// What has expired is dropped when room is needed; until then people may want to see it.
		if err := t.Exec(`DELETE FROM api_tokens WHERE tenant = ? AND user_name = ? AND expires_at > 0 AND expires_at <= ? AND (label = ? OR expires_at <= ?)`,
			k.Tenant, k.User, db.Micros(k.CreatedAt), k.Label, db.Micros(k.CreatedAt.AddDate(0, 0, -30))); err != nil {
			return err
		}
		if err := t.Row(`SELECT count(*) FROM api_tokens WHERE tenant = ? AND user_name = ?`, k.Tenant, k.User).Scan(&has); err != nil {
			return err
		}
		if has >= most {
			return &app.Error{Code: app.EConflict, Reason: "too_many", Message: fmt.Sprintf("%s already has %d tokens.", k.User, has), Hint: "Revoke unused tokens."}
		}
		if k.ID, err = Add(t, who, k, hash); err == nil && k.ID == 0 {
			err = &app.Error{Code: app.EConflict, Field: "label", Message: fmt.Sprintf("%s already has a token %q.", k.User, k.Label), Hint: "Revoke that token first, or choose another label."}
		}
		return err
	})
	return k, err
}

func (s *Store) Tokens(ctx context.Context, tenant, user string) ([]identity.Token, error) {
	all := []identity.Token{}
	filter, args := ``, []any{tenant}
	if user != "" {
		filter, args = ` AND k.user_name = ?`, append(args, user)
	}
	err := s.Each(ctx, func(row db.Scanner) error {
		var r tokenRow
		err := row.Scan(r.to()...)
		all = append(all, r.token())
		return err
	}, `SELECT `+tokenColumns+` FROM api_tokens k WHERE k.tenant = ?`+filter+` ORDER BY k.id DESC LIMIT 1000`, args...)
	return all, err
}

func (s *Store) Token(ctx context.Context, tenant string, id int64) (identity.Token, error) {
	var r tokenRow
	err := s.Row(ctx, `SELECT `+tokenColumns+` FROM api_tokens k WHERE k.tenant = ? AND k.id = ?`, tenant, id).Scan(r.to()...)
	if db.IsNoRows(err) {
		return identity.Token{}, noToken(id)
	}
	return r.token(), err
}

func (s *Store) RevokeToken(ctx context.Context, who app.Actor, tenant string, id int64, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var r tokenRow
		err := t.Row(`SELECT `+tokenColumns+` FROM api_tokens k WHERE k.tenant = ? AND k.id = ?`, tenant, id).Scan(r.to()...)
		if db.IsNoRows(err) {
			return noToken(id)
		}
		if err != nil {
			return err
		}
		return revokeToken(t, who, r.token(), at)
	})
}

func revokeToken(t *db.Tx, who app.Actor, k identity.Token, at time.Time) error {
	if err := t.Exec(`DELETE FROM api_tokens WHERE id = ?`, k.ID); err != nil {
		return err
	}
	return t.AddAudit(at, who, "token.revoke", k.Label, tokenFacts(k), nil)
}

// RevokeAll ends the tokens of a user in the actor's tenant, and lets no program fetch one that the user has allowed before. The one
// that a server leaves on its own host stays: it has no end, and it is no proof of a password.
func RevokeAll(t *db.Tx, who app.Actor, user string, at time.Time) error {
	var all []identity.Token
	err := t.Each(func(row db.Scanner) error {
		var r tokenRow
		err := row.Scan(r.to()...)
		all = append(all, r.token())
		return err
	}, `SELECT `+tokenColumns+` FROM api_tokens k WHERE k.tenant = ? AND k.user_name = ? AND k.expires_at > 0 ORDER BY k.id`, who.Tenant, user)
	if err != nil {
		return err
	}
	for _, k := range all {
		if err := revokeToken(t, who, k, at); err != nil {
			return err
		}
	}
	return t.Exec(`DELETE FROM device_codes WHERE tenant = ? AND user_name = ?`, who.Tenant, user)
}

func noToken(id int64) error { return app.Errorf(app.ENotFound, "Token %d doesn't exist.", id) }
