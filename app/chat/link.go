package chat

import (
	"context"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
)

// LinkStore keeps who of a workspace is whom here.
type LinkStore interface {
	Identity(ctx context.Context, kind string, external string) (identity.Identity, identity.User, error)
	// LinkByEmail links an unlinked identity to the only account of its tenant with this address, if an identity provider confirmed it and
	// the account is enabled and has none of the excluded roles. It reports whether an account was linked.
	LinkByEmail(ctx context.Context, who app.Actor, i identity.Identity, email string, except []app.Role) (bool, error)
	// NoteLink notes how a server is connected; Links returns those noted since.
	NoteLink(ctx context.Context, l Connection) error
}

// LinksConfig is what Links is created from. Only what says so may be nil.
type LinksConfig struct {
	Store LinkStore
	Now   func() time.Time

	Channels *Channels
}

// Links connect people of a workspace with their accounts.
type Links struct {
	LinksConfig
}

// NewLinks returns them on top of what c holds.
func NewLinks(c LinksConfig) *Links { return &Links{LinksConfig: c} }

// NoteChatConnection notes how a server is connected to a chat.
func (a *Links) NoteChatConnection(ctx context.Context, l Connection) error {
	l.Error, l.SeenAt = humanize.CutText(strings.ToValidUTF8(l.Error, "�"), 300), a.Now()
	return a.Store.NoteLink(ctx, l)
}

// LinkByEmail links a chat user to the account of the tenant for which an identity provider has verified the same address, and reports
// whether there was one. Admins are excluded: otherwise the administrator of a chat workspace could become one. Accounts that share an
// address are excluded too.
func (a *Links) LinkByEmail(ctx context.Context, kind, external, label, tenant, email string) (bool, error) {
	if identity.CheckEmail(email) != nil || email == "" {
		return false, nil //nolint:nilerr // an invalid address is of no account
	}
	i := identity.Identity{Kind: kind, External: external, Label: humanize.CutText(label, identity.MaxLabel), Tenant: tenant, At: a.Now()}
	return a.Store.LinkByEmail(ctx, app.System(tenant, chatServer), i, email, []app.Role{app.RoleSuperadmin, app.RoleAdmin, app.RoleRobot})
}

// ChatHomeTenant returns in whose name a workspace speaks to someone where there is no channel, as in a home or directly: that of their account
// where it is one of the workspace's, else the workspace's own.
func (a *Links) ChatHomeTenant(ctx context.Context, w Workspace, external string) (string, error) {
	i, _, err := a.Store.Identity(ctx, w.Kind, external)
	if app.CodeOf(err) == app.ENotFound || err == nil && i.Tenant == w.Tenant {
		return w.Tenant, nil
	}
	if err != nil {
		return "", err
	}
	all, err := a.Channels.chatTenants(ctx, w)
	if err == nil && slices.Contains(all, i.Tenant) {
		return i.Tenant, nil
	}
	return w.Tenant, err
}

// Connection is how a server is connected to a chat.
type Connection struct {
	Server string    `json:"server"`
	Kind   string    `json:"kind"`
	State  string    `json:"state"` // connected, connecting or down
	Since  time.Time `json:"since"`
	SeenAt time.Time `json:"seen_at"`
	Error  string    `json:"error,omitempty"`
}
