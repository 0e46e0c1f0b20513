package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"muster/app"
	"muster/app/settings"
	"muster/app/store/db"
)

// tenantVersionRows are the rows that a tenant's settings are, each with all that tells one state from another. What only tells when something was
// last used is left out.
var tenantVersionRows = []string{
	`SELECT cluster_visibility, about, CAST(slots AS TEXT) || '|' || CAST(require_second_factor AS TEXT) FROM tenants WHERE name = ?`,
	`SELECT currency, CAST(exchange_rate AS TEXT), idle_policy FROM tenants WHERE name = ?`,
	`SELECT 'zone', zone, '' FROM policy_zones WHERE tenant = ?`,
	`SELECT 'maintenance', settings, '' FROM maintenance_windows WHERE tenant = ? AND cluster = ''`,
	`SELECT name, full_name || '|' || email, role || '|' || CAST(disabled_at AS TEXT) FROM users WHERE tenant = ? ORDER BY name`,
	`SELECT name, about, '' FROM user_groups WHERE tenant = ? ORDER BY name`,
	`SELECT group_name, user_name, '' FROM memberships WHERE tenant = ? AND source = '' ORDER BY group_name, user_name`,
	`SELECT scope || ' ' || name, CAST(clusters AS TEXT) || '|' || CAST(nodes AS TEXT) || '|' || CAST(cpu AS TEXT), CAST(per_hour AS TEXT) || '|' || CAST(per_month AS TEXT)
		FROM quotas WHERE tenant = ? ORDER BY scope, name`,
	`SELECT name, CAST(version AS TEXT), '' FROM policies WHERE tenant = ? AND active = 1 ORDER BY name`,
	`SELECT name, CAST(set_at AS TEXT), '' FROM secrets WHERE tenant = ? ORDER BY name`,
	`SELECT name, CAST(id AS TEXT), CAST(changed_at AS TEXT) || '|' || CAST(secret_at AS TEXT) FROM webhooks WHERE tenant = ? ORDER BY name`,
	`SELECT name, id, CAST(changed_at AS TEXT) || '|' || CAST(secret_at AS TEXT) FROM build_hooks WHERE tenant = ? AND deleted_at = 0 ORDER BY name`,
	`SELECT name, CAST(id AS TEXT), CAST(target_size AS TEXT) || '|' || CAST(max_age AS TEXT) || '|' || mode FROM pools WHERE tenant = ? AND ended_at = 0 ORDER BY name`,
	`SELECT 'catalog', CAST(revision AS TEXT), '' FROM catalog_heads WHERE tenant = ?`,
	`SELECT r.family || '/' || r.member || '/' || r.kind || '/' || r.name, CAST(v.number AS TEXT), CAST(v.live AS TEXT)
		FROM resource_items r JOIN resource_versions v ON v.resource = r.id AND v.deleted_at = 0 WHERE r.tenant = ? ORDER BY r.family, r.member, r.kind, r.name, v.number`,
}

func tenantVersion(each func(func(db.Scanner) error, string, ...any) error, tenant string) (string, error) {
	sum := sha256.New()
	for _, query := range tenantVersionRows {
		fmt.Fprintf(sum, "%s\n", query)
		if err := each(func(row db.Scanner) error {
			var a, b, c string
			err := row.Scan(&a, &b, &c)
			fmt.Fprintf(sum, "%q %q %q\n", a, b, c)
			return err
		}, query, tenant); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

func (s *Store) TenantMark(ctx context.Context, tenant string) (string, error) {
	m, err := s.Moment(ctx)
	if err != nil {
		return "", err
	}
	defer m.Rollback()
	return tenantVersion(func(f func(db.Scanner) error, query string, args ...any) error {
		return db.Each(ctx, m, f, query, args...)
	}, tenant)
}

func (s *Store) InTransaction(ctx context.Context, who app.Actor, mark string, at time.Time, facts any, act func(ctx context.Context) error) error {
	inside := context.WithoutCancel(ctx) // who goes away must not break the batch
	return s.Write(ctx, func(t *db.Tx) error {
		if err := TenantExists(t, who.Tenant); err != nil {
			return err
		}
		now, err := tenantVersion(t.Each, who.Tenant)
		if err != nil {
			return err
		}
		if now != mark {
			return settings.TenantMoved()
		}
		if err := t.AddAudit(at, who, "tenant.import", who.Tenant, nil, facts); err != nil {
			return err
		}
		return act(t.Inside(inside))
	})
}
