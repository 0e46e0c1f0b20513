package slack

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/phrase"
	"muster/bot"

	"github.com/slack-go/slack"
)

// teams are the workspaces that this server speaks to: what is kept of them in memory is how often they were called.
type teams struct {
	mu      sync.Mutex
	budgets map[string]*budget // by team
	fixed   chat.ChatWorkspace // the one whose token is a setting; Team is "" until Slack has said which it is
}

// budget gives the budget of a workspace; "" is the one of the setting before its name is known.
func (s *Server) budget(team string) *budget {
	s.teams.mu.Lock()
	defer s.teams.mu.Unlock()
	b := s.teams.budgets[team]
	if b == nil {
		next := s.client.Transport
		if next == nil {
			next = http.DefaultTransport
		}
		b = newBudget(next, s.now)
		s.teams.budgets[team] = b
	}
	return b
}

func (s *Server) fixedTeam() chat.ChatWorkspace {
	s.teams.mu.Lock()
	defer s.teams.mu.Unlock()
	return s.teams.fixed
}

// errNotInstalled says that a workspace is none of ours.
var errNotInstalled = &app.Error{Code: app.EForbidden, Reason: "not_installed", Message: "Muster is not installed in this workspace, or not any more.",
	Hint: "An admin of Muster can install it on the page “Slack” of the portal."}

// workspace gives the workspace of a request. A server that has one token as a setting, and none of its own to install others, takes what
// Slack has signed for it: only that workspace's app knows the signing secret.
func (s *Server) workspace(ctx context.Context, team, enterprise string) (chat.ChatWorkspace, error) {
	fixed := s.fixedTeam()
	if s.token != "" && fixed.Team == "" {
		fixed = s.learn(ctx)
	}
	if s.token != "" && (fixed.Team == team || fixed.Team == "" && s.clientID == "") {
		w, err := s.uses.Workspaces.ChatWorkspace(ctx, kind, team, "")
		if app.CodeOf(err) == app.ENotFound {
			w, err = fixed, nil
			w.Team = team
		}
		w.Tenant, w.Fixed = fixed.Tenant, true
		return w, err
	}
	w, err := s.uses.Workspaces.ChatWorkspace(ctx, kind, team, enterprise)
	if app.CodeOf(err) == app.ENotFound || err == nil && (w.State != chat.ChatConnected || w.Fixed) {
		return w, errNotInstalled
	}
	return w, err
}

// learnAgain is how long nobody asks Slack again which workspace the token of the setting is of.
const learnAgain = time.Minute

// learn asks Slack which workspace the token of the setting is of, and keeps it; without Team where Slack does not say.
func (s *Server) learn(ctx context.Context) chat.ChatWorkspace {
	s.learning.Lock()
	defer s.learning.Unlock()
	if w := s.fixedTeam(); w.Team != "" || s.now().Before(s.learnAt) {
		return w
	}
	s.learnAt = s.now().Add(learnAgain)
	ask, cancel := context.WithTimeout(urgent(ctx), patience)
	defer cancel()
	who, err := s.clientOf(s.token, "").AuthTestContext(ask)
	if err != nil {
		s.log.Warn("slack: the workspace of SLACK_BOT_TOKEN is not known yet", "error", coded(err))
		s.budget("").fail("auth.test: " + firstWord(reason(err), "Slack cannot be reached"))
		return s.fixedTeam()
	}
	w := chat.ChatWorkspace{Kind: kind, Team: who.TeamID, Enterprise: who.EnterpriseID, Name: phrase.CutText(who.Team, 100), Tenant: s.tenant, Bot: who.UserID, Fixed: true, State: chat.ChatConnected}
	if err := s.uses.Workspaces.KeepFixedWorkspace(ctx, w); err != nil {
		s.log.Warn("slack: the workspace of SLACK_BOT_TOKEN could not be kept", "error", err)
		return s.fixedTeam()
	}
	s.teams.mu.Lock()
	s.teams.fixed = w
	s.teams.mu.Unlock()
	return w
}

func firstWord(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// clientOf makes a client with a token, within the budget of a workspace.
func (s *Server) clientOf(token, team string) *slack.Client {
	return slack.New(token, slack.OptionAPIURL(s.apiURL), slack.OptionHTTPClient(&http.Client{Transport: s.budget(team), Timeout: postTime, CheckRedirect: s.client.CheckRedirect}))
}

// api gives a client for a workspace, with the token that counts now.
func (s *Server) api(ctx context.Context, w chat.ChatWorkspace) (*slack.Client, error) {
	if w.Fixed {
		return s.clientOf(s.token, w.Team), nil
	}
	t, err := s.fresh(ctx, w.Team)
	if err != nil {
		return nil, err
	}
	return s.clientOf(t.Access, w.Team), nil
}

// fresh gives the tokens of a workspace; those that end soon are refreshed before, by one server.
func (s *Server) fresh(ctx context.Context, team string) (chat.ChatTokens, error) {
	t, err := s.uses.Tokens.ChatTokens(ctx, kind, team)
	if err == nil && !t.ExpiresAt.IsZero() && t.ExpiresAt.Sub(s.now()) < refreshSoon {
		t, err = s.uses.Tokens.RefreshChatTokens(ctx, kind, team, s.server, s.refresh)
	}
	return t, err
}

// refreshSoon is how near the end of a token must be that whoever needs it sees to a new one. Before that Tend does.
const refreshSoon = 30 * time.Minute

// poster gives a poster for a workspace.
func (s *Server) poster(ctx context.Context, w chat.ChatWorkspace) (poster, error) {
	api, err := s.api(ctx, w)
	return poster{api}, err
}

// house is the poster of a Board: it asks for the token before each call, since tokens change.
type house struct {
	s *Server
	w chat.ChatWorkspace
}

var (
	_ bot.Poster    = house{}
	_ bot.Threads   = house{}
	_ bot.Teller    = house{}
	_ bot.Publisher = house{}

	_ bot.ReviewPoster = house{}
	_ bot.Zones        = house{}
)

// with does something with a poster, and notes what Slack says against it.
func (h house) with(ctx context.Context, f func(p poster) error) error {
	p, err := h.s.poster(ctx, h.w)
	if err != nil {
		return err
	}
	if err = f(p); err != nil {
		h.s.note(h.w, err)
	}
	return err
}

// note keeps what Slack has said against a call; what is said of a place or message that is gone is of no interest.
func (s *Server) note(w chat.ChatWorkspace, err error) {
	if code := app.CodeOf(err); code == app.ECredentials || code == app.EInvalid {
		s.budget(w.Team).fail(phrase.CutText(app.AsError(err).Message+": "+reason(err), 200))
	}
}

// Post implements bot.Poster.
func (h house) Post(ctx context.Context, channel, person string, c bot.Card) (where, ts string, err error) {
	err = h.with(ctx, func(p poster) error { where, ts, err = p.Post(ctx, channel, person, c); return err })
	return where, ts, err
}

// Edit implements bot.Poster.
func (h house) Edit(ctx context.Context, channel, ts string, c bot.Card) error {
	return h.with(ctx, func(p poster) error { return p.Edit(ctx, channel, ts, c) })
}

// Reply implements bot.Threads.
func (h house) Reply(ctx context.Context, channel, message string, a bot.Answer) (ts string, err error) {
	err = h.with(ctx, func(p poster) error { ts, err = p.Reply(ctx, channel, message, a); return err })
	return ts, err
}

// EditReply implements bot.Threads.
func (h house) EditReply(ctx context.Context, channel, ts string, a bot.Answer) error {
	return h.with(ctx, func(p poster) error { return p.EditReply(ctx, channel, ts, a) })
}

// Show implements bot.ReviewPoster.
func (h house) Show(ctx context.Context, channel string, a bot.Answer) (ts string, err error) {
	err = h.with(ctx, func(p poster) error {
		_, ts, err = p.api.PostMessageContext(ctx, channel, answerMessage(a)...)
		return coded(err)
	})
	return ts, err
}

// Tell implements bot.Teller.
func (h house) Tell(ctx context.Context, person, key string, a bot.Answer) error {
	return h.with(ctx, func(p poster) error { return p.Tell(ctx, person, key, a) })
}

// Told implements bot.Teller.
func (h house) Told(ctx context.Context, person, key string, since time.Time) (told bool, err error) {
	err = h.with(ctx, func(p poster) error { told, err = p.Told(ctx, person, key, since); return err })
	return told, err
}

// Publish implements bot.Publisher.
func (h house) Publish(ctx context.Context, person string, home bot.Home) error {
	return h.with(ctx, func(p poster) error { return p.Publish(ctx, person, home) })
}

// Zone implements bot.Zones.
func (h house) Zone(ctx context.Context, person string) string {
	u, err := h.s.info(ctx, h.w, h.w.Team+"/"+person, person)
	if err != nil {
		return "" // times are said in UTC then
	}
	return u.TZ
}

// portal gives an address of the portal.
func (s *Server) portal(path string) string { return strings.TrimRight(s.url(), "/") + path }
