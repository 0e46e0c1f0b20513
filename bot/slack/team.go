package slack

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"muster/app"
	"muster/app/chat"
	"muster/app/humanize"
)

// teams are the workspaces that this server speaks to: what is kept of them in memory is how often they were called.
type teams struct {
	*base
	installations Installations
	tokens        Tokens
	oauth         *oauth
	token         string // of the bot in the one workspace of tenant; "": there is none
	tenant        string
	server        string // a name of this server

	mu       sync.Mutex
	budgets  map[string]*budget // by team
	fixed    chat.ChatWorkspace // the one whose token is a setting; Team is "" until Slack has said which it is
	learning sync.Mutex         // over learnAt
	learnAt  time.Time
}

// budget returns the budget of a workspace; "" is the one of the setting before its name is known.
func (ts *teams) budget(team string) *budget {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	b := ts.budgets[team]
	if b == nil {
		next := ts.client.Transport
		if next == nil {
			next = http.DefaultTransport
		}
		b = newBudget(next, ts.now)
		ts.budgets[team] = b
	}
	return b
}

func (ts *teams) fixedTeam() chat.ChatWorkspace {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.fixed
}

// errNotInstalled says that a workspace is none of ours.
var errNotInstalled = &app.Error{Code: app.EForbidden, Reason: "not_installed", Message: "Muster isn't installed in this workspace.",
	Hint: "Ask a Muster admin to install it on the portal's Slack page."}

// workspace returns the workspace of a request. A server that has one token as a setting, and none of its own to install others, takes what
// Slack has signed for it: only that workspace's app knows the signing secret.
func (ts *teams) workspace(ctx context.Context, team, enterprise string) (chat.ChatWorkspace, error) {
	fixed := ts.fixedTeam()
	if ts.token != "" && fixed.Team == "" {
		fixed = ts.learn(ctx)
	}
	if ts.token != "" && (fixed.Team == team || fixed.Team == "" && ts.oauth.clientID == "") {
		w, err := ts.installations.ChatWorkspace(ctx, kind, team, "")
		if app.CodeOf(err) == app.ENotFound {
			w, err = fixed, nil
			w.Team = team
		}
		w.Tenant, w.Fixed = fixed.Tenant, true
		return w, err
	}
	w, err := ts.installations.ChatWorkspace(ctx, kind, team, enterprise)
	if app.CodeOf(err) == app.ENotFound || err == nil && (w.State != chat.ChatConnected || w.Fixed) {
		return w, errNotInstalled
	}
	return w, err
}

// learnAgain is how long no one asks Slack again which workspace the token of the setting is of.
const learnAgain = time.Minute

// learn asks Slack which workspace the token of the setting is of, and keeps it; without Team where Slack does not say.
func (ts *teams) learn(ctx context.Context) chat.ChatWorkspace {
	ts.learning.Lock()
	defer ts.learning.Unlock()
	if w := ts.fixedTeam(); w.Team != "" || ts.now().Before(ts.learnAt) {
		return w
	}
	ts.learnAt = ts.now().Add(learnAgain)
	ask, cancel := context.WithTimeout(urgent(ctx), patience)
	defer cancel()
	who, err := ts.clientOf(ts.token, "").AuthTestContext(ask)
	if err != nil {
		ts.log.Warn("slack: the workspace of SLACK_BOT_TOKEN isn't known yet", "error", coded(err))
		ts.budget("").fail("auth.test: " + firstWord(reason(err), "Slack can't be reached"))
		return ts.fixedTeam()
	}
	w := chat.ChatWorkspace{Kind: kind, Team: who.TeamID, Enterprise: who.EnterpriseID, Name: humanize.CutText(who.Team, 100), Tenant: ts.tenant, Bot: who.UserID, Fixed: true, State: chat.ChatConnected}
	if err := ts.installations.KeepFixedWorkspace(ctx, w); err != nil {
		ts.log.Warn("slack: the workspace of SLACK_BOT_TOKEN couldn't be saved", "error", err)
		return ts.fixedTeam()
	}
	ts.mu.Lock()
	ts.fixed = w
	ts.mu.Unlock()
	return w
}

func firstWord(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// clientOf makes a client with a token, within the budget of a workspace.
func (ts *teams) clientOf(token, team string) *slack.Client {
	client := &http.Client{Transport: ts.budget(team), Timeout: postTime, CheckRedirect: ts.client.CheckRedirect}
	return slack.New(token, slack.OptionAPIURL(ts.apiURL), slack.OptionHTTPClient(client))
}

// api returns a client for a workspace, with the token that counts now.
func (ts *teams) api(ctx context.Context, w chat.ChatWorkspace) (*slack.Client, error) {
	if w.Fixed {
		return ts.clientOf(ts.token, w.Team), nil
	}
	t, err := ts.fresh(ctx, w.Team)
	if err != nil {
		return nil, err
	}
	return ts.clientOf(t.Access, w.Team), nil
}

// fresh returns the tokens of a workspace; those that end soon are refreshed before, by one server.
func (ts *teams) fresh(ctx context.Context, team string) (chat.ChatTokens, error) {
	t, err := ts.tokens.ChatTokens(ctx, kind, team)
	if err == nil && !t.ExpiresAt.IsZero() && t.ExpiresAt.Sub(ts.now()) < refreshSoon {
		t, err = ts.tokens.RefreshChatTokens(ctx, kind, team, ts.server, ts.oauth.refresh)
	}
	return t, err
}

// refreshSoon is how near the end of a token must be that whoever needs it sees to a new one. Before that Tend does.
const refreshSoon = 30 * time.Minute

// poster returns a poster for a workspace.
func (ts *teams) poster(ctx context.Context, w chat.ChatWorkspace) (poster, error) {
	api, err := ts.api(ctx, w)
	return poster{api}, err
}

// note keeps what Slack has said against a call; what is said of a place or message that is gone is of no interest.
func (ts *teams) note(w chat.ChatWorkspace, err error) {
	if code := app.CodeOf(err); code == app.ECredentials || code == app.EInvalid {
		ts.budget(w.Team).fail(humanize.CutText(app.AsError(err).Message+": "+reason(err), 200))
	}
}

// tendTokens refreshes tokens long before they end.
func (ts *teams) tendTokens(ctx context.Context) {
	if ts.oauth.clientID == "" {
		return
	}
	due, err := ts.tokens.ChatTokensDue(ctx, kind)
	for _, w := range due {
		if _, e := ts.tokens.RefreshChatTokens(ctx, kind, w.Team, ts.server, ts.oauth.refresh); e != nil && ctx.Err() == nil {
			ts.budget(w.Team).fail("The token couldn't be refreshed.")
			ts.log.Warn("slack: a token couldn't be refreshed", "team", w.Team, "error", e)
		}
	}
	if err != nil && ctx.Err() == nil {
		ts.log.Warn("slack: tokens due for refresh can't be read", "error", err)
	}
}

// noteAll writes down how workspaces do that were spoken to since the last time.
func (ts *teams) noteAll(ctx context.Context) {
	ts.mu.Lock()
	list := make(map[string]*budget, len(ts.budgets))
	for team, b := range ts.budgets {
		if team != "" {
			list[team] = b
		}
	}
	ts.mu.Unlock()
	for team, b := range list {
		h, changed := b.health()
		if !changed {
			continue
		}
		if err := ts.installations.NoteChat(ctx, kind, team, h); err != nil && ctx.Err() == nil {
			ts.log.Warn("slack: a workspace's state couldn't be recorded", "team", team, "error", err)
		}
	}
}
