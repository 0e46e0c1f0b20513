package app

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// How long a sign-in counts: so long without a request, and so long at most. Records of what is over are kept a while.
const (
	SessionIdle = 12 * time.Hour
	SessionLife = 7 * 24 * time.Hour
	SessionKept = 30 * 24 * time.Hour
	MostShown   = 200 // sign-ins in one list
)

// SignInHow says by what somebody proved who they are.
type SignInHow string

// The ways.
const (
	ByPassword SignInHow = "password"
	ByOIDC     SignInHow = "oidc"
)

// Visit is where a person asks from, as the portal sees it.
type Visit struct {
	From    string // the address
	Browser string // in a few words for people, such as "Firefox on Linux"
	Looking bool   // nobody asked for anything: a page looks whether it is still wanted
}

// Session is a sign-in of a person.
type Session struct {
	ID       int64     `json:"id"`
	Tenant   string    `json:"tenant"`
	User     string    `json:"user"`
	At       time.Time `json:"at"`
	SeenAt   time.Time `json:"seen_at"` // when it last asked for anything, to the minute
	From     string    `json:"from"`    // the address at the sign-in
	Browser  string    `json:"browser"`
	How      SignInHow `json:"how"`
	Provider string    `json:"provider,omitempty"` // which identity provider, by its name
	ProvenAt time.Time `json:"proven_at"`          // when the person last proved who they are
	// Mark is of the account's password when it began: with another password it does not count any more.
	Mark string `json:"-"`
	// Second is what was shown beside the password; "" where the account had no second factor.
	Second    FactorKind `json:"second_factor,omitempty"`
	RevokedAt time.Time  `json:"-"`
	This      bool       `json:"this,omitempty"` // the one that asks
}

// Ends is when it ends by itself, if nobody uses it until then.
func (s Session) Ends() time.Time {
	if idle := s.SeenAt.Add(SessionIdle); idle.Before(s.At.Add(SessionLife)) {
		return idle
	}
	return s.At.Add(SessionLife)
}

// Over says why a sign-in of an account does not count, or gives nil.
func (s Session) Over(u User, now time.Time) error {
	gone := func(reason, message string) error {
		return &Error{Code: EUnauthorized, Reason: reason, Message: message, Hint: "Sign in again."}
	}
	switch {
	case !s.RevokedAt.IsZero():
		return gone("revoked", "This sign-in was ended.")
	case u.Tenant != s.Tenant || u.Name != s.User || u.CreatedAt.After(s.At):
		return gone("account_gone", "The account of this sign-in is gone.")
	case s.Mark != u.PasswordMark():
		return gone("password_changed", "The password was changed.")
	case s.How == ByPassword && u.SecondFactor && s.Second == "": // it began before there was one, or at a server that doesn't know of them
		return gone(SecondFactorReason, "A second factor was added to this account.")
	case !now.Before(s.Ends()):
		return gone("expired", "You were signed out, since a sign-in does not hold for ever.")
	}
	_, err := u.AtPortal()
	return err
}

// PasswordMark tells one password from another without telling anything of either.
func (u User) PasswordMark() string {
	sum := sha256.Sum256([]byte("sign-in\x00" + u.PasswordHash))
	return hex.EncodeToString(sum[:12])
}

// AtPortal gives the actor that a person of this account is, who has signed in.
func (u User) AtPortal() (Actor, error) {
	switch {
	case u.Disabled():
		return Actor{}, ErrDisabled()
	case u.Role == RoleRobot:
		return Actor{}, &Error{Code: EUnauthorized, Reason: "robot", Message: "Robots do not sign in.", Hint: "They use API tokens."}
	}
	a := u.Actor()
	a.Via, a.MustChange = ViaPortal, u.MustChange && u.PasswordHash != ""
	a.MustAddFactor = u.FactorRequired && !u.SecondFactor && u.PasswordHash != ""
	return a, nil
}

// Session is a sign-in of an account that begins now.
func (u User) Session(now time.Time, how SignInHow, v Visit) Session {
	return Session{Tenant: u.Tenant, User: u.Name, At: now, SeenAt: now, From: v.From, Browser: v.Browser, How: how, ProvenAt: now, Mark: u.PasswordMark()}
}

// SessionID gives the id of the sign-in that the actor asks from, or an error for actors that have none, such as tokens.
func (a Actor) SessionID() (int64, error) {
	id, err := strconv.ParseInt(a.Session, 10, 64)
	if err != nil || a.Token != "" {
		return 0, &Error{Code: EForbidden, Reason: "sign_in", Message: "That takes somebody who has signed in at the portal.",
			Hint: "Sign in there; tokens and chats cannot do it."}
	}
	return id, nil
}

// AtHome is the actor in the tenant of its own account, wherever it acts.
func (a Actor) AtHome() Actor {
	if a.Home != "" {
		a.Tenant, a.Home = a.Home, ""
	}
	return a
}

// Meaning gives the actor and the user meant: the one named, or the actor's own account where none is.
func (a Actor) Meaning(user string) (Actor, string) {
	if user == "" {
		return a.AtHome(), a.User
	}
	return a, user
}
