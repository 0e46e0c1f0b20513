package bot

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/chat"
)

// isDirect reports whether a channel is a direct message.
func isDirect(channel string) bool { return strings.HasPrefix(channel, "D") }

// channels maps channels to tenants.
type channels struct {
	workspaces Workspaces
	channels   Channels
	people     People
}

// tenant shows or changes the tenant of a channel. Admins of either tenant may do so, so their role in their own tenant counts.
func (ch channels) tenant(ctx context.Context, r request) (Answer, error) {
	if r.person.Channel == "" || isDirect(r.person.Channel) {
		return Answer{}, &app.Error{Code: app.EInvalid, Message: "Use this command in the channel you want to show or change."}
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
			return Answer{Title: "This channel belongs to another tenant"}, nil
		}
		return Answer{Title: "This channel belongs to tenant " + tenant}, nil
	case len(r.words) == 2 && strings.EqualFold(r.words[0], "use"):
		want := chat.Channel{Kind: r.person.Kind, Team: w.Team, Channel: r.person.Channel, Tenant: strings.ToLower(r.words[1])}
		given, err := ch.channels.UseChannel(ctx, actor, want)
		if err != nil {
			return Answer{}, err
		}
		if given.Agreed() {
			return Answer{Title: "This channel now belongs to tenant " + given.Tenant}, nil
		}
		side := "the workspace's tenant"
		if given.Guest == "" {
			side = "tenant " + given.Tenant
		}
		return Answer{Title: "Waiting for the other tenant", Lines: []string{fmt.Sprintf("An admin of %s must also type: %s channel use %s", side, r.person.Command, given.Tenant)}}, nil
	case len(r.words) == 1 && strings.EqualFold(r.words[0], "reset"):
		if err := ch.channels.ResetChannel(ctx, actor, r.person.Kind, w.Team, r.person.Channel); err != nil {
			return Answer{}, err
		}
		return Answer{Title: "This channel belongs to the workspace's tenant again"}, nil
	}
	return Answer{}, r.usage()
}
