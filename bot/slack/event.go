package slack

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/bot"
)

// outer is an event's envelope.
type outer struct {
	Type       string `json:"type"`
	Challenge  string `json:"challenge"`
	Team       string `json:"team_id"`
	Enterprise string `json:"enterprise_id"`
	ID         string `json:"event_id"`
	Event      inner  `json:"event"`
	Authorized []struct {
		Team       string `json:"team_id"`
		Enterprise string `json:"enterprise_id"`
		Whole      bool   `json:"is_enterprise_install"`
	} `json:"authorizations"`
}

type inner struct {
	Type      string          `json:"type"`
	User      json.RawMessage `json:"user"` // an ID, or a user object
	Tab       string          `json:"tab"`
	Channel   string          `json:"channel"`
	Text      string          `json:"text"`
	Bot       string          `json:"bot_id"`
	MessageTS string          `json:"message_ts"`
	UnfurlID  string          `json:"unfurl_id"`
	Source    string          `json:"source"`
	Links     []struct {
		URL string `json:"url"`
	} `json:"links"`
	Tokens struct {
		Bot []string `json:"bot"`
	} `json:"tokens"`
}

// user is the ID of an event's user.
func (e inner) user() (id string) {
	if json.Unmarshal(e.User, &id) == nil {
		return id
	}
	var who struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(e.User, &who)
	return who.ID
}

// maxLinks limits the links of a message.
const maxLinks = 20

// heardEvent handles an event. Removals are carried out before they're acknowledged: a lost one comes again, and doing it twice is
// harmless. Everything else is recorded first and done once.
func (dp *dispatcher) heardEvent(ctx context.Context, how delivery, body []byte) reply {
	var o outer
	if err := json.Unmarshal(body, &o); err != nil {
		return refuse(http.StatusBadRequest, "The event isn't valid JSON.")
	}
	if o.Type == "url_verification" {
		return reply{body: map[string]string{"challenge": o.Challenge}}
	}
	if o.Type != "event_callback" || o.Team == "" && o.Enterprise == "" {
		return reply{}
	}
	e := o.Event
	switch e.Type {
	case "user_change", "user_profile_changed":
		user := e.user()
		dp.people.forgetUser(user)
		return reply{}
	case "app_uninstalled":
		return dp.gone(ctx, o, "Muster was removed from the workspace in Slack.")
	case "tokens_revoked":
		if len(e.Tokens.Bot) == 0 {
			return reply{} // user tokens, which we don't have
		}
		return dp.gone(ctx, o, "The workspace's tokens were revoked in Slack.")
	case "app_home_opened", "link_shared", "app_mention":
	default:
		return reply{}
	}
	id := ""
	if o.ID != "" {
		id = "event " + o.ID
	}
	if dp.workers.full() {
		return tooBusy // before it's recorded as seen, so that it comes again
	}
	first, bad := dp.first(ctx, id, how.id)
	if bad != nil {
		return *bad
	}
	if !first {
		return reply{}
	}
	user := e.user()
	at := place{team: o.Team, enterprise: o.Enterprise, user: user, channel: e.Channel}
	if !dp.workers.begin(func(ctx context.Context) {
		switch e.Type {
		case "app_home_opened":
			dp.home(ctx, at, e)
		case "app_mention":
			dp.mentioned(ctx, at, e)
		default:
			dp.links(ctx, at, e)
		}
	}) {
		dp.log.Warn("slack: too busy; an event was dropped", "type", e.Type)
	}
	return reply{}
}

// gone removes the event's workspace, or its organization's.
func (dp *dispatcher) gone(ctx context.Context, o outer, why string) reply {
	ctx, cancel := context.WithTimeout(ctx, replyTime)
	defer cancel()
	team := o.Team
	for _, a := range o.Authorized {
		if a.Whole && a.Enterprise != "" {
			team = a.Enterprise
		}
	}
	if fixed := dp.teams.fixedTeam(); dp.teams.token != "" && fixed.Team == team {
		dp.teams.budget(team).fail(why)
		return reply{} // its token is configured in the environment
	}
	if err := dp.installations.ChatGone(ctx, kind, team, why); err != nil {
		dp.log.Error("slack: a workspace couldn't be removed", "team", team, "error", err)
		return refuse(http.StatusServiceUnavailable, "Muster is unavailable right now.")
	}
	dp.updaters.look()
	dp.log.Info("slack: a workspace was removed", "team", team, "why", why)
	return reply{}
}

// home shows a person's home.
func (dp *dispatcher) home(ctx context.Context, at place, e inner) {
	if e.Tab != "" && e.Tab != "home" {
		return
	}
	at.channel = ""
	p, ok := person(at.team, at.team, at.user, at.user, "/muster")
	if !ok {
		return
	}
	w, p, err := dp.enter(ctx, p, at)
	if w.Team == "" || app.CodeOf(err) == app.EForbidden && app.AsError(err).Reason == "not_installed" {
		return
	}
	var page bot.Home
	if err == nil {
		page = dp.bot.Home(ctx, p)
	} else {
		a := dp.sorry(p, err)
		page.Parts = []bot.Part{{Title: a.Title, Lines: a.Lines}}
	}
	ctx, cancel := context.WithTimeout(urgent(ctx), postTime)
	defer cancel()
	if err := (workspacePoster{dp.teams, dp.people, w}).Publish(ctx, at.user, page); err != nil {
		dp.log.Info("slack: a home couldn't be shown", "team", w.Team, "error", err)
	}
}

// mention is a mention of the bot at the start of a message.
var mention = regexp.MustCompile(`^\s*<@[A-Z0-9]+(\|[^>]*)?>`)

// typedText unescapes an event's text; Slack doesn't escape a command's.
var typedText = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// mentioned answers a mention like a command, visible only to its author. The mention must come first, since people also talk about the
// bot.
func (dp *dispatcher) mentioned(ctx context.Context, at place, e inner) {
	name := mention.FindString(e.Text)
	p, ok := person(at.team, at.team, at.user, at.user, "/muster")
	if name == "" || !ok || e.Bot != "" {
		return
	}
	a, _ := dp.say(ctx, p, at, typedText.Replace(strings.TrimPrefix(e.Text, name)))
	w, err := dp.teams.workspace(ctx, at.team, at.enterprise)
	if err != nil {
		return // nowhere to answer
	}
	dp.tell(ctx, w, at.channel, at.user, a)
}

// links shows previews of links to the portal.
func (dp *dispatcher) links(ctx context.Context, at place, e inner) {
	p, ok := person(at.team, at.team, at.user, at.user, "/muster")
	if !ok {
		return
	}
	var urls []string
	for _, l := range e.Links {
		if len(urls) < maxLinks && !slices.Contains(urls, l.URL) {
			urls = append(urls, l.URL)
		}
	}
	w, p, err := dp.enter(ctx, p, at)
	if err != nil {
		return // people who can't use Muster get no previews
	}
	list := dp.bot.Unfurl(ctx, p, urls)
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	err = workspacePoster{dp.teams, dp.people, w}.with(ctx, func(p poster) error { return p.unfurl(ctx, e.Channel, e.MessageTS, e.UnfurlID, e.Source, list) })
	if err != nil {
		dp.log.Info("slack: link previews couldn't be shown", "team", w.Team, "error", err)
	}
}

// unlessDone waits, or returns false if ctx ends first.
func unlessDone(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
