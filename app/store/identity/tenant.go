package identity

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/db"
	"muster/app/store/user"
)

const tenantRows = `SELECT t.name, t.about, t.slots, t.created_at, t.created_by, t.copied_from, t.require_second_factor = 1, t.currency, t.exchange_rate,
	(SELECT count(*) FROM users u WHERE u.tenant = t.name),
	(SELECT count(*) FROM clusters c WHERE c.tenant = t.name AND c.deleted_at = 0 AND c.pool = 0),
	(SELECT CAST(coalesce(sum(s.slots), 0) AS BIGINT) FROM provisioner_shares s WHERE s.tenant = t.name)
	FROM tenants t WHERE t.deleting_at = 0`

func scanTenant(row db.Scanner) (t identity.Tenant, err error) {
	var created int64
	err = row.Scan(&t.Name, &t.About, &t.Slots, &created, &t.CreatedBy, &t.From, &t.RequireSecondFactor, &t.Currency, &t.ExchangeRate, &t.Users, &t.Clusters, &t.SlotsGranted)
	t.CreatedAt = db.FromMicros(created)
	return t, err
}

func (s *Store) Tenants(ctx context.Context) ([]identity.Tenant, error) {
	all := []identity.Tenant{}
	err := s.Each(ctx, func(row db.Scanner) error {
		t, err := scanTenant(row)
		all = append(all, t)
		return err
	}, tenantRows+` ORDER BY t.name`)
	return all, err
}

func (s *Store) TenantNames(ctx context.Context) ([]string, error) {
	names := []string{}
	return names, s.Each(ctx, db.Texts(&names), `SELECT name FROM tenants WHERE deleting_at = 0 ORDER BY name`)
}

func (s *Store) Tenant(ctx context.Context, name string) (identity.Tenant, error) {
	t, err := scanTenant(s.Row(ctx, tenantRows+` AND t.name = ?`, name))
	return t, tenantError(name, err)
}

func tenantError(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case db.IsNoRows(err):
		return app.Errorf(app.ENotFound, "Tenant %q doesn't exist.", name)
	}
	return fmt.Errorf("store: tenant: %w", err)
}

// TenantExists refuses what begins in a tenant that is not there, or was deleted a moment ago.
func TenantExists(t *db.Tx, name string) error {
	var closing int64
	err := t.Row(`SELECT deleting_at FROM tenants WHERE name = ?`, name).Scan(&closing)
	if db.IsNoRows(err) || err == nil && closing > 0 {
		return app.Errorf(app.ENotFound, "Tenant %q doesn't exist.", name)
	}
	return err
}

// TenantOpen refuses what begins in a tenant that was deleted a moment ago. Tests have tenants that were never made.
func TenantOpen(t *db.Tx, name string) error {
	var closing int64
	err := t.Row(`SELECT deleting_at FROM tenants WHERE name = ?`, name).Scan(&closing)
	if err == nil && closing > 0 {
		return app.Errorf(app.ENotFound, "Tenant %q no longer exists.", name)
	}
	if db.IsNoRows(err) {
		return nil
	}
	return err
}

func (s *Store) CreateTenant(ctx context.Context, who app.Actor, n identity.Tenant, admin *identity.User) error {
	return s.Write(ctx, func(t *db.Tx) error {
		added, err := t.Count(`INSERT INTO tenants (name, about, slots, currency, exchange_rate, created_at, created_by, copied_from, deleting_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING`, n.Name, n.About, n.Slots, n.Currency, n.ExchangeRate, db.Micros(n.CreatedAt), n.CreatedBy, n.From)
		if err != nil {
			return err
		}
		if added == 0 {
			return tenantTaken(t, n.Name)
		}
		copied := []string{}
		if n.From != "" {
			if err := TenantExists(t, n.From); err != nil || n.From == n.Name {
				return &app.Error{Code: app.EInvalid, Field: "from", Message: fmt.Sprintf("Tenant %q, to copy settings from, doesn't exist.", n.From)}
			}
			for _, c := range s.parts.copies() {
				if err := c.Copy(t, who, n.From, n.Name, n.CreatedAt); err != nil {
					return err
				}
				copied = append(copied, c.What)
			}
		}
		facts := tenantFacts(n)
		if n.From != "" {
			facts["from"], facts["copied"] = n.From, copied
		}
		if err := t.AddAudit(n.CreatedAt, who, "tenant.create", n.Name, nil, facts); err != nil {
			return err
		}
		if admin == nil {
			return nil
		}
		// The audit of the new tenant begins with it.
		if err := user.Add(t, ActingIn(who, n.Name), *admin); err != nil {
			return err
		}
		return putInto(t, n.Name, admin.Name, admin.Groups)
	})
}

func tenantTaken(t *db.Tx, name string) error {
	e := &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("Tenant %q already exists.", name)}
	if app.CodeOf(TenantExists(t, name)) == app.ENotFound {
		e.Message = fmt.Sprintf("The name %q belongs to a deleted tenant whose records are kept.", name)
		e.Hint = "Choose another name."
	}
	return e
}

func tenantFacts(t identity.Tenant) map[string]any {
	facts := map[string]any{"about": t.About, "slots": t.Slots}
	if t.Currency != "" {
		facts["currency"], facts["exchange_rate"] = t.Currency, t.ExchangeRate
	}
	return facts
}

func (s *Store) ChangeTenant(ctx context.Context, who app.Actor, name string, c identity.TenantChange, at time.Time) (after identity.Tenant, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		before, err := scanTenant(t.Row(tenantRows+` AND t.name = ?`, name))
		if err := tenantError(name, err); err != nil {
			return err
		}
		after = before
		if c.About != nil {
			after.About = *c.About
		}
		if c.Slots != nil {
			after.Slots = *c.Slots
		}
		if c.Currency != nil {
			after.Currency = *c.Currency
		}
		if c.ExchangeRate != nil {
			after.ExchangeRate = *c.ExchangeRate
		}
		if after.Currency != before.Currency {
			if err := noCosts(t, name); err != nil {
				return err
			}
		}
		if err := t.Exec(`UPDATE tenants SET about = ?, slots = ?, currency = ?, exchange_rate = ? WHERE name = ?`,
			after.About, after.Slots, after.Currency, after.ExchangeRate, name); err != nil {
			return err
		}
		if after.Slots != before.Slots {
			if err := SharesChanged(t); err != nil { // anyone who balances begins again
				return err
			}
		}
		return t.AddAudit(at, who, "tenant.change", name, tenantFacts(before), tenantFacts(after))
	})
	return after, err
}

// noCosts refuses another currency for a tenant whose costs and budgets would then be of the wrong one.
func noCosts(t *db.Tx, name string) error {
	var costs, budgets bool
	err := t.Row(`SELECT EXISTS (SELECT 1 FROM resources WHERE tenant = ? AND price > 0) OR EXISTS (SELECT 1 FROM reservations WHERE tenant = ? AND cost > 0),
		EXISTS (SELECT 1 FROM quotas WHERE tenant = ? AND (per_hour >= 0 OR per_month >= 0))`, name, name, name).Scan(&costs, &budgets)
	refusal := &app.Error{Code: app.EConflict, Reason: "has_costs", Field: "currency"}
	switch {
	case err != nil:
		return err
	case costs:
		refusal.Message = fmt.Sprintf("The currency of tenant %s can't change, because it already has costs.", name)
		refusal.Hint = "The exchange rate can change at any time. For another currency, create another tenant."
	case budgets:
		refusal.Message = fmt.Sprintf("The currency of tenant %s can't change while it has budgets.", name)
		refusal.Hint = "Remove the limits per hour and per month from its quotas first, and set them again in the new currency."
	default:
		return nil
	}
	return refusal
}

func (s *Store) DeleteTenant(ctx context.Context, who app.Actor, name string, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		before, err := scanTenant(t.Row(tenantRows+` AND t.name = ?`, name))
		if err := tenantError(name, err); err != nil {
			return err
		}
		left, err := tenantLeft(t, name)
		if err != nil {
			return err
		}
		if !left.Nothing() {
			return left.Refusal(name)
		}
		for _, end := range s.parts.ends() {
			if err := end(t, name); err != nil {
				return err
			}
		}
		if err := t.Exec(`UPDATE tenants SET deleting_at = ? WHERE name = ?`, db.Micros(at), name); err != nil {
			return err
		}
		facts := tenantFacts(before)
		facts["users"] = before.Users
		return t.AddAudit(at, who, "tenant.delete", name, facts, nil)
	})
}

// tenantLeft finds what may still stand in a cloud for a tenant.
func tenantLeft(t *db.Tx, name string) (l identity.TenantLeftovers, err error) {
	for _, q := range []struct {
		into  *[]string
		query string
	}{
		{&l.Live, `SELECT name || ' (' || id || ')' FROM clusters WHERE tenant = ? AND deleted_at = 0 AND pool = 0 ORDER BY number`},
		{&l.Live, `SELECT 'the pool ' || name FROM pools WHERE tenant = ? AND ended_at = 0 ORDER BY name`},
		// Those of clusters that live go with them.
		{&l.Live, `SELECT 'the volume ' || v.id FROM volumes v LEFT JOIN clusters c ON c.id = v.cluster AND c.deleted_at = 0
			WHERE v.tenant = ? AND v.deleted_at = 0 AND c.id IS NULL ORDER BY v.id`},
		{&l.Live, `SELECT 'the snapshot ' || id FROM volume_snapshots WHERE tenant = ? AND deleted_at = 0 ORDER BY id`},
		{&l.Live, `SELECT 'the baked image ' || CAST(id AS TEXT) FROM baked_images WHERE tenant = ?
			AND (state IN ('building', 'ready') OR state = 'deleting' AND provider_image <> '') ORDER BY id`},
		{&l.Unproven, `SELECT name || ' (' || id || ')' FROM clusters WHERE tenant = ? AND deleted_at > 0 AND deletion_verified_at = 0 ORDER BY number`},
		{&l.Orphans, `SELECT provider || ' ' || machine FROM orphans WHERE tenant = ? AND gone_at = 0 ORDER BY provider, machine`},
		// Of clusters that live, the line above has said it.
		{&l.Intents, `SELECT i.node || ' of ' || i.cluster FROM intents i LEFT JOIN clusters c ON c.id = i.cluster AND c.deleted_at = 0
			WHERE i.tenant = ? AND i.ended_at = 0 AND c.id IS NULL ORDER BY i.cluster, i.node`},
		{&l.Requests, `SELECT CAST(id AS TEXT) FROM requests WHERE tenant = ? AND status IN ('waiting', 'offered', 'scheduled') ORDER BY id`},
	} {
		if err := t.Each(db.Texts(q.into), q.query, name); err != nil {
			return l, err
		}
	}
	return l, nil
}

// SharesChanged notes, within a write, that provisioners or shares are others now.
func SharesChanged(t *db.Tx) error {
	t.Topics[app.SharesTopic()] = true
	return t.Exec(`INSERT INTO sequences (name, value) VALUES ('shares', 1) ON CONFLICT (name) DO UPDATE SET value = sequences.value + 1`)
}
