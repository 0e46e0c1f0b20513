package bot

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/chat"
)

// isDirect tells whether a channel is a conversation of the bot with one person.
func isDirect(channel string) bool { return strings.HasPrefix(channel, "D") }

// channels says whose channels are.
type channels struct {
	workspaces Workspaces
	channels   Channels
	people     People
}

// tenant tells in whose name a channel speaks, or changes that. Whoever does so may be of either tenant, so it is looked at
// what they may do at home.
func (ch channels) tenant(ctx context.Context, r request) (Answer, error) {
	if r.person.Channel == "" || isDirect(r.person.Channel) {
		return Answer{}, &app.Error{Code: app.EInvalid, Message: "Say this in a channel, about that channel."}
	}
	team, _, _ := strings.Cut(r.person.External, "/")
	if r.person.Team != "" {
		team = r.person.Team
	}
	w, err := ch.workspaces.ChatWorkspace(ctx, r.person.Kind, team, "")
	if err != nil {
		return Answer{}, err
	}
	actor, err := ch.people.ActorOfIdentity(ctx, r.person.Kind, r.person.External)
	if err != nil {
		return Answer{}, err
	}
	actor.Via = app.ViaSlack
	switch {
	case len(r.words) == 0:
		tenant, err := ch.channels.ChatTenant(ctx, w, r.person.Channel)
		if err != nil {
			return Answer{}, err
		}
		if actor.Tenant != tenant && actor.Tenant != w.Tenant && actor.Role != app.RoleSuperadmin {
			return Answer{Title: "This channel speaks for another tenant than yours"}, nil
		}
		return Answer{Title: "This channel speaks for the tenant " + tenant}, nil
	case len(r.words) == 2 && strings.EqualFold(r.words[0], "use"):
		want := chat.ChatChannel{Kind: r.person.Kind, Team: w.Team, Channel: r.person.Channel, Tenant: strings.ToLower(r.words[1])}
		given, err := ch.channels.UseChannel(ctx, actor, want)
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
		if err := ch.channels.ResetChannel(ctx, actor, r.person.Kind, w.Team, r.person.Channel); err != nil {
			return Answer{}, err
		}
		return Answer{Title: "This channel speaks for the workspace's own tenant again"}, nil
	}
	return Answer{}, r.usage()
}
