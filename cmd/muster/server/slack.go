package server

import (
	"cmp"
	"log/slog"
	"net/http"
	"strings"

	"muster/app"
	"muster/bot/slack"
	"muster/cmd/muster/cli"
	"muster/portal/address"
	"muster/portal/chat"

	"github.com/gorilla/websocket"
)

// SlackConfig is how Slack is spoken to, as plain values; the zero value speaks to none.
type SlackConfig struct {
	Secret       string // by which Slack signs; "": nothing is taken over HTTP
	AppToken     string // by which Socket Mode is opened; "": it is not
	Token        string // of the bot in the one workspace of Tenant
	Tenant       string
	ClientID     string // of the app, by which admins install it into workspaces
	ClientSecret string
	API          string // where its methods are called
	Client       *http.Client
	Dialer       *websocket.Dialer
}

// readSlack reads the settings of Slack from the environment.
func readSlack(env func(string) (string, bool)) (c SlackConfig, err error) {
	of := func(name string) string {
		v, _ := env(name)
		return strings.TrimSpace(v)
	}
	c = SlackConfig{Secret: of("SLACK_SIGNING_SECRET"), AppToken: of("SLACK_APP_TOKEN"), Token: of("SLACK_BOT_TOKEN"), ClientID: of("SLACK_CLIENT_ID"), ClientSecret: of("SLACK_CLIENT_SECRET"),
		Tenant: cmp.Or(of("MUSTER_SLACK_TENANT"), app.DefaultTenant)}
	if c.API, err = slack.CheckAPI(of("SLACK_API_URL")); err != nil {
		return c, cli.Usagef("SLACK_API_URL: %s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
	}
	const see = " See docs/slack.md."
	switch {
	case c.Secret == "" && c.AppToken == "" && c.Token == "" && c.ClientID == "" && c.ClientSecret == "":
		return SlackConfig{}, nil
	case c.Secret == "" && c.AppToken == "":
		return c, cli.Usagef("SLACK_SIGNING_SECRET or SLACK_APP_TOKEN must be set beside the other settings of Slack").
			Hint("Set the signing secret where Slack reaches this server over https, the token of the app (xapp-…) where it does not." + see)
	case c.Token == "" && c.ClientID == "":
		return c, cli.Usagef("SLACK_BOT_TOKEN or SLACK_CLIENT_ID must be set beside the other settings of Slack").
			Hint("Set the bot's token for one workspace, or the app's id and secret to install it into many." + see)
	case (c.ClientID == "") != (c.ClientSecret == ""):
		return c, cli.Usagef("SLACK_CLIENT_ID and SLACK_CLIENT_SECRET belong together").Hint("Set both, or neither." + see)
	case c.AppToken != "" && !strings.HasPrefix(c.AppToken, "xapp-"):
		return c, cli.Usagef("SLACK_APP_TOKEN is not the token of an app").Hint("It begins with xapp-, has the scope connections:write, and stands on the page “Basic Information” of your Slack app.")
	case c.Token != "" && !strings.HasPrefix(c.Token, "xoxb-"):
		return c, cli.Usagef("SLACK_BOT_TOKEN is not the token of a bot").Hint("It begins with xoxb-, and stands on the page “OAuth & Permissions” of your Slack app.")
	}
	return c, nil
}

// installer is the face for Slack as the portal asks for it; nil where there is none.
func installer(s *slack.Server) chat.Chat {
	if s == nil {
		return nil
	}
	return s
}

// open makes the face for Slack, nil where there is none. At is where people reach the portal; server names this server.
func (c SlackConfig) open(uses slack.UseCases, at, server string, log *slog.Logger) *slack.Server {
	if c.Secret == "" && c.AppToken == "" {
		return nil
	}
	return slack.New(slack.Config{UseCases: uses, Secret: c.Secret, AppToken: c.AppToken, Token: c.Token, Tenant: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		API: c.API, Server: server, URL: func() string { return at }, Pages: address.Of, Client: c.Client, Dialer: c.Dialer, Log: log})
}
