package identity

import (
	"time"

	"muster/app"
)

// User is an account of a tenant. A robot is one without a password.
type User struct {
	Tenant   string `json:"tenant"`
	Name     string `json:"name"`
	FullName string `json:"full_name,omitempty"`
	Email    string `json:"email,omitempty"` // confirmed by its reader, set by an admin or taken from an identity provider
	// PendingEmail is an address that its person has entered and not confirmed yet.
	PendingEmail string   `json:"pending_email,omitempty"`
	Role         app.Role `json:"role"`
	// Groups are those that it is in, from whatever source; sorted.
	Groups []string `json:"groups,omitempty"`
	// PasswordHash is an argon2id string in PHC form; "" fits no password.
	PasswordHash string `json:"-"`
	// MustChange says that someone else set its password, which has to be changed before anything else.
	MustChange bool      `json:"must_change_password,omitempty"`
	DisabledAt time.Time `json:"disabled_at,omitzero"` // zero: it is not
	CreatedAt  time.Time `json:"created_at,omitzero"`
	CreatedBy  string    `json:"created_by,omitempty"`
	SeenAt     time.Time `json:"seen_at,omitzero"` // when it last asked for anything, to the minute
	// SecondFactor says that it has one beside its password, FactorRequired that its tenant requires one.
	SecondFactor   bool `json:"second_factor,omitempty"`
	FactorRequired bool `json:"-"`
}

// Disabled tells that neither its sessions nor its tokens count.
func (u User) Disabled() bool { return !u.DisabledAt.IsZero() }

// Actor returns what the user acts as.
func (u User) Actor() app.Actor {
	return app.Actor{Tenant: u.Tenant, User: u.Name, Role: u.Role, Groups: u.Groups}
}

// seenEvery is how exactly it is known when users and tokens were last used.
const seenEvery = time.Minute

func errDisabled() error {
	return &app.Error{Code: app.EUnauthorized, Reason: "disabled", Message: "This account is disabled.", Hint: "Ask an admin of your tenant to enable it."}
}
