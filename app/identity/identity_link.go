package identity

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Store keeps identities and the links that lead to them.
type Store interface {
	// Identities returns those of a user, in the order of kind and label.
	Identities(ctx context.Context, tenant, user string) ([]Identity, error)
	// Identity returns an identity and its account as it is now; ENotFound where either is gone.
	Identity(ctx context.Context, kind, external string) (Identity, User, error)
	// Link returns a link, used or not, or ENotFound.
	Link(ctx context.Context, hash []byte) (Link, error)
	// RemoveIdentity unties one of a user, or returns ENotFound.
	RemoveIdentity(ctx context.Context, who app.Actor, user, kind, external string, at time.Time) error
	// SaveLink keeps a link by its token's hash, drops old ones, and ends all others for the same identity.
	SaveLink(ctx context.Context, hash []byte, l Link) error
	// UseLink ties the identity of a link that is neither used nor over to the actor's account, once. EConflict where the identity
	// belongs to another account.
	UseLink(ctx context.Context, who app.Actor, hash []byte, at time.Time) (Identity, error)
}

// LinksConfig is what Links is created from. Only what says so may be nil.
type LinksConfig struct {
	Store Store
	Now   func() time.Time
}

// Links connect accounts with those of chat systems.
type Links struct {
	LinksConfig
}

// NewLinks returns them on top of what c holds.
func NewLinks(c LinksConfig) *Links { return &Links{LinksConfig: c} }

// LinkLife is how long a link that ties an identity to an account can be used.
const LinkLife = 10 * time.Minute

const (
	maxExternal = 200
	MaxLabel    = 200
)

// Identity is who someone is elsewhere, such as a Slack user, tied to an account.
type Identity struct {
	Kind     string    `json:"kind"`     // "slack"
	External string    `json:"external"` // unique among its kind, such as T024BE7LD/U2147483697
	Label    string    `json:"label"`    // for people: "Slack user ada (U2147483697) of workspace Acme"
	Tenant   string    `json:"tenant"`
	User     string    `json:"user"`
	At       time.Time `json:"at"`
}

// Link is a link that waits to be confirmed.
type Link struct {
	Kind, External, Label string
	At, ExpiresAt, UsedAt time.Time
}

// LinkStart makes a link for an identity elsewhere, whose owner a chat has just heard from, and returns its page. It is reported to no one but that owner.
// It works once, within LinkLife, and the next one for the same identity replaces it. What
// is in it is 256 random bits, of which only a hash is kept: no one can make one up, or read one from a copy of the
// database.
func (a *Links) LinkStart(ctx context.Context, kind, external, label string) (link app.Subject, err error) {
	switch {
	case kind == "" || len(kind) > 40 || external == "" || len(external) > maxExternal:
		return link, app.Errorf(app.EInvalid, "The identity to link is missing or too long.")
	case len(label) > MaxLabel:
		label = strings.ToValidUTF8(label[:MaxLabel], "") + "…"
	}
	token := strings.ToLower(rand.Text() + rand.Text())
	now := a.Now()
	l := Link{Kind: kind, External: external, Label: label, At: now, ExpiresAt: now.Add(LinkLife)}
	// The token is in the query, since logs keep paths.
	return app.Subject{Kind: app.SubjectIdentityLink, Query: url.Values{"token": {token}}.Encode()}, a.Store.SaveLink(ctx, HashToken(token), l)
}

// ShowLink says who wants to be linked to the actor's account. ENotFound for a link that was never made or was replaced,
// EConflict for one that was used or is too old.
func (a *Links) ShowLink(ctx context.Context, actor app.Actor, token string) (Link, error) {
	actor = actor.AtHome()
	if err := actor.Authorize("ShowLink"); err != nil {
		return Link{}, err
	}
	if _, err := actor.SessionID(); err != nil {
		return Link{}, err
	}
	l, err := a.Store.Link(ctx, HashToken(token))
	if err != nil {
		return l, err
	}
	if err := l.usable(a.Now()); err != nil {
		return l, err
	}
	i, _, err := a.Store.Identity(ctx, l.Kind, l.External)
	if app.CodeOf(err) == app.ENotFound {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	return l, i.Taken(actor)
}

// ConfirmLink ties the identity of a link to the actor's account, once. The person behind it will act as the actor from then on, so
// that takes a fresh proof of who the actor is.
func (a *Links) ConfirmLink(ctx context.Context, actor app.Actor, token string) (Identity, error) {
	actor = actor.AtHome()
	if err := actor.Authorize("ConfirmLink"); err != nil {
		return Identity{}, err
	}
	if _, err := actor.SessionID(); err != nil {
		return Identity{}, err
	}
	return a.Store.UseLink(ctx, actor, HashToken(token), a.Now())
}

// Unusable says why a link cannot be used at a time, or returns nil. Stores ask it in the transaction that uses the link.
func (l Link) Unusable(now time.Time) error { return l.usable(now) }

func (l Link) usable(now time.Time) error {
	switch {
	case !l.UsedAt.IsZero():
		return &app.Error{Code: app.EConflict, Reason: "used", Message: "This link has already been used.", Hint: "Request a new link where you got this one."}
	case !now.Before(l.ExpiresAt):
		return &app.Error{Code: app.EConflict, Reason: "expired", Message: fmt.Sprintf("This link has expired: links are valid for %s.", humanize.Duration(LinkLife)), Hint: "Request a new link where you got this one."}
	}
	return nil
}

// Taken says that the identity belongs to an account, seen by an actor: nil where it is the actor's own. Of other tenants
// nothing is reported.
func (i Identity) Taken(by app.Actor) error {
	e := &app.Error{Code: app.EConflict, Reason: "taken", Message: fmt.Sprintf("%s is already linked to %s.", humanize.Upper(i.Label), i.User),
		Hint: "That user, or an admin of the tenant, can remove the link on the account page."}
	switch {
	case i.Tenant != by.Tenant:
		e.Message = fmt.Sprintf("%s is already linked to an account in another tenant.", humanize.Upper(i.Label))
		e.Hint = "Sign in there and remove the link on the account page first."
	case i.User == by.User:
		return nil
	}
	return e
}

// ActorOfIdentity returns who an identity elsewhere represents, with role and groups as they are now; EUnauthorized where it is
// linked to no account. The face adds Via and From.
func (a *Links) ActorOfIdentity(ctx context.Context, kind, external string) (app.Actor, error) {
	_, u, err := a.Store.Identity(ctx, kind, external)
	if app.CodeOf(err) == app.ENotFound {
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Reason: "not_linked", Message: "You aren't linked to a Muster account yet.", Hint: "Request a link, open it and confirm."}
	}
	if err != nil {
		return app.Actor{}, err
	}
	actor, err := u.atPortal()
	actor.Via = ""
	return actor, err
}

// Identities lists who a user is elsewhere; the actor where user is "". Admins may see those of any user of the tenant.
func (a *Links) Identities(ctx context.Context, actor app.Actor, user string) ([]Identity, error) {
	actor, user = actor.Meaning(user)
	if err := actor.MayTouch("Identities", user, "that account"); err != nil {
		return nil, err
	}
	return a.Store.Identities(ctx, actor.Tenant, user)
}

// RemoveIdentity unties one; the person elsewhere does nothing more in the user's name.
func (a *Links) RemoveIdentity(ctx context.Context, actor app.Actor, user, kind, external string) error {
	actor, user = actor.Meaning(user)
	if err := actor.MayTouch("RemoveIdentity", user, "that account"); err != nil {
		return err
	}
	return a.Store.RemoveIdentity(ctx, actor, user, kind, external, a.Now())
}
