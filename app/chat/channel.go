package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
)

// ChannelStore keeps channels, and where approvals are asked for.
type ChannelStore interface {
	// Approvals returns it; ENotFound where it is nowhere.
	Approvals(ctx context.Context, tenant string) (Approvals, error)
	// Channel returns one; ENotFound where it belongs to its workspace.
	Channel(ctx context.Context, kind, team, channel string) (Channel, error)
	ChatLinks(ctx context.Context, kind string, since time.Time) ([]Connection, error)
	// DropChannel returns a channel to its workspace; ENotFound where it is already so.
	DropChannel(ctx context.Context, who app.Actor, kind, team, channel string, at time.Time) error
	// SaveChannel notes that a side wants a channel to be the tenant's. Agreement to another tenant is dropped by that.
	SaveChannel(ctx context.Context, who app.Actor, c Channel) (Channel, error)
	// SetApprovals sets where requests of the actor's tenant are shown; nowhere where Channel is "".
	SetApprovals(ctx context.Context, who app.Actor, a Approvals) error
	Tenant(ctx context.Context, name string) (identity.Tenant, error)
	// Workspace returns the one of a team, or else that of its organisation, without channels; ENotFound where neither is there.
	Workspace(ctx context.Context, kind, team, enterprise string) (Workspace, error)
	// Workspaces returns those of a tenant and those with channels of it, or all where it is "", by name, with their channels: all
	// of a workspace to its own tenant, to others theirs.
	Workspaces(ctx context.Context, kind, tenant string) ([]Workspace, error)
}

// ChannelsConfig is what Channels is created from. Only what says so may be nil.
type ChannelsConfig struct {
	Store ChannelStore
	Now   func() time.Time
}

// Channels say for which tenants a workspace is used, and where.
type Channels struct {
	ChannelsConfig
}

// NewChannels returns them on top of what c holds.
func NewChannels(c ChannelsConfig) *Channels { return &Channels{ChannelsConfig: c} }

// Channel is a channel assigned to a tenant other than its workspace's. A member of each tenant must agree.
type Channel struct {
	Kind    string    `json:"kind"`
	Team    string    `json:"team"`
	Channel string    `json:"channel"`
	Name    string    `json:"name,omitempty"`
	Tenant  string    `json:"tenant"`
	Host    string    `json:"host,omitempty"`  // who agreed for the workspace's tenant
	Guest   string    `json:"guest,omitempty"` // who agreed for the channel's
	At      time.Time `json:"at"`
}

// Agreed reports whether it counts.
func (c Channel) Agreed() bool { return c.Host != "" && c.Guest != "" }

// Approvals is the channel in which requests of a tenant are shown to those who approve them.
type Approvals struct {
	Tenant  string    `json:"tenant"`
	Kind    string    `json:"kind"`
	Team    string    `json:"team"`
	Channel string    `json:"channel"`
	SetBy   string    `json:"set_by"`
	SetAt   time.Time `json:"set_at"`
}

// Settings is all about chats that admins of a tenant manage.
type Settings struct {
	Workspaces []Workspace  `json:"workspaces"` // those of the tenant, and those with channels of it
	Approvals  *Approvals   `json:"approvals,omitempty"`
	Links      []Connection `json:"links,omitempty"`
}

// Settings returns what there is about a chat in the actor's tenant.
func (a *Channels) ChatSettings(ctx context.Context, actor app.Actor, kind string) (h Settings, err error) {
	if err := actor.Authorize("ChatSettings"); err != nil {
		return h, err
	}
	if h.Workspaces, err = a.Store.Workspaces(ctx, kind, actor.Tenant); err != nil {
		return h, err
	}
	p, err := a.Store.Approvals(ctx, actor.Tenant)
	if err == nil && p.Kind == kind {
		h.Approvals = &p
	}
	if err != nil && app.CodeOf(err) != app.ENotFound {
		return h, err
	}
	h.Links, err = a.Store.ChatLinks(ctx, kind, a.Now().Add(-linkSilent))
	return h, err
}

// UseChannel says that a channel of a workspace should be the actor's tenant's, or, of an admin of the workspace's own tenant, that it
// may be another's.
func (a *Channels) UseChannel(ctx context.Context, actor app.Actor, c Channel) (Channel, error) {
	if err := actor.Authorize("UseChannel"); err != nil {
		return c, err
	}
	if err := checkChannel(c.Channel); err != nil {
		return c, err
	}
	if err := identity.CheckTenantName(c.Tenant); err != nil {
		return c, err
	}
	w, err := a.Store.Workspace(ctx, c.Kind, c.Team, "")
	if err != nil {
		return c, err
	}
	c.Host, c.Guest, c.At = "", "", a.Now()
	whole := actor.Role == app.RoleSuperadmin
	if whole || actor.Tenant == w.Tenant {
		c.Host = actor.Name()
	}
	if whole || actor.Tenant == c.Tenant {
		c.Guest = actor.Name()
	}
	switch {
	case c.Host == "" && c.Guest == "":
		return c, &app.Error{Code: app.ENotFound, Reason: "other_tenant", Message: "You aren't an admin of this workspace or that tenant."}
	case c.Tenant == w.Tenant:
		if err := a.Store.DropChannel(ctx, actor, c.Kind, c.Team, c.Channel, c.At); err != nil && app.CodeOf(err) != app.ENotFound {
			return c, err
		}
		c.Host, c.Guest = actor.Name(), actor.Name()
		return c, nil
	}
	if c.Host != "" { // members of the other tenant must not learn which tenants exist
		if _, err := a.Store.Tenant(ctx, c.Tenant); err != nil {
			return c, err
		}
	}
	return a.Store.SaveChannel(ctx, actor, c)
}

// ResetChannel returns a channel to the tenant of its workspace, for admins of either.
func (a *Channels) ResetChannel(ctx context.Context, actor app.Actor, kind, team, channel string) error {
	if err := actor.Authorize("ResetChannel"); err != nil {
		return err
	}
	none := app.Errorf(app.ENotFound, "Channel %s belongs to its workspace's tenant.", humanize.CutText(channel, 40))
	c, err := a.Store.Channel(ctx, kind, team, channel)
	if err != nil {
		return err
	}
	w, err := a.Store.Workspace(ctx, kind, team, "")
	if err != nil {
		return err
	}
	if actor.Role != app.RoleSuperadmin && actor.Tenant != c.Tenant && actor.Tenant != w.Tenant {
		return none
	}
	return a.Store.DropChannel(ctx, actor, kind, team, channel, a.Now())
}

// SetApprovals says in which channel the tenant's requests are shown to those who approve them; with no channel nowhere. The channel
// must speak for the tenant: requests must not be shown to other tenants.
func (a *Channels) SetApprovals(ctx context.Context, actor app.Actor, p Approvals) error {
	if err := actor.Authorize("SetApprovals"); err != nil {
		return err
	}
	p.Tenant, p.SetBy, p.SetAt = actor.Tenant, actor.Name(), a.Now()
	if p.Channel == "" {
		return a.Store.SetApprovals(ctx, actor, p)
	}
	if err := checkChannel(p.Channel); err != nil {
		return err
	}
	w, err := a.Store.Workspace(ctx, p.Kind, p.Team, "")
	if err != nil {
		return err
	}
	tenant, err := a.ChatTenant(ctx, w, p.Channel)
	if err != nil {
		return err
	}
	switch {
	case tenant != actor.Tenant && w.Tenant != actor.Tenant:
		return app.Errorf(app.ENotFound, "Channel %s isn't assigned to this tenant.", humanize.CutText(p.Channel, 40))
	case tenant != actor.Tenant:
		return &app.Error{Code: app.EForbidden, Reason: "other_tenant", Field: "channel", Message: "This channel belongs to another tenant.",
			Hint: "Choose a channel in one of the tenant's workspaces, or assign the channel to the tenant first."}
	}
	return a.Store.SetApprovals(ctx, actor, p)
}

// checkChannel refuses what is no id of a channel.
func checkChannel(id string) error {
	ok := len(id) >= 2 && len(id) <= 40 && (id[0] == 'C' || id[0] == 'G') && !strings.ContainsFunc(id, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	if !ok {
		return &app.Error{Code: app.EInvalid, Field: "channel", Message: fmt.Sprintf("Invalid channel ID “%s”.", humanize.CutText(id, 40)),
			Hint: "Find the ID, such as C024BE91L, at the bottom of the channel's details."}
	}
	return nil
}

// ChatTenant returns in whose name a channel of a workspace speaks.
func (a *Channels) ChatTenant(ctx context.Context, w Workspace, channel string) (string, error) {
	if channel == "" {
		return w.Tenant, nil
	}
	c, err := a.Store.Channel(ctx, w.Kind, w.Team, channel)
	switch {
	case app.CodeOf(err) == app.ENotFound, err == nil && !c.Agreed():
		return w.Tenant, nil
	case err != nil:
		return "", err
	}
	return c.Tenant, nil
}

// chatTenants returns all tenants in whose name a workspace speaks somewhere; its own first.
func (a *Channels) chatTenants(ctx context.Context, w Workspace) ([]string, error) {
	list, err := a.Store.Workspaces(ctx, w.Kind, w.Tenant)
	if err != nil {
		return nil, err
	}
	all := []string{w.Tenant}
	for _, l := range list {
		for _, c := range l.Channels {
			if l.Team == w.Team && c.Agreed() && !slices.Contains(all, c.Tenant) {
				all = append(all, c.Tenant)
			}
		}
	}
	return all, nil
}
