package app

import (
	"slices"
	"time"
)

// Role says what a user may do within a tenant; authorize.go has the table.
type Role string

// The roles, the mightiest first.
const (
	RoleSuperadmin Role = "superadmin" // manages the installation, and may act in every tenant
	RoleAdmin      Role = "admin"      // everything within its tenant
	RoleApprover   Role = "approver"   // a user who also decides on what others ask for
	RoleUser       Role = "user"       // has clusters of its own
	RoleViewer     Role = "viewer"     // looks, and changes nothing
	RoleRobot      Role = "robot"      // a program, with tokens only: has clusters of its own, decides nothing
)

// Roles are all of them, the mightiest first.
var Roles = []Role{RoleSuperadmin, RoleAdmin, RoleApprover, RoleUser, RoleViewer, RoleRobot}

// Known reports whether there is such a role.
func (r Role) Known() bool { return slices.Contains(Roles, r) }

// Rules reports whether the role manages a tenant or the installation.
func (r Role) Rules() bool { return r == RoleSuperadmin || r == RoleAdmin }

// Via is the face through which someone asks.
type Via string

// The faces.
const (
	ViaPortal Via = "portal"
	ViaAPI    Via = "api" // the CLI too
	ViaSlack  Via = "slack"
	ViaHook   Via = "hook"
	ViaServer Via = "server" // Muster itself, or someone running its commands on the server's host
)

// Actor is who asks. Every use case takes one, and every row it touches belongs to its tenant. The faces make it from an
// account at each request, so that a change of role or groups counts at once.
type Actor struct {
	Tenant string `json:"tenant"` // in which it acts
	User   string `json:"user"`
	Role   Role   `json:"role"`
	// Home is the tenant of the account where that is another one, as when a superadmin acts in a tenant; else "".
	Home   string   `json:"home,omitempty"`
	Groups []string `json:"groups,omitempty"` // sorted; of the tenant in which it acts
	Scopes []Scope  `json:"scopes,omitempty"` // of its token; none: all that the role may
	Via    Via      `json:"-"`
	From   string   `json:"-"` // the address it asks from; "" where there is none
	// Session names the sign-in, Token the label of the API token; one of them is "".
	Session string `json:"-"`
	Token   string `json:"-"`
	// ProvenAt is when it last proved who it is, by password or identity provider. Zero for tokens.
	ProvenAt time.Time `json:"-"`
	// SeenAt is when its sign-in was looked up, for this request. Zero for tokens.
	SeenAt time.Time `json:"-"`
	// MustChange says that it signed in with a one-time password: until it has chosen its own, it may do nothing else.
	MustChange bool `json:"-"`
	// MustAddFactor says that its tenant requires a second factor and it has none: until it has added one, it may do nothing else.
	MustAddFactor bool `json:"-"`
	// noted records what the actor was allowed; nil if it is not recorded.
	Noted *Allowances `json:"-"`
}

// Name is the actor as shown in records: with its home where it acts elsewhere.
func (a Actor) Name() string {
	if a.Home != "" && a.Home != a.Tenant {
		return a.User + "@" + a.Home
	}
	return a.User
}

// DefaultTenant is the tenant of a fresh installation.
const DefaultTenant = "default"

// Limits of groups.
const (
	MostExternal  = 500
	LongestGroup  = 200 // bytes
	LongestAbout  = 500
	MostInOneCall = 1000
)

// FactorKind is what a person shows beside the password.
type FactorKind string

// Reasons of errors about second factors.
const (
	SecondFactorReason = "second_factor" // the password is right, and a second factor is needed
	MustAddReason      = "must_add_second_factor"
)

// HealthUser is in whose name Muster repairs by itself.
const HealthUser = "health"

// IdleUser is in whose name Muster puts idle clusters to sleep, or deletes them.
const IdleUser = "idle"

// ScalingUser is in whose name Muster grows and shrinks clusters by their scaling rules.
const ScalingUser = "scaling"

// Who deletes without having been asked by a person.
const (
	Expirer = "lease"  // clusters whose lease has ended
	Retrier = "muster" // what could not be deleted before, and what is to be rolled back by itself
)
