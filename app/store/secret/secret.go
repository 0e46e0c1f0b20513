package secret

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/secret"
	"muster/app/store/db"
)

func secretAAD(tenant, name string) string { return "secrets/" + tenant + "/" + name }

func (s *Store) SetSecret(ctx context.Context, who app.Actor, name string, value []byte, at time.Time) error {
	sealed := s.Seal(value, secretAAD(who.Tenant, name))
	return s.Write(ctx, func(t *db.Tx) error {
		var others int
		var there bool
		if err := t.Row(`SELECT count(*) FROM secrets WHERE tenant = ? AND name <> ?`, who.Tenant, name).Scan(&others); err != nil {
			return err
		}
		if err := t.Row(`SELECT EXISTS (SELECT 1 FROM secrets WHERE tenant = ? AND name = ?)`, who.Tenant, name).Scan(&there); err != nil {
			return err
		}
		if others >= secret.MaxSecrets {
			return &app.Error{Code: app.EConflict, Message: fmt.Sprintf("A tenant can have at most %d secrets.", secret.MaxSecrets), Hint: "Delete secrets that are no longer used."}
		}
		if err := t.Exec(`INSERT INTO secrets (tenant, name, value, set_by, set_at, used_at) VALUES (?, ?, ?, ?, ?, 0)
			ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value, set_by = excluded.set_by, set_at = excluded.set_at`,
			who.Tenant, name, sealed, who.Name(), db.Micros(at)); err != nil {
			return err
		}
		var before any
		if there {
			before = "set"
		}
		return t.AddAudit(at, who, "secret.set", name, before, "set")
	})
}

func (s *Store) DeleteSecret(ctx context.Context, who app.Actor, name string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`DELETE FROM secrets WHERE tenant = ? AND name = ?`, who.Tenant, name)
		if err != nil {
			return err
		}
		if n == 0 {
			return app.Errorf(app.ENotFound, "Secret %q doesn't exist.", name)
		}
		return t.AddAudit(at, who, "secret.delete", name, "set", nil)
	})
}

func (s *Store) Secrets(ctx context.Context, tenant string) ([]app.Secret, error) {
	all := []app.Secret{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var v app.Secret
		var set, used int64
		err := row.Scan(&v.Name, &v.SetBy, &set, &used)
		v.SetAt = db.FromMicros(set)
		if used > 0 {
			at := db.FromMicros(used)
			v.UsedAt = &at
		}
		all = append(all, v)
		return err
	}, `SELECT name, set_by, set_at, used_at FROM secrets WHERE tenant = ? ORDER BY name`, tenant)
	return all, err
}

// usedEvery is how exactly it is known when a secret was last used: a big cluster asks for one thousands of times.
const usedEvery = time.Minute

func (s *Store) SecretValues(ctx context.Context, tenant string, names []string, at time.Time) (map[string]string, error) {
	values := map[string]string{}
	if len(names) == 0 {
		return values, nil
	}
	args := []any{tenant}
	for _, n := range names {
		args = append(args, n)
	}
	var stale []string
	err := s.Each(ctx, func(row db.Scanner) error {
		var name string
		var sealed []byte
		var used int64
		if err := row.Scan(&name, &sealed, &used); err != nil {
			return err
		}
		b, err := s.Unseal(sealed, secretAAD(tenant, name))
		if err != nil {
			return err
		}
		values[name] = string(b)
		if db.Micros(at)-used >= usedEvery.Microseconds() {
			stale = append(stale, name)
		}
		return nil
	}, `SELECT name, value, used_at FROM secrets WHERE tenant = ? AND name IN (?`+strings.Repeat(", ?", len(names)-1)+`)`, args...)
	if err != nil || len(stale) == 0 {
		return values, err
	}
	return values, s.Write(ctx, func(t *db.Tx) error {
		for _, n := range stale {
			if err := t.Exec(`UPDATE secrets SET used_at = ? WHERE tenant = ? AND name = ? AND used_at < ?`, db.Micros(at), tenant, n, db.Micros(at)); err != nil {
				return err
			}
		}
		return nil
	})
}
