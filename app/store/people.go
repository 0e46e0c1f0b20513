package store

import (
	"context"
	"fmt"
	"time"

	"muster/app"
)

// CreateUser implements app.PeopleStore.
func (s *Store) CreateUser(ctx context.Context, u app.User) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.count(`INSERT INTO users (tenant, name, role, password_hash, created_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, u.Tenant, u.Name, u.Role, u.PasswordHash, micros(u.CreatedAt))
		if err != nil {
			return err
		}
		if n == 0 {
			return app.Errorf(app.EConflict, "There is already a user %q.", u.Name)
		}
		return t.audit(u.CreatedAt, u.Tenant, u.Name, "user.create", u.Name, string(u.Role))
	})
}

// SetPassword implements app.PeopleStore.
func (s *Store) SetPassword(ctx context.Context, tenant, name, hash string) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.count(`UPDATE users SET password_hash = ? WHERE tenant = ? AND name = ?`, hash, tenant, name)
		if err == nil && n == 0 {
			err = noUser(name)
		}
		return err
	})
}

// User implements app.PeopleStore.
func (s *Store) User(ctx context.Context, tenant, name string) (app.User, error) {
	return scanUser(s.reads.QueryRowContext(ctx,
		`SELECT tenant, name, role, password_hash, created_at FROM users WHERE tenant = ? AND name = ?`, tenant, name), name)
}

// CountUsers implements app.PeopleStore.
func (s *Store) CountUsers(ctx context.Context) (n int, err error) {
	err = s.reads.QueryRowContext(ctx, `SELECT count(*) FROM users`).Scan(&n)
	return n, err
}

// CreateToken implements app.PeopleStore.
func (s *Store) CreateToken(ctx context.Context, tenant, user, label string, hash []byte, at time.Time) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.exec(`DELETE FROM tokens WHERE tenant = ? AND user_name = ? AND label = ?`, tenant, user, label); err != nil {
			return err
		}
		return t.exec(`INSERT INTO tokens (hash, tenant, user_name, label, created_at) VALUES (?, ?, ?, ?, ?)`,
			hash, tenant, user, label, micros(at))
	})
}

// UserOfToken implements app.PeopleStore.
func (s *Store) UserOfToken(ctx context.Context, hash []byte) (app.User, error) {
	return scanUser(s.reads.QueryRowContext(ctx, `SELECT u.tenant, u.name, u.role, u.password_hash, u.created_at
		FROM tokens t JOIN users u ON u.tenant = t.tenant AND u.name = t.user_name WHERE t.hash = ?`, hash), "")
}

func scanUser(row scanner, name string) (app.User, error) {
	var u app.User
	var created int64
	err := row.Scan(&u.Tenant, &u.Name, &u.Role, &u.PasswordHash, &created)
	if isNoRows(err) {
		return u, noUser(name)
	}
	if err != nil {
		return u, fmt.Errorf("store: user: %w", err)
	}
	u.CreatedAt = fromMicros(created)
	return u, nil
}

func noUser(name string) error {
	return app.Errorf(app.ENotFound, "There is no user %q.", name)
}
