package app

import (
	"fmt"
	"slices"

	"muster/app/humanize"
)

// Above reports whether a role is mightier than another.
func (r Role) Above(other Role) bool { return slices.Index(Roles, r) < slices.Index(Roles, other) }

// Privileged reports whether a role manages others.
func (r Role) Privileged() bool { return r == RoleSuperadmin || r == RoleAdmin }

// MayGrant reports whether the actor may give a role to an account of a tenant.
func (a Actor) MayGrant(r Role, tenant string) error {
	switch {
	case !r.Known():
		return &Error{Code: EInvalid, Field: "role", Message: fmt.Sprintf("Unknown role %q.", r), Hint: "Use one of " + humanize.Or(RoleNames()) + "."}
	case r.Above(a.Role):
		return &Error{Code: EForbidden, Reason: "role", Field: "role", Message: fmt.Sprintf("Only a %s can assign the role %s.", r, r)}
	case r == RoleSuperadmin && tenant != DefaultTenant:
		return &Error{Code: EInvalid, Field: "role", Message: fmt.Sprintf("Superadmin accounts must be in the tenant %q.", DefaultTenant), Hint: "Create the account there. It can act in every tenant."}
	}
	return a.NotByToken(r)
}

// NotByToken keeps a token that leaked from making itself an account that lasts. The token for the server's own host has all
// rights of its user, and no scopes.
func (a Actor) NotByToken(r Role) error {
	if r.Privileged() && len(a.Scopes) > 0 {
		return &Error{Code: EForbidden, Reason: "sign_in", Message: "Admin accounts can't be created or changed with an API token.", Hint: "Sign in at the portal to create or change them."}
	}
	return nil
}

func RoleNames() []string {
	names := make([]string, len(Roles))
	for i, r := range Roles {
		names[i] = string(r)
	}
	return names
}
