package app

import (
	"context"
	"fmt"
	"time"
)

// User is an account of a tenant. A robot is one without a password.
type User struct {
	Tenant   string `json:"tenant"`
	Name     string `json:"name"`
	FullName string `json:"full_name,omitempty"`
	Email    string `json:"email,omitempty"`
	Role     Role   `json:"role"`
	// Groups are those that it is in, from whatever source; sorted.
	Groups []string `json:"groups,omitempty"`
	// PasswordHash is an argon2id string in PHC form; "" fits no password.
	PasswordHash string `json:"-"`
	// MustChange says that its password was made by somebody else, and is to be changed before anything else.
	MustChange bool      `json:"must_change_password,omitempty"`
	DisabledAt time.Time `json:"disabled_at,omitzero"` // zero: it is not
	CreatedAt  time.Time `json:"created_at,omitzero"`
	CreatedBy  string    `json:"created_by,omitempty"`
	SeenAt     time.Time `json:"seen_at,omitzero"` // when it last asked for anything, to the minute
}

// Disabled tells that neither its sessions nor its tokens count.
func (u User) Disabled() bool { return !u.DisabledAt.IsZero() }

// Actor gives what the user acts as.
func (u User) Actor() Actor {
	return Actor{Tenant: u.Tenant, User: u.Name, Role: u.Role, Groups: u.Groups}
}

// seenEvery is how exactly it is known when users and tokens were last used.
const seenEvery = time.Minute

// ActorOf gives the actor of an account as it is now, for a session; EUnauthorized where there is no such account any more,
// or it was disabled. The face adds what it knows: Via, From, Session, ProvenAt.
func (a *App) ActorOf(ctx context.Context, tenant, user string) (Actor, error) {
	u, err := a.Store.User(ctx, tenant, user)
	if CodeOf(err) == ENotFound {
		return Actor{}, &Error{Code: EUnauthorized, Reason: "account_gone", Message: fmt.Sprintf("There is no account %q any more.", user),
			Hint: "Ask an admin of your tenant."}
	}
	if err != nil {
		return Actor{}, err
	}
	if u.Disabled() {
		return Actor{}, errDisabled()
	}
	if u.Role == RoleRobot {
		return Actor{}, &Error{Code: EUnauthorized, Reason: "robot", Message: "Robots do not sign in.", Hint: "They use API tokens."}
	}
	a.saw(ctx, u)
	actor := u.Actor()
	actor.MustChange = u.MustChange
	return actor, nil
}

// saw notes that a user is there. That it cannot be noted keeps nobody from working.
func (a *App) saw(ctx context.Context, u User) {
	if now := a.Now(); now.Sub(u.SeenAt) >= seenEvery {
		note, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_ = a.Store.SawUser(note, u.Tenant, u.Name, now)
	}
}

func errDisabled() error {
	return &Error{Code: EUnauthorized, Reason: "disabled", Message: "This account is disabled.", Hint: "Ask an admin of your tenant."}
}
