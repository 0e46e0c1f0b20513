package slack

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/slack-go/slack"

	"muster/app"
	"muster/app/chat"
	"muster/app/phrase"
	"muster/bot"
)

// talk lets people in and answers them.
type talk struct {
	*base
	workers    *workers
	teams      *teams
	people     *people
	boards     *boards
	bot        *bot.Bot
	workspaces Workspaces
	follows    Follows
}

// place is where something was said or pressed, and by whom. Its last three are secrets.
type place struct {
	team, enterprise, channel, user string
	message                         string // in which a button was pressed
	response, trigger, view         string
}

// person is who asks. Every part comes from Slack.
func person(team, domain, user, name, command string) (bot.Person, bool) {
	if team == "" || user == "" || strings.ContainsAny(team+user, "/ ") || len(team)+len(user) > 100 {
		return bot.Person{}, false
	}
	return bot.Person{Kind: kind, External: team + "/" + user, Command: phrase.CutText(command, 40),
		Label: "Slack user " + phrase.CutText(name, 60) + " (" + user + ") of workspace " + phrase.CutText(domain, 60)}, true
}

// enter lets somebody in: of which workspace they are, that they are a full member of it, and in whose name the place speaks.
func (tk *talk) enter(ctx context.Context, p bot.Person, at place) (chat.ChatWorkspace, bot.Person, error) {
	w, err := tk.teams.workspace(ctx, at.team, at.enterprise)
	if err != nil {
		return w, p, err
	}
	tk.teams.budget(w.Team).heard()
	p.Channel, p.Team = at.channel, w.Team
	if at.channel != "" && at.channel[0] != 'D' {
		p.Tenant, err = tk.workspaces.ChatTenant(ctx, w, at.channel)
	} else {
		p.Tenant, err = tk.workspaces.ChatHomeTenant(ctx, w, p.External)
	}
	if err != nil {
		return w, p, err
	}
	err = tk.people.member(ctx, w, &p, at.user)
	return w, p, err
}

// sorry tells what went wrong before the bot was asked.
func (tk *talk) sorry(p bot.Person, err error) bot.Answer {
	e := app.AsError(err)
	if e.Code == app.EInternal {
		tk.log.Error("slack: somebody could not be let in", "person", p.External, "error", err)
	}
	a := bot.Answer{Title: "That did not work", Lines: []string{e.ForPeople()}, Wrong: true}
	if e.Hint != "" {
		a.Lines = append(a.Lines, e.Hint)
	}
	return a
}

// say answers a command as far as that can be; shown tells that a modal was opened instead.
func (tk *talk) say(ctx context.Context, p bot.Person, at place, text string) (a bot.Answer, shown bool) {
	w, p, err := tk.enter(ctx, p, at)
	if err != nil {
		return tk.sorry(p, err), false
	}
	a = tk.bot.Say(ctx, p, text)
	if a.Modal != nil && at.trigger != "" && tk.open(ctx, w, at.trigger, *a.Modal) {
		return a, true
	}
	return tk.follow(ctx, w, p, a, at), false
}

// follow has cards made for what was begun. Where that fails, the answer says so, for what was begun goes on.
func (tk *talk) follow(ctx context.Context, w chat.ChatWorkspace, p bot.Person, a bot.Answer, at place) bot.Answer {
	channel := firstWord(at.channel, at.user)
	for _, q := range a.Asked {
		where := channel
		if q.Tenant != p.Tenant {
			where = at.user
		}
		ask := chat.ChatAsk{Kind: kind, Team: w.Team, Tenant: q.Tenant, Request: q.Request, Channel: where, Person: at.user}
		if err := tk.follows.AskedInChat(ctx, ask); err != nil {
			tk.log.Error("slack: where a request was asked for could not be noted", "request", q.Request, "error", err)
		}
	}
	for _, o := range a.Started {
		if o.Tenant != p.Tenant {
			channel = at.user // what is another tenant's is nobody else's to read
		}
		card := chat.ChatCard{Kind: kind, Team: w.Team, Tenant: o.Tenant, Cluster: o.Cluster, Operation: o.Operation, Channel: channel, Person: at.user}
		if err := tk.follows.FollowInChat(ctx, card); err != nil {
			tk.log.Error("slack: a card could not be made", "cluster", o.Cluster, "error", err)
			a.Lines = append(a.Lines, "How far it is cannot be shown here; the portal does.")
			continue
		}
		tk.boards.wake(w.Team)
	}
	return a
}

// open shows a modal, if its trigger still holds.
func (tk *talk) open(ctx context.Context, w chat.ChatWorkspace, trigger string, m bot.Modal) bool {
	ctx, cancel := context.WithTimeout(urgent(ctx), patience)
	defer cancel()
	p, err := tk.teams.poster(ctx, w)
	if err == nil {
		err = p.open(ctx, trigger, m)
	}
	if err != nil {
		tk.teams.note(w, err)
		tk.log.Warn("slack: a form couldn't be opened", "team", w.Team, "form", m.ID, "error", err)
	}
	return err == nil
}

// renew shows a modal in place of one that is open; with a hash only where that was not changed since, else it gives true.
func (tk *talk) renew(ctx context.Context, w chat.ChatWorkspace, view, hash string, m bot.Modal) (stale bool) {
	ctx, cancel := context.WithTimeout(urgent(context.WithoutCancel(ctx)), postTime)
	defer cancel()
	p, err := tk.teams.poster(ctx, w)
	if err == nil {
		err = p.renew(ctx, view, hash, m)
	}
	if stale = app.CodeOf(err) == app.ECancelled; err != nil && !stale {
		tk.teams.note(w, err)
		tk.log.Info("slack: a modal could not be shown", "team", w.Team, "error", err)
	}
	return stale
}

// answerHosts are where Slack takes answers that come later.
var answerHosts = map[string]bool{"hooks.slack.com": true, "hooks.slack-gov.com": true}

// post answers through the address that Slack gave, which works for half an hour, and which knows what it answers. Where there is
// none, it gives false.
func (tk *talk) post(address string, a bot.Answer, replace bool) bool {
	u, err := url.Parse(address)
	if err != nil || !tk.answersAt(u) {
		if address != "" {
			tk.log.Warn("slack: an answer has no address that it could go to")
		}
		return false
	}
	// What was done is told also while the server ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tk.workers.life), postTime)
	defer cancel()
	summary, blocks := answerBlocks(a)
	err = slack.PostWebhookCustomHTTPContext(ctx, address, tk.client, &slack.WebhookMessage{Text: summary, Blocks: &slack.Blocks{BlockSet: blocks},
		ResponseType: slack.ResponseTypeEphemeral, ReplaceOriginal: replace})
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err // without the address, which is a secret
	}
	if err != nil {
		tk.log.Warn("slack: an answer could not be given", "error", err)
	}
	return err == nil
}

// tell says something to somebody: in a channel for their eyes, or directly.
func (tk *talk) tell(ctx context.Context, w chat.ChatWorkspace, channel, user string, a bot.Answer) {
	ctx, cancel := context.WithTimeout(urgent(context.WithoutCancel(ctx)), postTime)
	defer cancel()
	p, err := tk.teams.poster(ctx, w)
	if err == nil && channel != "" && channel[0] != 'D' {
		_, err = p.api.PostEphemeralContext(ctx, channel, user, answerMessage(a)...)
		err = coded(err)
	}
	if err == nil && (channel == "" || channel[0] == 'D') || app.CodeOf(err) == app.ENotFound {
		_, _, err = p.api.PostMessageContext(ctx, user, answerMessage(a)...)
		err = coded(err)
	}
	if err != nil {
		tk.teams.note(w, err)
		tk.log.Warn("slack: somebody could not be told", "team", w.Team, "error", err)
	}
}

// shown tells somebody what became of what they pressed: in the message, beside it, in the modal, or directly.
func (tk *talk) shown(ctx context.Context, w chat.ChatWorkspace, p bot.Person, at place, a bot.Answer, v slack.View) {
	switch {
	case v.ID != "" && v.Type == slack.VTModal:
		m := bot.InModal(a)
		if a.Modal != nil {
			m = *a.Modal
		}
		tk.renew(ctx, w, v.ID, "", m)
		return
	case v.ID != "" && at.trigger != "":
		m := bot.InModal(a)
		if a.Modal != nil { // pressed in a home
			m = *a.Modal
		}
		if tk.open(ctx, w, at.trigger, m) {
			return
		}
	case tk.post(at.response, a, !a.Beside):
		return
	}
	if w.Team != "" {
		tk.tell(ctx, w, at.channel, at.user, a)
	}
}

// settle tells what a reply to a modal cannot, or could not any more.
func (tk *talk) settle(ctx context.Context, w chat.ChatWorkspace, at place, view string, d bot.Submitted, onTime bool) {
	switch {
	case onTime && d.Answer != nil:
		tk.tell(ctx, w, d.Channel, at.user, *d.Answer)
	case onTime:
	case d.Late != nil:
		tk.renew(ctx, w, view, "", *d.Late)
	case len(d.Errors) > 0:
		a := bot.Answer{Title: "That did not work", Wrong: true}
		for _, e := range d.Errors {
			a.Lines = append(a.Lines, e)
		}
		tk.renew(ctx, w, view, "", bot.InModal(a))
	case d.Modal != nil:
		tk.renew(ctx, w, view, "", *d.Modal)
	case d.Answer != nil:
		tk.renew(ctx, w, view, "", bot.InModal(*d.Answer))
		tk.tell(ctx, w, d.Channel, at.user, *d.Answer)
	default:
		tk.renew(ctx, w, view, "", bot.InModal(bot.Answer{Title: "Done"}))
	}
}
