package store

import (
	"context"
	"strings"
	"time"

	"muster/app"
)

// ReplaceToken implements app.PeopleStore.
func (s *Store) ReplaceToken(ctx context.Context, who app.Actor, k app.Token, hash []byte) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.exec(`DELETE FROM api_tokens WHERE tenant = ? AND user_name = ? AND label = ?`, k.Tenant, k.User, k.Label); err != nil {
			return err
		}
		_, err := t.addToken(who, k, hash)
		return err
	})
}

// addToken writes a token and the audit of it; it gives 0 where the user has one of that label.
func (t *tx) addToken(who app.Actor, k app.Token, hash []byte) (id int64, err error) {
	err = t.row(`INSERT INTO api_tokens (hash, tenant, user_name, label, scopes, created_by, created_at, expires_at, used_at, used_from)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '') ON CONFLICT DO NOTHING RETURNING id`,
		hash, k.Tenant, k.User, k.Label, scopeText(k.Scopes), k.CreatedBy, micros(k.CreatedAt), micros(k.ExpiresAt)).Scan(&id)
	if isNoRows(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return id, t.deed(k.CreatedAt, who, "token.create", k.Label, nil, tokenFacts(k))
}

// tokenFacts are what the audit keeps of a token.
func tokenFacts(k app.Token) map[string]any {
	facts := map[string]any{"user": k.User, "scopes": k.Scopes}
	if !k.ExpiresAt.IsZero() {
		facts["expires_at"] = k.ExpiresAt
	}
	return facts
}

const tokenColumns = `k.id, k.tenant, k.user_name, k.label, k.scopes, k.created_by, k.created_at, k.expires_at, k.used_at, k.used_from`

// tokenRow is a row of tokenColumns on its way.
type tokenRow struct {
	k                      app.Token
	scopes                 string
	created, expires, used int64
}

func (r *tokenRow) to() []any {
	return []any{&r.k.ID, &r.k.Tenant, &r.k.User, &r.k.Label, &r.scopes, &r.k.CreatedBy, &r.created, &r.expires, &r.used, &r.k.UsedFrom}
}

func (r *tokenRow) token() app.Token {
	k := r.k
	k.CreatedAt, k.ExpiresAt, k.UsedAt = fromMicros(r.created), fromMicros(r.expires), fromMicros(r.used)
	for _, s := range strings.Fields(r.scopes) {
		k.Scopes = append(k.Scopes, app.Scope(s))
	}
	return k
}

func scopeText(scopes []app.Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, " ")
}

// UserOfToken implements app.PeopleStore.
func (s *Store) UserOfToken(ctx context.Context, hash []byte) (app.User, app.Token, error) {
	var u app.User
	var r tokenRow
	found := false
	err := s.each(ctx, func(row scanner) error {
		found = true
		return scanUser(row, &u, r.to()...)
	}, `SELECT `+userColumns+`, coalesce(m.group_name, ''), `+tokenColumns+` FROM api_tokens k
		JOIN users u ON u.tenant = k.tenant AND u.name = k.user_name
		LEFT JOIN memberships m ON m.tenant = u.tenant AND m.user_name = u.name
		WHERE k.hash = ? ORDER BY m.group_name`, hash)
	if err == nil && !found {
		err = app.Errorf(app.ENotFound, "There is no such token.")
	}
	return u, r.token(), err
}

// UsedToken implements app.PeopleStore.
func (s *Store) UsedToken(ctx context.Context, k app.Token, at time.Time, from string) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.exec(`UPDATE api_tokens SET used_at = ?, used_from = ? WHERE id = ? AND used_at < ?`, micros(at), from, k.ID, micros(at)); err != nil {
			return err
		}
		return t.sawUser(k.Tenant, k.User, at)
	})
}
