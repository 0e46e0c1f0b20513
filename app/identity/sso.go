package identity

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/humanize"
)

// Grant is what an identity provider's groups give a person in one tenant.
type Grant struct {
	Tenant string   `json:"tenant"`
	Role   app.Role `json:"role"`
	Groups []string `json:"groups,omitempty"` // sorted
}

// Subject is a person as an identity provider or a directory tells of them. Issuer and ID are proven; the rest is what it says.
type Subject struct {
	// How is by what they proved who they are; "" is ByOIDC.
	How      SignInHow `json:"how,omitempty"`
	Provider string    `json:"provider"` // its name here
	Label    string    `json:"label"`    // its name for people
	Issuer   string    `json:"issuer"`
	ID       string    `json:"id"`   // unique at the issuer, and never anybody else's, such as the claim sub
	Name     string    `json:"name"` // of the account that is made at the first sign-in
	FullName string    `json:"full_name,omitempty"`
	Login    string    `json:"login,omitempty"` // what they entered as their name, at a directory
	Email    string    `json:"email,omitempty"` // verified, or ""
	Grants   []Grant   `json:"grants"`          // one for each tenant, sorted by tenant
}

// SignInBy signs in who has proved at an identity provider who they are. Where several tenants are open to them, one must be
// named; "" returns EConflict with reason choose_tenant. EForbidden where none is.
func (a *SignIns) SignInBy(ctx context.Context, s Subject, tenant string, v Visit) (Session, error) {
	if s.Issuer == "" || s.ID == "" {
		return Session{}, app.Errorf(app.EUnauthorized, "The identity provider didn't say who you are.")
	}
	if err := checkUserName(s.Name); err != nil {
		return Session{}, &app.Error{Code: app.EForbidden, Reason: "name", Message: fmt.Sprintf("%s calls you %q, which isn't a valid user name in Muster.", cmp.Or(s.Label, s.Provider), s.Name),
			Hint: "Ask a superadmin to take user names from another claim or attribute."}
	}
	if CheckEmail(s.Email) != nil {
		s.Email = ""
	}
	open := make([]string, len(s.Grants))
	for i, g := range s.Grants {
		open[i] = g.Tenant
	}
	if err := a.Store.DismissSubject(ctx, s, open, a.Now()); err != nil {
		return Session{}, err
	}
	switch {
	case len(open) == 0:
		return Session{}, &app.Error{Code: app.EForbidden, Reason: "no_grant", Message: fmt.Sprintf("You're signed in at %s, but none of your groups there has access to a tenant.", cmp.Or(s.Label, s.Provider)),
			Hint: "Ask a superadmin which group you need."}
	case tenant == "" && len(open) > 1:
		return Session{}, &app.Error{Code: app.EConflict, Reason: "choose_tenant", Message: "You have access to several tenants.", Hint: "Choose " + humanize.Or(open) + "."}
	case tenant == "":
		tenant = open[0]
	}
	at := slices.Index(open, tenant)
	if at < 0 {
		return Session{}, &app.Error{Code: app.EForbidden, Reason: "no_grant", Message: fmt.Sprintf("You don't have access to tenant %q.", tenant)}
	}
	u, err := a.Store.AdmitSubject(ctx, s, s.Grants[at], a.Now())
	if err != nil {
		return Session{}, err
	}
	return a.Sessions.beginSession(ctx, u, cmp.Or(s.How, ByOIDC), s.Provider, "", v)
}
