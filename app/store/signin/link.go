package signin

import (
	"context"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/db"
	userdb "muster/app/store/user"
)

func (s *Store) SaveLink(ctx context.Context, hash []byte, l identity.Link) error {
	return s.Write(ctx, func(t *db.Tx) error {
		// Those that are over are kept for a day, so that people are notified that they came too late.
		if err := t.Exec(`DELETE FROM identity_links WHERE expires_at < ? OR kind = ? AND external = ? AND used_at = 0`,
			db.Micros(l.At.Add(-24*time.Hour)), l.Kind, l.External); err != nil {
			return err
		}
		return t.Exec(`INSERT INTO identity_links (hash, kind, external, label, at, expires_at, used_at) VALUES (?, ?, ?, ?, ?, ?, 0)`,
			hash, l.Kind, l.External, l.Label, db.Micros(l.At), db.Micros(l.ExpiresAt))
	})
}

const linkByHash = `SELECT kind, external, label, at, expires_at, used_at FROM identity_links WHERE hash = ?`

func scanLink(row db.Scanner) (l identity.Link, err error) {
	var at, expires, used int64
	err = row.Scan(&l.Kind, &l.External, &l.Label, &at, &expires, &used)
	if db.IsNoRows(err) {
		err = &app.Error{Code: app.ENotFound, Reason: "no_link", Message: "This link is invalid.", Hint: "It may be incomplete, or replaced by a newer one. Request a new link where you got this one."}
	}
	l.At, l.ExpiresAt, l.UsedAt = db.FromMicros(at), db.FromMicros(expires), db.FromMicros(used)
	return l, err
}

func (s *Store) Link(ctx context.Context, hash []byte) (identity.Link, error) {
	return scanLink(s.Row(ctx, linkByHash, hash))
}

func (s *Store) UseLink(ctx context.Context, who app.Actor, hash []byte, at time.Time) (i identity.Identity, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		l, err := scanLink(t.Row(linkByHash, hash))
		if err != nil {
			return err
		}
		if err := l.Unusable(at); err != nil {
			return err
		}
		i = identity.Identity{Kind: l.Kind, External: l.External, Label: l.Label, Tenant: who.Tenant, User: who.User, At: at}
		taken, _, err := ScanIdentity(t.Each, l.Kind, l.External)
		if err == nil {
			err = taken.Taken(who)
		}
		if err != nil && app.CodeOf(err) != app.ENotFound {
			return err
		}
		if err := t.Exec(`UPDATE identity_links SET used_at = ? WHERE hash = ?`, db.Micros(at), hash); err != nil {
			return err
		}
		// A row may be left of an account that is gone, or of the same account with an older label.
		if err := t.Exec(`INSERT INTO identities (kind, external, label, tenant, user_name, at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (kind, external) DO UPDATE SET label = excluded.label, tenant = excluded.tenant, user_name = excluded.user_name, at = excluded.at`,
			i.Kind, i.External, i.Label, i.Tenant, i.User, db.Micros(i.At)); err != nil {
			return err
		}
		if err := homeTurns(t, i.Kind, i.External, at); err != nil {
			return err
		}
		return t.AddAudit(at, who, "identity.link", i.Kind+"/"+i.External, nil, map[string]any{"user": i.User, "label": i.Label})
	})
	return i, err
}

// ScanIdentity reads an identity with its account, from a read or within a transaction.
func ScanIdentity(each func(f func(db.Scanner) error, query string, args ...any) error, kind, external string) (i identity.Identity, u identity.User, err error) {
	found := false
	var at int64
	err = each(func(row db.Scanner) error {
		found = true
		return userdb.Scan(row, &u, &i.Kind, &i.External, &i.Label, &i.Tenant, &i.User, &at)
	}, `SELECT `+userdb.Columns+`, coalesce(m.group_name, ''), i.kind, i.external, i.label, i.tenant, i.user_name, i.at FROM identities i
		JOIN users u ON u.tenant = i.tenant AND u.name = i.user_name AND u.created_at <= i.at
		LEFT JOIN memberships m ON m.tenant = u.tenant AND m.user_name = u.name
		WHERE i.kind = ? AND i.external = ? ORDER BY m.group_name`, kind, external)
	if err == nil && !found {
		err = app.Errorf(app.ENotFound, "The identity doesn't exist.")
	}
	i.At = db.FromMicros(at)
	return i, u, err
}

func (s *Store) Identity(ctx context.Context, kind, external string) (identity.Identity, identity.User, error) {
	return ScanIdentity(func(f func(db.Scanner) error, query string, args ...any) error { return s.Each(ctx, f, query, args...) }, kind, external)
}

func (s *Store) Identities(ctx context.Context, tenant, user string) ([]identity.Identity, error) {
	list := []identity.Identity{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var i identity.Identity
		var at int64
		if err := row.Scan(&i.Kind, &i.External, &i.Label, &i.Tenant, &i.User, &at); err != nil {
			return err
		}
		i.At = db.FromMicros(at)
		list = append(list, i)
		return nil
	}, `SELECT i.kind, i.external, i.label, i.tenant, i.user_name, i.at FROM identities i
		JOIN users u ON u.tenant = i.tenant AND u.name = i.user_name AND u.created_at <= i.at
		WHERE i.tenant = ? AND i.user_name = ? ORDER BY i.kind, i.label, i.external LIMIT 200`, tenant, user)
	return list, err
}

func (s *Store) RemoveIdentity(ctx context.Context, who app.Actor, user, kind, external string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`DELETE FROM identities WHERE tenant = ? AND user_name = ? AND kind = ? AND external = ?`, who.Tenant, user, kind, external)
		if err != nil {
			return err
		}
		if n == 0 {
			return app.Errorf(app.ENotFound, "This identity isn't linked.")
		}
		if err := homeTurns(t, kind, external, at); err != nil {
			return err
		}
		return t.AddAudit(at, who, "identity.remove", kind+"/"+external, map[string]any{"user": user}, nil)
	})
}

// homeTurns marks the home of someone who is linked to an account, or is no more.
func homeTurns(t *db.Tx, kind, external string, at time.Time) error {
	team, person, _ := strings.Cut(external, "/")
	return t.Exec(`UPDATE chat_homes SET stale = ? WHERE kind = ? AND team = ? AND person = ?`, db.Micros(at), kind, team, person)
}
