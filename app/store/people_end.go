package store

import (
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
)

// What goes with a user, and what goes with or comes with a tenant. Rooms that keep something of a user or tenant add their
// function here; all run in the one transaction.
var (
	// userEnds drop what a user alone has. Clusters, receipts, usage and audit are the tenant's.
	userEnds = []func(t *tx, tenant, user string) error{
		dropTokensOf,
		dropMembershipsOf,
		dropSharesOf,
		dropSignInsOf,
	}
	// tenantEnds drop what a tenant has, but not its clusters, receipts, usage and audit.
	tenantEnds = []func(t *tx, tenant string) error{
		dropPeopleOf,
		dropHooksAndSecretsOf,
		dropBuildsOf,
		dropChatsOf,
		dropResourcesOf,
		dropCatalogOf,
	}
	// tenantCopies give a new tenant the settings of another one; docs/people.md lists them. Hooks and secrets are not copied:
	// they would tell one tenant's matters to the people of the other.
	tenantCopies = []tenantCopy{
		{"groups", copyGroups},
		{"policies", copyPolicies},
		{"quotas", copyQuotas},
		{"require_second_factor", copyFactorRule},
		{"visibility", copyVisibility},
	}
)

// tenantCopy copies one kind of setting; what names it in the audit.
type tenantCopy struct {
	what string
	copy func(t *tx, who app.Actor, from, to string, at time.Time) error
}

func dropTokensOf(t *tx, tenant, user string) error {
	return t.exec(`DELETE FROM api_tokens WHERE tenant = ? AND user_name = ?`, tenant, user)
}

func dropMembershipsOf(t *tx, tenant, user string) error {
	return t.exec(`DELETE FROM memberships WHERE tenant = ? AND user_name = ?`, tenant, user)
}

func dropPeopleOf(t *tx, tenant string) error {
	for _, table := range []string{"cluster_shares", "api_tokens", "memberships", "user_groups", "signins", "subjects", "identities", "second_factors", "recovery_codes", "users"} {
		if err := t.exec(`DELETE FROM `+table+` WHERE tenant = ?`, tenant); err != nil {
			return err
		}
	}
	return nil
}

// copyGroups leaves out the members, who have no account in the new tenant.
func copyGroups(t *tx, who app.Actor, from, to string, at time.Time) error {
	return t.exec(`INSERT INTO user_groups (tenant, name, about, created_at, created_by)
		SELECT ?, name, about, ?, ? FROM user_groups WHERE tenant = ?`, to, micros(at), who.Name(), from)
}

// dropSignInsOf forgets who the user is elsewhere, too: at the next sign-in there it would be a new account.
func dropSignInsOf(t *tx, tenant, user string) error {
	for _, table := range []string{"signins", "subjects", "identities", "second_factors", "recovery_codes"} {
		if err := t.exec(`DELETE FROM `+table+` WHERE tenant = ? AND user_name = ?`, tenant, user); err != nil {
			return err
		}
	}
	return nil
}

// dropHooksAndSecretsOf drops what could still be sent or opened. Policies and quotas say what held, and stay.
func dropHooksAndSecretsOf(t *tx, tenant string) error {
	if err := t.exec(`DELETE FROM hook_attempts WHERE delivery IN (SELECT id FROM hook_deliveries WHERE tenant = ?)`, tenant); err != nil {
		return err
	}
	for _, table := range []string{"hook_deliveries", "hooks", "secrets"} {
		if err := t.exec(`DELETE FROM `+table+` WHERE tenant = ?`, tenant); err != nil {
			return err
		}
	}
	return nil
}

func copyFactorRule(t *tx, _ app.Actor, from, to string, _ time.Time) error {
	return t.exec(`UPDATE tenants SET require_second_factor = (SELECT f.require_second_factor FROM tenants f WHERE f.name = ?) WHERE name = ?`, from, to)
}

// copyPolicies begins each policy that stands with its first version.
func copyPolicies(t *tx, who app.Actor, from, to string, at time.Time) error {
	var policies []app.Policy
	err := t.each(func(row scanner) error {
		var text []byte
		if err := row.Scan(&text); err != nil {
			return err
		}
		var p app.Policy
		if err := json.Unmarshal(text, &p); err != nil {
			return fmt.Errorf("policy: %w", err)
		}
		policies = append(policies, p)
		return nil
	}, `SELECT policy FROM policies WHERE tenant = ? AND stands = 1 ORDER BY name`, from)
	if err != nil {
		return err
	}
	by := in(who, to)
	for _, p := range policies {
		p.Version, p.SavedBy, p.SavedAt = 1, by.Name(), at
		if err := savePolicy(t, p, nil, by, at, "policy.save"); err != nil {
			return err
		}
	}
	return t.exec(`INSERT INTO policy_zones (tenant, zone) SELECT ?, zone FROM policy_zones WHERE tenant = ?`, to, from)
}

// copyQuotas leaves out those of single users, who have no account in the new tenant.
func copyQuotas(t *tx, who app.Actor, from, to string, at time.Time) error {
	return t.exec(`INSERT INTO quotas (tenant, scope, name, clusters, nodes, cpu, per_hour, per_month, changed_at, changed_by)
		SELECT ?, scope, name, clusters, nodes, cpu, per_hour, per_month, ?, ? FROM quotas WHERE tenant = ? AND scope <> 'user'`,
		to, micros(at), who.Name(), from)
}

// in gives the actor as it acts in a tenant, for the audit there.
func in(who app.Actor, tenant string) app.Actor {
	if who.Home == "" {
		who.Home = who.Tenant
	}
	who.Tenant = tenant
	return who
}
