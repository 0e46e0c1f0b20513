package slack

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"muster/app"
	"muster/app/chat"
	"muster/bot"
)

const (
	peopleKept = 5 * time.Minute // how long a user's info is cached
	maxPeople  = 10000
)

// people caches users' info: whether they're full members of a workspace.
type people struct {
	*base
	teams    *teams
	accounts bot.People
	members  Members

	mu    sync.Mutex
	known map[string]seen // by team and user
	turn  int64           // grows with every change event
}

type seen struct {
	user slack.User
	at   time.Time
}

// get returns a user's info, from the cache if possible. Info that was requested during a change event isn't cached.
func (ps *people) get(ctx context.Context, key string, now func() time.Time, ask func(ctx context.Context) (*slack.User, error)) (slack.User, error) {
	ps.mu.Lock()
	k, ok := ps.known[key]
	turn := ps.turn
	ps.mu.Unlock()
	if ok && now().Sub(k.at) < peopleKept {
		return k.user, nil
	}
	u, err := ask(ctx)
	if err != nil {
		return slack.User{}, err
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if turn == ps.turn {
		if len(ps.known) >= maxPeople {
			clear(ps.known)
		}
		ps.known[key] = seen{*u, now()}
	}
	return *u, nil
}

// forgetUser drops a user from the cache, in every workspace, since an organization reports a change only once.
func (ps *people) forgetUser(user string) {
	if user == "" {
		return
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.turn++
	for key := range ps.known {
		if strings.HasSuffix(key, "/"+user) {
			delete(ps.known, key)
		}
	}
}

// member rejects people who aren't full members of a workspace: guests, bots, former members, and people of other workspaces in a shared
// channel. If the workspace is set up for it, members are linked to their accounts by verified e-mail address.
func (ps *people) member(ctx context.Context, w chat.Workspace, p *bot.Person, user string) error {
	u, err := ps.info(ctx, w, p.External, user)
	if err != nil {
		ps.teams.note(w, err)
		switch app.CodeOf(err) {
		case app.ENotFound:
			return stranger("Slack can't find your account in this workspace.")
		case app.ECredentials:
			return &app.Error{Code: app.ECredentials, Message: "Muster isn't allowed to look up your Slack account.", Hint: "Ask a Muster admin to reinstall the Slack app with the scope users:read.", Err: err}
		}
		return &app.Error{Code: app.ETransient, Message: "Slack couldn't look up your account.", Hint: "Try again in a minute.", Err: err}
	}
	if err := refusal(w, u); err != nil {
		return err
	}
	p.Zone = u.TZ
	if !w.Email || !u.IsEmailConfirmed || u.Profile.Email == "" {
		return nil
	}
	if _, err := ps.accounts.ActorOfIdentity(ctx, p.Kind, p.External); app.AsError(err).Reason != "not_linked" || err == nil {
		return nil // the bot reports the error
	}
	_, err = ps.members.LinkByEmail(ctx, p.Kind, p.External, p.Label, p.Tenant, u.Profile.Email)
	return err
}

// info is a user's info, requested at most once in peopleKept.
func (ps *people) info(ctx context.Context, w chat.Workspace, external, user string) (slack.User, error) {
	return ps.get(ctx, w.Team+"/"+external, ps.now, func(ctx context.Context) (*slack.User, error) {
		ctx, cancel := context.WithTimeout(urgent(ctx), postTime)
		defer cancel()
		api, err := ps.teams.api(ctx, w)
		if err != nil {
			return nil, err
		}
		u, err := api.GetUserInfoContext(ctx, user)
		return u, coded(err)
	})
}

func stranger(message string) error {
	return &app.Error{Code: app.EForbidden, Reason: "not_member", Message: message, Hint: "Only full members of a workspace with Muster can use it."}
}

// refusal is why a person can't use Muster in a workspace; nil if they can.
func refusal(w chat.Workspace, u slack.User) error {
	same := u.TeamID == "" || u.TeamID == w.Team || w.Enterprise != "" && u.Enterprise.EnterpriseID == w.Enterprise
	switch {
	case u.Deleted:
		return stranger("Your Slack account is deactivated.")
	case u.IsBot || u.IsWorkflowBot || u.IsConnectorBot:
		return stranger("Bots can't use Muster.")
	case u.IsRestricted || u.IsUltraRestricted || u.IsInvitedUser:
		return stranger("Guests can't use Muster.")
	case u.IsStranger, !same:
		return stranger("You're a member of another workspace than this channel's.")
	}
	return nil
}
