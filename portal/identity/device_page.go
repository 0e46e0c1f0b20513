package identity

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/portal/page"
)

// Device is the page on which a person allows or denies a program's sign-in. Without a Device, it asks for the code.
type Device struct {
	Code      string
	Device    *identity.Device
	Ago, Ends time.Duration // since the sign-in started, and until its code expires
	Scopes    []app.Scope   // that the person can grant
	Answered  string        // yes, no; "": not yet
	Complaint page.Complaint
}

// has reports whether a scope is preselected: those that the program requested, or else those that most programs need.
func (d Device) has(s app.Scope) bool {
	if s == app.ScopeRead || len(d.Device.Wanted) == 0 && s == app.ScopeCluster {
		return true
	}
	return slices.Contains(d.Device.Wanted, s)
}
