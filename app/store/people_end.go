package store

import (
	"time"

	"muster/app"
)

// What goes with a user, and what goes with or comes with a tenant. Rooms that keep something of a user or tenant add their
// function here; all run in the one transaction.
var (
	// userEnds drop what a user alone has. Clusters, receipts, usage and audit are the tenant's.
	userEnds = []func(t *tx, tenant, user string) error{
		(*tx).dropTokensOf,
		(*tx).dropMembershipsOf,
	}
	// tenantEnds drop what a tenant has, but not its clusters, receipts, usage and audit.
	tenantEnds = []func(t *tx, tenant string) error{
		(*tx).dropPeopleOf,
	}
	// tenantCopies give a new tenant the settings of another one; docs/people.md lists them.
	tenantCopies = []tenantCopy{
		{"groups", (*tx).copyGroups},
	}
)

// tenantCopy copies one kind of setting; what names it in the audit.
type tenantCopy struct {
	what string
	copy func(t *tx, who app.Actor, from, to string, at time.Time) error
}

func (t *tx) dropTokensOf(tenant, user string) error {
	return t.exec(`DELETE FROM api_tokens WHERE tenant = ? AND user_name = ?`, tenant, user)
}

func (t *tx) dropMembershipsOf(tenant, user string) error {
	return t.exec(`DELETE FROM memberships WHERE tenant = ? AND user_name = ?`, tenant, user)
}

func (t *tx) dropPeopleOf(tenant string) error {
	for _, table := range []string{"api_tokens", "memberships", "user_groups", "users"} {
		if err := t.exec(`DELETE FROM `+table+` WHERE tenant = ?`, tenant); err != nil {
			return err
		}
	}
	return nil
}

// copyGroups leaves out the members, who have no account in the new tenant.
func (t *tx) copyGroups(who app.Actor, from, to string, at time.Time) error {
	return t.exec(`INSERT INTO user_groups (tenant, name, about, created_at, created_by)
		SELECT ?, name, about, ?, ? FROM user_groups WHERE tenant = ?`, to, micros(at), who.Name(), from)
}
