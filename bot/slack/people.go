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
	peopleKept = 5 * time.Minute // what Slack says of someone
	mostPeople = 10000
)

// people are what Slack has said of persons recently: whether they are full members of a workspace.
type people struct {
	*base
	teams    *teams
	accounts bot.People
	members  Members

	mu    sync.Mutex
	known map[string]seen // by team and user
	turn  int64           // grows with every change that Slack tells
}

type seen struct {
	user slack.User
	at   time.Time
}

// get asks about someone, or remembers. What was asked while Slack told of a change is not kept.
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
		if len(ps.known) >= mostPeople {
			clear(ps.known)
		}
		ps.known[key] = seen{*u, now()}
	}
	return *u, nil
}

// forgetUser drops what is known of someone, in every workspace: an organisation tells of a change once.
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

// member refuses who is no full member of a workspace: guests, bots, those who have left, and people of others who meet us in a
// shared channel. Where the workspace wants it, members are linked to their accounts by their verified addresses.
func (ps *people) member(ctx context.Context, w chat.ChatWorkspace, p *bot.Person, user string) error {
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
		return nil // what is wrong the bot says
	}
	_, err = ps.members.LinkByEmail(ctx, p.Kind, p.External, p.Label, p.Tenant, u.Profile.Email)
	return err
}

// info is what Slack says of someone, asked at most once in peopleKept.
func (ps *people) info(ctx context.Context, w chat.ChatWorkspace, external, user string) (slack.User, error) {
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

// refusal says why someone may not use Muster in a workspace; nil where they may.
func refusal(w chat.ChatWorkspace, u slack.User) error {
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
