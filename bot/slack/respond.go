package slack

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/slack-go/slack"

	"muster/app"
	"muster/app/chat"
	"muster/app/humanize"
	"muster/bot"
)

// responder authenticates people and answers them.
type responder struct {
	*base
	workers  *workers
	teams    *teams
	people   *people
	updaters *updaters
	bot      *bot.Bot
	channels bot.Channels
	members  Members
	follows  Follows
	asks     Asks
}

// place is where a command was typed or a button pressed, and by whom. Its last three fields are secrets.
type place struct {
	team, enterprise, channel, user string
	message                         string // with the pressed button
	response, trigger, view         string
}

// person is the sender. Every part comes from Slack.
func person(team, domain, user, name, command string) (bot.Person, bool) {
	if team == "" || user == "" || strings.ContainsAny(team+user, "/ ") || len(team)+len(user) > 100 {
		return bot.Person{}, false
	}
	return bot.Person{Kind: kind, External: team + "/" + user, Command: humanize.CutText(command, 40),
		Label: "Slack user " + humanize.CutText(name, 60) + " (" + user + ") of workspace " + humanize.CutText(domain, 60)}, true
}

// enter finds the workspace and the place's tenant, and checks that the person is a full member.
func (rs *responder) enter(ctx context.Context, p bot.Person, at place) (chat.Workspace, bot.Person, error) {
	w, err := rs.teams.workspace(ctx, at.team, at.enterprise)
	if err != nil {
		return w, p, err
	}
	rs.teams.budget(w.Team).heard()
	p.Channel, p.Team = at.channel, w.Team
	if at.channel != "" && at.channel[0] != 'D' {
		p.Tenant, err = rs.channels.ChatTenant(ctx, w, at.channel)
	} else {
		p.Tenant, err = rs.members.ChatHomeTenant(ctx, w, p.External)
	}
	if err != nil {
		return w, p, err
	}
	err = rs.people.member(ctx, w, &p, at.user)
	return w, p, err
}

// sorry is the answer for an error before the bot was called.
func (rs *responder) sorry(p bot.Person, err error) bot.Answer {
	e := app.AsError(err)
	if e.Code == app.EInternal {
		rs.log.Error("slack: a person couldn't be authenticated", "person", p.External, "error", err)
	}
	a := bot.Answer{Title: "That didn't work", Lines: []string{e.ForPeople()}, Wrong: true}
	if e.Hint != "" {
		a.Lines = append(a.Lines, e.Hint)
	}
	return a
}

// say answers a command; shown reports that a modal was opened instead.
func (rs *responder) say(ctx context.Context, p bot.Person, at place, text string) (a bot.Answer, shown bool) {
	w, p, err := rs.enter(ctx, p, at)
	if err != nil {
		return rs.sorry(p, err), false
	}
	a = rs.bot.Say(ctx, p, text)
	if a.Modal != nil && at.trigger != "" && rs.open(ctx, w, at.trigger, *a.Modal) {
		return a, true
	}
	return rs.follow(ctx, w, p, a, at), false
}

// follow creates cards for started operations. If that fails, the answer says so, since the operations continue.
func (rs *responder) follow(ctx context.Context, w chat.Workspace, p bot.Person, a bot.Answer, at place) bot.Answer {
	channel := firstWord(at.channel, at.user)
	for _, q := range a.Pending {
		where := channel
		if q.Tenant != p.Tenant {
			where = at.user
		}
		ask := chat.Ask{Kind: kind, Team: w.Team, Tenant: q.Tenant, Request: q.Request, Channel: where, Person: at.user}
		if err := rs.asks.RecordChatAsk(ctx, ask); err != nil {
			rs.log.Error("slack: a request's channel couldn't be recorded", "request", q.Request, "error", err)
		}
	}
	for _, o := range a.Started {
		if o.Tenant != p.Tenant {
			channel = at.user // answers about another tenant are shown to the person only
		}
		card := chat.Card{Kind: kind, Team: w.Team, Tenant: o.Tenant, Cluster: o.Cluster, Operation: o.Operation, Channel: channel, Person: at.user}
		if err := rs.follows.FollowInChat(ctx, card); err != nil {
			rs.log.Error("slack: a card couldn't be created", "cluster", o.Cluster, "error", err)
			a.Lines = append(a.Lines, "Progress can't be shown here. Follow it in the portal.")
			continue
		}
		rs.updaters.wake(w.Team)
	}
	return a
}

// open shows a modal if its trigger is still valid.
func (rs *responder) open(ctx context.Context, w chat.Workspace, trigger string, m bot.Modal) bool {
	ctx, cancel := context.WithTimeout(urgent(ctx), replyTime)
	defer cancel()
	p, err := rs.teams.poster(ctx, w)
	if err == nil {
		err = p.open(ctx, trigger, m)
	}
	if err != nil {
		rs.teams.note(w, err)
		rs.log.Warn("slack: a form couldn't be opened", "team", w.Team, "form", m.ID, "error", err)
	}
	return err == nil
}

// renew replaces an open modal; with a hash, only if the modal hasn't changed since, otherwise it returns true.
func (rs *responder) renew(ctx context.Context, w chat.Workspace, view, hash string, m bot.Modal) (stale bool) {
	ctx, cancel := context.WithTimeout(urgent(context.WithoutCancel(ctx)), postTime)
	defer cancel()
	p, err := rs.teams.poster(ctx, w)
	if err == nil {
		err = p.renew(ctx, view, hash, m)
	}
	if stale = app.CodeOf(err) == app.ECancelled; err != nil && !stale {
		rs.teams.note(w, err)
		rs.log.Info("slack: a modal couldn't be shown", "team", w.Team, "error", err)
	}
	return stale
}

// answerHosts are the hosts of Slack's response URLs.
var answerHosts = map[string]bool{"hooks.slack.com": true, "hooks.slack-gov.com": true}

// post answers through Slack's response URL, which works for half an hour. Without one it returns false.
func (rs *responder) post(address string, a bot.Answer, replace bool) bool {
	u, err := url.Parse(address)
	if err != nil || !rs.answersAt(u) {
		if address != "" {
			rs.log.Warn("slack: an answer has no valid response URL")
		}
		return false
	}
	// Results are sent even while the server stops.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(rs.workers.life), postTime)
	defer cancel()
	summary, blocks := answerBlocks(a)
	err = slack.PostWebhookCustomHTTPContext(ctx, address, rs.client, &slack.WebhookMessage{Text: summary, Blocks: &slack.Blocks{BlockSet: blocks},
		ResponseType: slack.ResponseTypeEphemeral, ReplaceOriginal: replace})
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err // without the address, which is a secret
	}
	if err != nil {
		rs.log.Warn("slack: an answer couldn't be sent", "error", err)
	}
	return err == nil
}

// tell answers a person: visible only to them in a channel, or as a direct message.
func (rs *responder) tell(ctx context.Context, w chat.Workspace, channel, user string, a bot.Answer) {
	ctx, cancel := context.WithTimeout(urgent(context.WithoutCancel(ctx)), postTime)
	defer cancel()
	p, err := rs.teams.poster(ctx, w)
	if err == nil && channel != "" && channel[0] != 'D' {
		_, err = p.api.PostEphemeralContext(ctx, channel, user, answerMessage(a)...)
		err = coded(err)
	}
	if err == nil && (channel == "" || channel[0] == 'D') || app.CodeOf(err) == app.ENotFound {
		_, _, err = p.api.PostMessageContext(ctx, user, answerMessage(a)...)
		err = coded(err)
	}
	if err != nil {
		rs.teams.note(w, err)
		rs.log.Warn("slack: a message couldn't be sent", "team", w.Team, "error", err)
	}
}

// shown shows the result of a button: in the message, beside it, in the modal, or as a direct message.
func (rs *responder) shown(ctx context.Context, w chat.Workspace, at place, a bot.Answer, v slack.View) {
	switch {
	case v.ID != "" && v.Type == slack.VTModal:
		m := bot.InModal(a)
		if a.Modal != nil {
			m = *a.Modal
		}
		rs.renew(ctx, w, v.ID, "", m)
		return
	case v.ID != "" && at.trigger != "":
		m := bot.InModal(a)
		if a.Modal != nil { // pressed in a home
			m = *a.Modal
		}
		if rs.open(ctx, w, at.trigger, m) {
			return
		}
	case rs.post(at.response, a, !a.Beside):
		return
	}
	if w.Team != "" {
		rs.tell(ctx, w, at.channel, at.user, a)
	}
}

// settle shows the result of a submitted modal that its reply can't show, or that came too late for it.
func (rs *responder) settle(ctx context.Context, w chat.Workspace, at place, view string, d bot.Submitted, onTime bool) {
	switch {
	case onTime && d.Answer != nil:
		rs.tell(ctx, w, d.Channel, at.user, *d.Answer)
	case onTime:
	case d.Late != nil:
		rs.renew(ctx, w, view, "", *d.Late)
	case len(d.Errors) > 0:
		a := bot.Answer{Title: "That didn't work", Wrong: true}
		for _, e := range d.Errors {
			a.Lines = append(a.Lines, e)
		}
		rs.renew(ctx, w, view, "", bot.InModal(a))
	case d.Modal != nil:
		rs.renew(ctx, w, view, "", *d.Modal)
	case d.Answer != nil:
		rs.renew(ctx, w, view, "", bot.InModal(*d.Answer))
		rs.tell(ctx, w, d.Channel, at.user, *d.Answer)
	default:
		rs.renew(ctx, w, view, "", bot.InModal(bot.Answer{Title: "Done"}))
	}
}
