package app

import (
	"fmt"
	"slices"
)

// AllTenants means every tenant in ProvisionerGrant.Tenants.
const AllTenants = "*"

// Bounds of what a provisioner token may be for.
const (
	maxGrantTenants   = 1000
	defaultGrantSlots = 1000
)

// ProvisionerGrant is what provisioners that register with a token may do. It is kept with the token, on the server, so that a stolen token or host
// reaches no more than this, whatever it says of itself.
type ProvisionerGrant struct {
	// Tenants are those whose steps they may carry out; AllTenants alone is every tenant, those that come later too.
	Tenants []string `json:"tenants"`
	// Tags are those that they may have. One that says none of its own has them all.
	Tags map[string]string `json:"tags,omitempty"`
	// AnyTags lets them choose their tags. Only tokens from before there were grants have it.
	AnyTags bool `json:"any_tags,omitempty"`
	// Slots are how many steps they may carry out at the same time, all of them together; 0 when a token is created: 1,000.
	Slots int `json:"slots"`
}

// Check completes a grant for a new token; EInvalid names the field that is wrong.
func (g ProvisionerGrant) Check() (ProvisionerGrant, error) {
	g.Tenants = slices.Compact(slices.Sorted(slices.Values(g.Tenants)))
	switch {
	case len(g.Tenants) == 0:
		return g, &Error{Code: EInvalid, Field: "tenants", Message: "A provisioner token must say for which tenants it is.", Hint: `Name them, or say "*" (--all-tenants) for every tenant.`}
	case len(g.Tenants) > maxGrantTenants:
		return g, Errorf(ETooLarge, "A provisioner token can name at most %d tenants, not %d.", maxGrantTenants, len(g.Tenants))
	case len(g.Tenants) > 1 && slices.Contains(g.Tenants, AllTenants):
		return g, &Error{Code: EInvalid, Field: "tenants", Message: `"*" is every tenant, so no other can be named beside it.`, Hint: "Name the tenants, or every tenant."}
	case g.Slots < 0 || g.Slots > MaxSlots:
		return g, &Error{Code: EInvalid, Field: "slots", Message: fmt.Sprintf("A provisioner token can allow 1 to %d slots, not %d.", MaxSlots, g.Slots)}
	}
	if g.Slots == 0 {
		g.Slots = defaultGrantSlots
	}
	g.AnyTags = false
	return g, CheckTags(g.Tags)
}

// Only returns the tenants that a registration is limited to; nil if it is for every tenant.
func (g ProvisionerGrant) Only() []string {
	if slices.Contains(g.Tenants, AllTenants) {
		return nil
	}
	return g.Tenants
}

// May tells whether the provisioner may carry out a tenant's steps.
func (p Provisioner) May(tenant string) bool {
	return len(p.Only) == 0 || slices.Contains(p.Only, tenant)
}
