package slack

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"muster/app"
	"muster/app/chat"
	"muster/app/humanize"
)

// The portal's paths for the installation, which need a signed-in person.
const (
	InstallPath = Path + "install"
	OAuthPath   = Path + "oauth"
)

// Scopes are the bot's OAuth scopes, as in deploy/slack/manifest.yaml.
var Scopes = []string{"app_mentions:read", "chat:write", "chat:write.public", "commands", "im:history", "im:write", "links:read", "links:write", "users:read", "users:read.email"}

// oauth installs the app into workspaces.
type oauth struct {
	*base
	clientID, clientSecret string        // of the app; "": installation is off
	url                    func() string // of the portal
}

// Installs reports whether the app can be installed into workspaces.
func (oa *oauth) Installs() bool { return oa.clientID != "" }

// InstallURL is Slack's consent page. State comes back from it.
func (oa *oauth) InstallURL(state string) string {
	return oa.authorizePage() + "?" + url.Values{"client_id": {oa.clientID}, "scope": {strings.Join(Scopes, ",")}, "state": {state},
		"redirect_uri": {oa.portal(OAuthPath)}}.Encode()
}

// exchange gets a workspace's tokens for a code from Slack's consent page. EInvalid if Slack rejects the code.
func (oa *oauth) exchange(ctx context.Context, code string) (w chat.Workspace, t chat.ChatTokens, err error) {
	if code == "" || len(code) > 500 {
		return w, t, &app.Error{Code: app.EInvalid, Message: "Slack sent no code.", Hint: "Start the installation again."}
	}
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	r, err := slack.GetOAuthV2ResponseContext(ctx, oa.client, oa.clientID, oa.clientSecret, code, oa.portal(OAuthPath), slack.OAuthOptionAPIURL(oa.apiURL))
	if err != nil {
		return w, t, oauthError(err)
	}
	w = chat.Workspace{Kind: kind, Team: r.Team.ID, Name: r.Team.Name, Enterprise: r.Enterprise.ID, App: r.AppID, Bot: r.BotUserID, Scopes: r.Scope}
	if r.IsEnterpriseInstall {
		w.Team, w.Name = r.Enterprise.ID, r.Enterprise.Name
	}
	w.Name = humanize.CutText(w.Name, 100)
	if t, err = oa.tokens(r); err != nil {
		return w, t, err
	}
	if !teamID(w.Team) {
		return w, t, &app.Error{Code: app.EInternal, Message: "Slack didn't name the workspace."}
	}
	return w, t, nil
}

func teamID(id string) bool {
	return len(id) > 1 && len(id) <= 40 && (id[0] == 'T' || id[0] == 'E') && !strings.ContainsFunc(id, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
}

// refresh gets new tokens for a one-time refresh token.
func (oa *oauth) refresh(ctx context.Context, token string) (chat.ChatTokens, error) {
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	r, err := slack.RefreshOAuthV2TokenContext(ctx, oa.client, oa.clientID, oa.clientSecret, token, slack.OAuthOptionAPIURL(oa.apiURL))
	if err != nil {
		return chat.ChatTokens{}, oauthError(err)
	}
	return oa.tokens(r)
}

// tokens reads the bot tokens of a response.
func (oa *oauth) tokens(r *slack.OAuthV2Response) (t chat.ChatTokens, err error) {
	if !strings.HasPrefix(r.AccessToken, "xoxb-") && !strings.HasPrefix(r.AccessToken, "xoxe.xoxb-") {
		return t, &app.Error{Code: app.EInternal, Message: "Slack sent no bot token."}
	}
	t = chat.ChatTokens{Access: r.AccessToken, Refresh: r.RefreshToken}
	if r.ExpiresIn > 0 {
		t.ExpiresAt = oa.now().Add(time.Duration(r.ExpiresIn) * time.Second)
	}
	return t, nil
}

// portal returns a URL of the portal.
func (oa *oauth) portal(path string) string { return strings.TrimRight(oa.url(), "/") + path }

// brokenTokens are Slack's errors for a refresh token that is permanently invalid.
var brokenTokens = map[string]bool{"invalid_refresh_token": true, "token_revoked": true, "token_expired": true, "account_inactive": true, "invalid_grant": true}

// oauthError converts an OAuth error of Slack, without code or tokens.
func oauthError(err error) error {
	word := reason(err)
	switch {
	case brokenTokens[word]:
		return &app.Error{Code: app.ECredentials, Message: "Slack rejected the token (" + word + ").", Hint: "Reinstall Muster in the workspace."}
	case word == "invalid_code" || word == "code_already_used" || word == "bad_redirect_uri":
		return &app.Error{Code: app.EInvalid, Message: "Slack rejected the installation (" + word + ").", Hint: "Start the installation again."}
	case word == "invalid_client_id" || word == "bad_client_secret":
		return &app.Error{Code: app.EConflict, Message: "Slack rejected the app's client ID or secret.", Hint: "Check SLACK_CLIENT_ID and SLACK_CLIENT_SECRET."}
	}
	return coded(err)
}
