package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	apppolicy "muster/app/policy"
	"muster/app/store/db"
	"muster/app/store/identity"
)

const policyColumns = `version, policy, saved_by, saved_at, deleted`

func scanPolicy(row db.Scanner) (p apppolicy.Policy, err error) {
	var text []byte
	var version int
	var saved, deleted int64
	var by string
	if err := row.Scan(&version, &text, &by, &saved, &deleted); err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("policy: %w", err)
	}
	p.Version, p.SavedBy, p.SavedAt, p.Deleted = version, by, db.FromMicros(saved), deleted != 0
	return p, nil
}

func (s *Store) Policies(ctx context.Context, tenant string) ([]apppolicy.Policy, error) {
	list, err := s.policies(ctx, `SELECT `+policyColumns+` FROM policies WHERE tenant = ? AND active = 1 ORDER BY name`, tenant)
	apppolicy.SortPolicies(list)
	return list, err
}

func (s *Store) PolicyVersions(ctx context.Context, tenant, name string) ([]apppolicy.Policy, error) {
	return s.policies(ctx, `SELECT `+policyColumns+` FROM policies WHERE tenant = ? AND name = ? ORDER BY version DESC LIMIT 1000`, tenant, name)
}

func (s *Store) policies(ctx context.Context, query string, args ...any) ([]apppolicy.Policy, error) {
	list := []apppolicy.Policy{}
	err := s.Each(ctx, func(row db.Scanner) error {
		p, err := scanPolicy(row)
		list = append(list, p)
		return err
	}, query, args...)
	return list, err
}

func (s *Store) SavePolicy(ctx context.Context, p apppolicy.Policy, who app.Actor, now time.Time) (saved apppolicy.Policy, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		had, last, err := policy(t, who.Tenant, p.Name)
		if err != nil {
			return err
		}
		if p.Version != 0 && (had == nil || had.Version != p.Version) {
			return &app.Error{Code: app.EConflict, Reason: "version", Message: fmt.Sprintf("Policy %s has changed since you opened it.", p.Name), Hint: "Reload the policy, then make your change."}
		}
		if had == nil {
			var n int
			if err := t.Row(`SELECT count(*) FROM policies WHERE tenant = ? AND active = 1`, who.Tenant).Scan(&n); err != nil {
				return fmt.Errorf("store: %w", err)
			}
			if n >= apppolicy.MaxPolicies {
				return &app.Error{Code: app.EConflict, Message: fmt.Sprintf("You've reached the limit of %d policies.", n), Hint: "Delete or combine some."}
			}
		}
		saved = p
		saved.Version, saved.SavedBy, saved.SavedAt, saved.Deleted = last+1, who.Name(), db.FromMicros(db.Micros(now)), false
		return savePolicy(t, saved, had, who, now, "policy.save")
	})
	return saved, err
}

// policy returns the version that exists, nil for none, and the number of the last.
func policy(t *db.Tx, tenant, name string) (had *apppolicy.Policy, last int, err error) {
	if err := t.Row(`SELECT coalesce(max(version), 0) FROM policies WHERE tenant = ? AND name = ?`, tenant, name).Scan(&last); err != nil {
		return nil, 0, fmt.Errorf("store: policy: %w", err)
	}
	p, err := scanPolicy(t.Row(`SELECT `+policyColumns+` FROM policies WHERE tenant = ? AND name = ? AND active = 1`, tenant, name))
	if db.IsNoRows(err) {
		return nil, last, nil
	}
	return &p, last, err
}

func savePolicy(t *db.Tx, p apppolicy.Policy, had *apppolicy.Policy, who app.Actor, now time.Time, act string) error {
	if err := t.Exec(`UPDATE policies SET active = 0 WHERE tenant = ? AND name = ? AND active = 1`, who.Tenant, p.Name); err != nil {
		return err
	}
	if err := t.Exec(`INSERT INTO policies (tenant, name, version, active, policy, saved_by, saved_at, deleted) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		who.Tenant, p.Name, p.Version, db.Flag(!p.Deleted), db.JSON(p), p.SavedBy, db.Micros(now), db.Flag(p.Deleted)); err != nil {
		return err
	}
	var before, after any
	if had != nil {
		before = *had
	}
	if !p.Deleted {
		after = p
	}
	return t.AddAudit(now, who, act, p.Name, before, after)
}

func (s *Store) DeletePolicy(ctx context.Context, name string, who app.Actor, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		had, last, err := policy(t, who.Tenant, name)
		if err != nil {
			return err
		}
		if had == nil {
			return app.Errorf(app.ENotFound, "Policy %q doesn't exist.", name)
		}
		gone := *had
		gone.Version, gone.SavedBy, gone.Deleted = last+1, who.Name(), true
		return savePolicy(t, gone, had, who, now, "policy.delete")
	})
}

func (s *Store) TimeZone(ctx context.Context, tenant string) (zone string, err error) {
	err = s.Row(ctx, `SELECT zone FROM policy_zones WHERE tenant = ?`, tenant).Scan(&zone)
	if db.IsNoRows(err) {
		return "UTC", nil
	}
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	return zone, nil
}

func (s *Store) SetTimeZone(ctx context.Context, who app.Actor, zone string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var before any
		var had string
		switch err := t.Row(`SELECT zone FROM policy_zones WHERE tenant = ?`, who.Tenant).Scan(&had); {
		case err == nil:
			before = had
		case !db.IsNoRows(err):
			return fmt.Errorf("store: %w", err)
		}
		if err := t.Exec(`INSERT INTO policy_zones (tenant, zone) VALUES (?, ?) ON CONFLICT (tenant) DO UPDATE SET zone = excluded.zone`, who.Tenant, zone); err != nil {
			return err
		}
		return t.AddAudit(now, who, "policy.time_zone", "policies", before, zone)
	})
}

// CopyPolicies begins each existing policy with its first version.
func CopyPolicies(t *db.Tx, who app.Actor, from, to string, at time.Time) error {
	var policies []apppolicy.Policy
	err := t.Each(func(row db.Scanner) error {
		var text []byte
		if err := row.Scan(&text); err != nil {
			return err
		}
		var p apppolicy.Policy
		if err := json.Unmarshal(text, &p); err != nil {
			return fmt.Errorf("policy: %w", err)
		}
		policies = append(policies, p)
		return nil
	}, `SELECT policy FROM policies WHERE tenant = ? AND active = 1 ORDER BY name`, from)
	if err != nil {
		return err
	}
	by := identity.ActingIn(who, to)
	for _, p := range policies {
		p.Version, p.SavedBy, p.SavedAt = 1, by.Name(), at
		if err := savePolicy(t, p, nil, by, at, "policy.save"); err != nil {
			return err
		}
	}
	return t.Exec(`INSERT INTO policy_zones (tenant, zone) SELECT ?, zone FROM policy_zones WHERE tenant = ?`, to, from)
}
