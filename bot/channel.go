package bot

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/all"
	"muster/app/chat"
)

// Channels is a power that a Muster may have: to give channels of a workspace to other tenants.
type Channels interface {
	ChatWorkspace(ctx context.Context, kind, team, enterprise string) (chat.ChatWorkspace, error)
	ChatTenant(ctx context.Context, w chat.ChatWorkspace, channel string) (string, error)
	// UseChannel notes that the side of the actor wants a channel to be a tenant's, and gives what is agreed by now.
	UseChannel(ctx context.Context, a app.Actor, c chat.ChatChannel) (chat.ChatChannel, error)
	ResetChannel(ctx context.Context, a app.Actor, kind, team, channel string) error
}

var _ Channels = (*all.App)(nil)

// isDirect tells whether a channel is a conversation of the bot with one person.
func isDirect(channel string) bool { return strings.HasPrefix(channel, "D") }

// channel tells in whose name a channel speaks, or changes that. Whoever does so may be of either tenant, so it is looked at
// what they may do at home.
func (b *Bot) channel(ctx context.Context, r request) (Answer, error) {
	c, ok := b.muster.(Channels)
	if !ok {
		return Answer{}, &app.Error{Code: app.EInvalid, Message: "Channels cannot be given to tenants here."}
	}
	if r.person.Channel == "" || isDirect(r.person.Channel) {
		return Answer{}, &app.Error{Code: app.EInvalid, Message: "Say this in a channel, about that channel."}
	}
	team, _, _ := strings.Cut(r.person.External, "/")
	if r.person.Team != "" {
		team = r.person.Team
	}
	w, err := c.ChatWorkspace(ctx, r.person.Kind, team, "")
	if err != nil {
		return Answer{}, err
	}
	actor, err := b.muster.ActorOfIdentity(ctx, r.person.Kind, r.person.External)
	if err != nil {
		return Answer{}, err
	}
	actor.Via = app.ViaSlack
	switch {
	case len(r.words) == 0:
		tenant, err := c.ChatTenant(ctx, w, r.person.Channel)
		if err != nil {
			return Answer{}, err
		}
		if actor.Tenant != tenant && actor.Tenant != w.Tenant && actor.Role != app.RoleSuperadmin {
			return Answer{Title: "This channel speaks for another tenant than yours"}, nil
		}
		return Answer{Title: "This channel speaks for the tenant " + tenant}, nil
	case len(r.words) == 2 && strings.EqualFold(r.words[0], "use"):
		given, err := c.UseChannel(ctx, actor, chat.ChatChannel{Kind: r.person.Kind, Team: w.Team, Channel: r.person.Channel, Tenant: strings.ToLower(r.words[1])})
		if err != nil {
			return Answer{}, err
		}
		if given.Agreed() {
			return Answer{Title: "This channel speaks for the tenant " + given.Tenant + " now"}, nil
		}
		side := "the workspace's tenant"
		if given.Guest == "" {
			side = "the tenant " + given.Tenant
		}
		return Answer{Title: "One side has agreed", Lines: []string{fmt.Sprintf("An admin of %s has to say the same here: %s channel use %s", side, r.person.Command, given.Tenant)}}, nil
	case len(r.words) == 1 && strings.EqualFold(r.words[0], "reset"):
		if err := c.ResetChannel(ctx, actor, r.person.Kind, w.Team, r.person.Channel); err != nil {
			return Answer{}, err
		}
		return Answer{Title: "This channel speaks for the workspace's own tenant again"}, nil
	}
	return Answer{}, r.usage("channel")
}
