package identity

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/store/db"
)

// Parts are what other packages keep of a tenant. All of it runs in the transaction that ends or makes the tenant.
type Parts struct {
	// Ends drop what a tenant has, but not its clusters, receipts, usage and audit.
	Ends []func(t *db.Tx, tenant string) error
	// Copies give a new tenant the settings of another one.
	Copies []TenantCopy
}

// TenantCopy copies one kind of setting; What names it in the audit.
type TenantCopy struct {
	What string
	Copy func(t *db.Tx, who app.Actor, from, to string, at time.Time) error
}

// userEnds drop what a user alone has. Clusters, receipts, usage and audit are the tenant's.
var userEnds = []func(t *db.Tx, tenant, user string) error{dropTokensOf, dropMembershipsOf, dropSharesOf, dropSignInsOf}

// ends drop what a tenant has.
func (p Parts) ends() []func(t *db.Tx, tenant string) error {
	return append([]func(t *db.Tx, tenant string) error{dropPeopleOf, dropHooksAndSecretsOf}, p.Ends...)
}

// copies give a new tenant the settings of another one; docs/people.md lists them. Hooks and secrets are not copied:
// they would tell one tenant's matters to the people of the other.
func (p Parts) copies() []TenantCopy {
	return slices.Concat([]TenantCopy{{"groups", copyGroups}}, p.Copies,
		[]TenantCopy{{"require_second_factor", copyFactorRule}, {"visibility", copyVisibility}})
}

func dropTokensOf(t *db.Tx, tenant, user string) error {
	return t.Exec(`DELETE FROM api_tokens WHERE tenant = ? AND user_name = ?`, tenant, user)
}

func dropMembershipsOf(t *db.Tx, tenant, user string) error {
	return t.Exec(`DELETE FROM memberships WHERE tenant = ? AND user_name = ?`, tenant, user)
}

func dropPeopleOf(t *db.Tx, tenant string) error {
	for _, table := range []string{"cluster_shares", "api_tokens", "memberships", "user_groups", "signins",
		"sso_subjects", "identities", "second_factors", "recovery_codes",
		"inbox", "notification_preferences", "notification_emails", "email_changes", "address_emails", "users"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE tenant = ?`, tenant); err != nil {
			return err
		}
	}
	return nil
}

// copyGroups leaves out the members, who have no account in the new tenant.
func copyGroups(t *db.Tx, who app.Actor, from, to string, at time.Time) error {
	return t.Exec(`INSERT INTO user_groups (tenant, name, about, created_at, created_by)
		SELECT ?, name, about, ?, ? FROM user_groups WHERE tenant = ?`, to, db.Micros(at), who.Name(), from)
}

// dropSignInsOf forgets who the user is elsewhere, too: at the next sign-in there it would be a new account.
func dropSignInsOf(t *db.Tx, tenant, user string) error {
	for _, table := range []string{"signins", "sso_subjects", "identities", "second_factors", "recovery_codes", "inbox", "notification_preferences",
		"notification_emails", "email_changes", "address_emails"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE tenant = ? AND user_name = ?`, tenant, user); err != nil {
			return err
		}
	}
	return nil
}

// dropHooksAndSecretsOf drops what could still be sent or opened. Policies and quotas say what held, and stay.
func dropHooksAndSecretsOf(t *db.Tx, tenant string) error {
	if err := t.Exec(`DELETE FROM webhook_attempts WHERE delivery IN (SELECT id FROM webhook_deliveries WHERE tenant = ?)`, tenant); err != nil {
		return err
	}
	for _, table := range []string{"webhook_deliveries", "webhooks", "secrets"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE tenant = ?`, tenant); err != nil {
			return err
		}
	}
	return nil
}

func copyFactorRule(t *db.Tx, _ app.Actor, from, to string, _ time.Time) error {
	return t.Exec(`UPDATE tenants SET require_second_factor = (SELECT f.require_second_factor FROM tenants f WHERE f.name = ?) WHERE name = ?`, from, to)
}

// ActingIn returns the actor as it acts in a tenant, for the audit there.
func ActingIn(who app.Actor, tenant string) app.Actor {
	if who.Home == "" {
		who.Home = who.Tenant
	}
	who.Tenant = tenant
	return who
}

// dropSharesOf drops what was shared with a user: another account of that name must not get it.
func dropSharesOf(t *db.Tx, tenant, user string) error {
	return t.Exec(`DELETE FROM cluster_shares WHERE tenant = ? AND person = ?`, tenant, user)
}

func copyVisibility(t *db.Tx, _ app.Actor, from, to string, _ time.Time) error {
	return t.Exec(`UPDATE tenants SET cluster_visibility = (SELECT f.cluster_visibility FROM tenants f WHERE f.name = ?) WHERE name = ?`, from, to)
}
