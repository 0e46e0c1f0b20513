package user

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/db"
)

func (s *Store) CreateUser(ctx context.Context, u identity.User) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`INSERT INTO tenants (name, about, slots, created_at, created_by, copied_from, deleting_at) VALUES (?, '', 0, ?, '', '', 0)
			ON CONFLICT DO NOTHING`, u.Tenant, db.Micros(u.CreatedAt)); err != nil {
			return err
		}
		return Add(t, app.Actor{Tenant: u.Tenant, User: u.Name, Via: app.ViaServer}, u)
	})
}

// Add writes an account, its groups and the audit of it.
func Add(t *db.Tx, who app.Actor, u identity.User) error {
	n, err := t.Count(`INSERT INTO users (tenant, name, full_name, email, role, password_hash, must_change_password, disabled_at, password_at, created_at, created_by, seen_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, u.Tenant, u.Name, u.FullName, u.Email, u.Role, u.PasswordHash,
		db.Flag(u.MustChange), db.Micros(u.DisabledAt), db.Micros(u.CreatedAt), db.Micros(u.CreatedAt), u.CreatedBy, db.Micros(u.SeenAt))
	if err != nil {
		return err
	}
	if n == 0 {
		return &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("User %q already exists.", u.Name)}
	}
	return t.AddAudit(u.CreatedAt, who, "user.create", u.Name, nil, Facts(u))
}

// Facts are what the audit keeps of an account.
func Facts(u identity.User) map[string]any {
	facts := map[string]any{"role": u.Role}
	if u.FullName != "" {
		facts["full_name"] = u.FullName
	}
	if u.Email != "" {
		facts["email"] = u.Email
	}
	if u.Disabled() {
		facts["disabled"] = true
	}
	return facts
}

// Columns are those of a user u, as Scan scans them before the group.
const Columns = `u.tenant, u.name, u.full_name, u.email, u.role, u.password_hash, u.must_change_password, u.disabled_at, u.created_at, u.created_by, u.seen_at,
	EXISTS (SELECT 1 FROM second_factors f WHERE f.tenant = u.tenant AND f.user_name = u.name AND f.confirmed_at > 0 AND f.started_at >= u.created_at),
	EXISTS (SELECT 1 FROM tenants n WHERE n.name = u.tenant AND n.require_second_factor = 1)`

func (s *Store) User(ctx context.Context, tenant, name string) (identity.User, error) {
	return Find(ctx, s.DB, tenant, name)
}

// Find reads an account as it was last committed.
func Find(ctx context.Context, d *db.DB, tenant, name string) (identity.User, error) {
	return userOf(func(f func(db.Scanner) error, query string, args ...any) error { return d.Each(ctx, f, query, args...) }, tenant, name)
}

// Read reads an account as the transaction sees it.
func Read(t *db.Tx, tenant, name string) (identity.User, error) { return userOf(t.Each, tenant, name) }

// userOf reads an account. One statement returns the account and its groups, so that both are of one moment.
func userOf(each func(func(db.Scanner) error, string, ...any) error, tenant, name string) (u identity.User, err error) {
	found := false
	err = each(func(row db.Scanner) error {
		found = true
		return Scan(row, &u)
	}, `SELECT `+Columns+`, coalesce(m.group_name, '') FROM users u
		LEFT JOIN memberships m ON m.tenant = u.tenant AND m.user_name = u.name
		WHERE u.tenant = ? AND u.name = ? ORDER BY m.group_name`, tenant, name)
	if err == nil && !found {
		err = NoUser(name)
	}
	return u, err
}

// Scan reads a row of an account and one of its groups into the account; more are further columns behind.
func Scan(row db.Scanner, u *identity.User, more ...any) error {
	var mustChange, disabled, created, seen int64
	var group string
	to := append([]any{&u.Tenant, &u.Name, &u.FullName, &u.Email, &u.Role, &u.PasswordHash, &mustChange, &disabled, &created, &u.CreatedBy, &seen, &u.SecondFactor, &u.FactorRequired, &group}, more...)
	if err := row.Scan(to...); err != nil {
		return err
	}
	u.MustChange, u.DisabledAt, u.CreatedAt, u.SeenAt = mustChange != 0, db.FromMicros(disabled), db.FromMicros(created), db.FromMicros(seen)
	// Two sources may name the same group; the rows come in the order of groups.
	if group != "" && (len(u.Groups) == 0 || u.Groups[len(u.Groups)-1] != group) {
		u.Groups = append(u.Groups, group)
	}
	return nil
}

func (s *Store) CountUsers(ctx context.Context) (n int, err error) {
	err = s.Row(ctx, `SELECT count(*) FROM users`).Scan(&n)
	return n, err
}

// Saw notes when a user was last seen.
func Saw(t *db.Tx, tenant, name string, at time.Time) error {
	return t.Exec(`UPDATE users SET seen_at = ? WHERE tenant = ? AND name = ? AND seen_at < ?`, db.Micros(at), tenant, name, db.Micros(at))
}

// NoUser is the error for an account that is not there.
func NoUser(name string) error {
	return app.Errorf(app.ENotFound, "User %q doesn't exist.", name)
}
