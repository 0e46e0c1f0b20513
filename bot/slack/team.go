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

// teams are the connected workspaces, with their call budgets.
type teams struct {
	*base
	installations Installations
	tokens        Tokens
	oauth         *oauth
	token         string // bot token of tenant's workspace; "": none
	tenant        string
	server        string // this server's name

	mu       sync.Mutex
	budgets  map[string]*budget // by team
	fixed    chat.Workspace     // the workspace of the configured token; Team is "" until Slack has identified it
	learning sync.Mutex         // over learnAt
	learnAt  time.Time
}

// budget returns a workspace's budget; "" is the configured token's before its workspace is known.
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

func (ts *teams) fixedTeam() chat.Workspace {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.fixed
}

// errNotInstalled is the error for an unknown workspace.
var errNotInstalled = &app.Error{Code: app.EForbidden, Reason: "not_installed", Message: "Muster isn't installed in this workspace.",
	Hint: "Ask a Muster admin to install it on the portal's Slack page."}

// workspace returns a request's workspace. A server with a configured token and without installation accepts all signed requests, since
// only that workspace's app has the signing secret.
func (ts *teams) workspace(ctx context.Context, team, enterprise string) (chat.Workspace, error) {
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
	if app.CodeOf(err) == app.ENotFound || err == nil && (w.State != chat.StateConnected || w.Fixed) {
		return w, errNotInstalled
	}
	return w, err
}

// learnAgain is the minimum time between attempts to identify the configured token's workspace.
const learnAgain = time.Minute

// learn identifies the configured token's workspace and saves it; the result has no Team if that fails.
func (ts *teams) learn(ctx context.Context) chat.Workspace {
	ts.learning.Lock()
	defer ts.learning.Unlock()
	if w := ts.fixedTeam(); w.Team != "" || ts.now().Before(ts.learnAt) {
		return w
	}
	ts.learnAt = ts.now().Add(learnAgain)
	ask, cancel := context.WithTimeout(urgent(ctx), replyTime)
	defer cancel()
	who, err := ts.clientOf(ts.token, "").AuthTestContext(ask)
	if err != nil {
		ts.log.Warn("slack: the workspace of SLACK_BOT_TOKEN isn't known yet", "error", coded(err))
		ts.budget("").fail("auth.test: " + firstWord(reason(err), "Slack can't be reached"))
		return ts.fixedTeam()
	}
	w := chat.Workspace{Kind: kind, Team: who.TeamID, Enterprise: who.EnterpriseID, Name: humanize.CutText(who.Team, 100), Tenant: ts.tenant, Bot: who.UserID, Fixed: true, State: chat.StateConnected}
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

// clientOf makes a client with a token, within a workspace's budget.
func (ts *teams) clientOf(token, team string) *slack.Client {
	client := &http.Client{Transport: ts.budget(team), Timeout: postTime, CheckRedirect: ts.client.CheckRedirect}
	return slack.New(token, slack.OptionAPIURL(ts.apiURL), slack.OptionHTTPClient(client))
}

// api returns a client for a workspace, with its current token.
func (ts *teams) api(ctx context.Context, w chat.Workspace) (*slack.Client, error) {
	if w.Fixed {
		return ts.clientOf(ts.token, w.Team), nil
	}
	t, err := ts.fresh(ctx, w.Team)
	if err != nil {
		return nil, err
	}
	return ts.clientOf(t.Access, w.Team), nil
}

// fresh returns a workspace's tokens. Those that expire soon are refreshed first, by one server.
func (ts *teams) fresh(ctx context.Context, team string) (chat.ChatTokens, error) {
	t, err := ts.tokens.ChatTokens(ctx, kind, team)
	if err == nil && !t.ExpiresAt.IsZero() && t.ExpiresAt.Sub(ts.now()) < refreshSoon {
		t, err = ts.tokens.RefreshChatTokens(ctx, kind, team, ts.server, ts.oauth.refresh)
	}
	return t, err
}

// refreshSoon is how long before its expiry a token is refreshed on use. Before that, Maintain refreshes it.
const refreshSoon = 30 * time.Minute

// poster returns a poster for a workspace.
func (ts *teams) poster(ctx context.Context, w chat.Workspace) (poster, error) {
	api, err := ts.api(ctx, w)
	return poster{api}, err
}

// note records a call's error, except those for channels or messages that are gone.
func (ts *teams) note(w chat.Workspace, err error) {
	if code := app.CodeOf(err); code == app.ECredentials || code == app.EInvalid {
		ts.budget(w.Team).fail(humanize.CutText(app.AsError(err).Message+": "+reason(err), 200))
	}
}

// refreshDueTokens refreshes tokens long before they expire.
func (ts *teams) refreshDueTokens(ctx context.Context) {
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

// noteAll records the states of workspaces called since the last time.
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
