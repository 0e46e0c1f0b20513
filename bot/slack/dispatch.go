package slack

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/phrase"
	"muster/bot"

	"github.com/slack-go/slack"
)

// One dispatcher for both transports: HTTP requests and the envelopes of Socket Mode come here once they are proved to be
// Slack's, and each gets its reply within patience. What takes longer goes on beside it.

// delivery is how something came.
type delivery struct {
	id     string // names the sending, so that what is recorded and sent again by a stranger is not heard again
	socket bool
}

// reply is what Slack is told at once.
type reply struct {
	status  int    // of HTTP; 0 is 200. With 500 and more Slack is to send it again
	refusal string // in words, where status is set
	body    any    // JSON; nil for nothing
	// Where body is too long for an acknowledgement over a websocket, small goes instead, and late says the rest.
	small any
	late  func()
}

func refuse(status int, words string) reply { return reply{status: status, refusal: words} }

// again has Slack send something again.
func (r reply) again() bool { return r.status >= http.StatusInternalServerError }

var tooBusy = refuse(http.StatusServiceUnavailable, "Muster is busy.")

// full tells that nothing more can be begun. It is asked before something is noted as seen, so that it is heard when it comes again.
func (s *Server) full() bool { return len(s.free) == cap(s.free) }

// slash is a command as Slack sends it, the same in both transports.
type slash struct {
	Team       string `json:"team_id"`
	Domain     string `json:"team_domain"`
	Enterprise string `json:"enterprise_id"`
	User       string `json:"user_id"`
	Name       string `json:"user_name"`
	Command    string `json:"command"`
	Text       string `json:"text"`
	Channel    string `json:"channel_id"`
	Response   string `json:"response_url"`
	Trigger    string `json:"trigger_id"`
}

// first tells whether something is to be acted on. What was seen before is answered as if all were well, for it is.
func (s *Server) first(ctx context.Context, names ...string) (bool, *reply) {
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	first, err := s.uses.Deliveries.ChatFirst(ctx, kind, names...)
	if err != nil {
		s.log.Error("slack: it cannot be told whether a request was seen before", "error", err)
		r := refuse(http.StatusServiceUnavailable, "Muster cannot answer right now.")
		return false, &r
	}
	return first, nil
}

// heardCommand answers what somebody typed: at once where that is possible, else through the address that Slack gives for it.
func (s *Server) heardCommand(ctx context.Context, how delivery, c slash) reply {
	p, ok := person(c.Team, c.Domain, c.User, c.Name, c.Command)
	if !ok {
		return refuse(http.StatusBadRequest, "The command does not say who asks.")
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	trigger := ""
	if c.Trigger != "" {
		trigger = "command " + c.Trigger
	}
	first, bad := s.first(ctx, trigger, how.id)
	if bad != nil {
		return *bad
	}
	if !first {
		return s.replies.of(how, trigger)
	}
	place := place{team: c.Team, enterprise: c.Enterprise, channel: c.Channel, user: c.User, response: c.Response, trigger: c.Trigger}
	var taken atomic.Bool // by whoever gives the answer, or by who has left without one
	now := make(chan bot.Answer, 1)
	begun := s.begin(func(ctx context.Context) {
		a, shown := s.say(ctx, p, place, c.Text)
		switch {
		case taken.CompareAndSwap(false, true):
			if shown {
				a = bot.Answer{}
			}
			now <- a
		case !shown:
			s.post(place.response, a, false)
		}
	})
	if !begun {
		return reply{body: ephemeral(busy)}
	}
	var r reply
	select {
	case a := <-now:
		r = replyOf(a)
		r.late = func() { s.post(place.response, a, false) }
	case <-timer.C:
		r = reply{body: ephemeral(bot.Answer{Title: "One moment …"})}
		if !taken.CompareAndSwap(false, true) {
			a := <-now
			r = replyOf(a)
			r.late = func() { s.post(place.response, a, false) }
		}
	case <-ctx.Done():
		taken.CompareAndSwap(false, true)
		return r
	}
	s.replies.keep(how, trigger, r, s.now())
	return r
}

// say answers a command as far as that can be; shown tells that a modal was opened instead.
func (s *Server) say(ctx context.Context, p bot.Person, at place, text string) (a bot.Answer, shown bool) {
	w, p, err := s.enter(ctx, p, at)
	if err != nil {
		return s.sorry(p, err), false
	}
	a = s.bot.Say(ctx, p, text)
	if a.Modal != nil && at.trigger != "" && s.open(ctx, w, at.trigger, *a.Modal) {
		return a, true
	}
	return s.follow(ctx, w, p, a, at), false
}

var busy = bot.Answer{Title: "Muster is busy", Lines: []string{"Too much is asked of it at once. Try again in a minute."}, Wrong: true}

// ephemeral is an answer for the eyes of who asked.
func ephemeral(a bot.Answer) slack.Msg {
	summary, blocks := answerBlocks(a)
	return slack.Msg{Text: summary, Blocks: slack.Blocks{BlockSet: blocks}, ResponseType: slack.ResponseTypeEphemeral}
}

// replyOf is an answer as a reply; nothing where there is nothing to say, since a modal has it.
func replyOf(a bot.Answer) reply {
	if a.Title == "" && len(a.Lines) == 0 {
		return reply{}
	}
	return reply{body: ephemeral(a)}
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
func (s *Server) enter(ctx context.Context, p bot.Person, at place) (chat.ChatWorkspace, bot.Person, error) {
	w, err := s.workspace(ctx, at.team, at.enterprise)
	if err != nil {
		return w, p, err
	}
	s.budget(w.Team).heard()
	p.Channel, p.Team = at.channel, w.Team
	if at.channel != "" && at.channel[0] != 'D' {
		p.Tenant, err = s.uses.Workspaces.ChatTenant(ctx, w, at.channel)
	} else {
		p.Tenant, err = s.uses.Workspaces.ChatHomeTenant(ctx, w, p.External)
	}
	if err != nil {
		return w, p, err
	}
	err = s.member(ctx, w, &p, at.user)
	return w, p, err
}

// sorry tells what went wrong before the bot was asked.
func (s *Server) sorry(p bot.Person, err error) bot.Answer {
	e := app.AsError(err)
	if e.Code == app.EInternal {
		s.log.Error("slack: somebody could not be let in", "person", p.External, "error", err)
	}
	a := bot.Answer{Title: "That did not work", Lines: []string{e.ForPeople()}, Wrong: true}
	if e.Hint != "" {
		a.Lines = append(a.Lines, e.Hint)
	}
	return a
}

// follow has cards made for what was begun. Where that fails, the answer says so, for what was begun goes on.
func (s *Server) follow(ctx context.Context, w chat.ChatWorkspace, p bot.Person, a bot.Answer, at place) bot.Answer {
	channel := firstWord(at.channel, at.user)
	for _, q := range a.Asked {
		where := channel
		if q.Tenant != p.Tenant {
			where = at.user
		}
		if err := s.uses.Follows.AskedInChat(ctx, chat.ChatAsk{Kind: kind, Team: w.Team, Tenant: q.Tenant, Request: q.Request, Channel: where, Person: at.user}); err != nil {
			s.log.Error("slack: where a request was asked for could not be noted", "request", q.Request, "error", err)
		}
	}
	for _, o := range a.Started {
		if o.Tenant != p.Tenant {
			channel = at.user // what is another tenant's is nobody else's to read
		}
		err := s.uses.Follows.FollowInChat(ctx, chat.ChatCard{Kind: kind, Team: w.Team, Tenant: o.Tenant, Cluster: o.Cluster, Operation: o.Operation, Channel: channel, Person: at.user})
		if err != nil {
			s.log.Error("slack: a card could not be made", "cluster", o.Cluster, "error", err)
			a.Lines = append(a.Lines, "How far it is cannot be shown here; the portal does.")
			continue
		}
		s.boards.wake(w.Team)
	}
	return a
}

// open shows a modal, if its trigger still holds.
func (s *Server) open(ctx context.Context, w chat.ChatWorkspace, trigger string, m bot.Modal) bool {
	ctx, cancel := context.WithTimeout(urgent(ctx), patience)
	defer cancel()
	p, err := s.poster(ctx, w)
	if err == nil {
		err = p.open(ctx, trigger, m)
	}
	if err != nil {
		s.note(w, err)
		s.log.Warn("slack: a form couldn't be opened", "team", w.Team, "form", m.ID, "error", err)
	}
	return err == nil
}

// answerHosts are where Slack takes answers that come later.
var answerHosts = map[string]bool{"hooks.slack.com": true, "hooks.slack-gov.com": true}

// post answers through the address that Slack gave, which works for half an hour, and which knows what it answers. Where there is
// none, it gives false.
func (s *Server) post(address string, a bot.Answer, replace bool) bool {
	u, err := url.Parse(address)
	if err != nil || !s.answersAt(u) {
		if address != "" {
			s.log.Warn("slack: an answer has no address that it could go to")
		}
		return false
	}
	// What was done is told also while the server ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life), postTime)
	defer cancel()
	summary, blocks := answerBlocks(a)
	err = slack.PostWebhookCustomHTTPContext(ctx, address, s.client, &slack.WebhookMessage{Text: summary, Blocks: &slack.Blocks{BlockSet: blocks},
		ResponseType: slack.ResponseTypeEphemeral, ReplaceOriginal: replace})
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err // without the address, which is a secret
	}
	if err != nil {
		s.log.Warn("slack: an answer could not be given", "error", err)
	}
	return err == nil
}

// tell says something to somebody: in a channel for their eyes, or directly.
func (s *Server) tell(ctx context.Context, w chat.ChatWorkspace, channel, user string, a bot.Answer) {
	ctx, cancel := context.WithTimeout(urgent(context.WithoutCancel(ctx)), postTime)
	defer cancel()
	p, err := s.poster(ctx, w)
	if err == nil && channel != "" && channel[0] != 'D' {
		_, err = p.api.PostEphemeralContext(ctx, channel, user, answerMessage(a)...)
		err = coded(err)
	}
	if err == nil && (channel == "" || channel[0] == 'D') || app.CodeOf(err) == app.ENotFound {
		_, _, err = p.api.PostMessageContext(ctx, user, answerMessage(a)...)
		err = coded(err)
	}
	if err != nil {
		s.note(w, err)
		s.log.Warn("slack: somebody could not be told", "team", w.Team, "error", err)
	}
}
