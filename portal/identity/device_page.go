package identity

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/portal/page"
)

// Device is the page on which someone lets a program act for them, or does not. Without a Device it asks for the code.
type Device struct {
	Code      string
	Device    *identity.Device
	Ago, Ends time.Duration // since it asked, and until it is over
	Scopes    []app.Scope   // that can be given
	Answered  string        // yes, no; "": not yet
	Complaint page.Complaint
}

// has tells whether a scope is ticked at first: what the program wishes for, or else what most need.
func (d Device) has(s app.Scope) bool {
	if s == app.ScopeRead || len(d.Device.Wanted) == 0 && s == app.ScopeCluster {
		return true
	}
	return slices.Contains(d.Device.Wanted, s)
}
