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

// SlackConfig is the configuration of Slack; the zero value is off.
type SlackConfig struct {
	Secret       string // signing secret; "": no requests over HTTP
	AppToken     string // for Socket Mode; "": off
	Token        string // of the bot in the one workspace of Tenant
	Tenant       string
	ClientID     string // of the app, for installation by admins
	ClientSecret string
	API          string // base URL
	Client       *http.Client
	Dialer       *websocket.Dialer
}

// readSlack reads the Slack settings from the environment.
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
		return c, cli.Usagef("SLACK_SIGNING_SECRET or SLACK_APP_TOKEN is required for Slack").
			Hint("Set the signing secret if Slack can reach this server over HTTPS, or else the app token (xapp-…)." + see)
	case c.Token == "" && c.ClientID == "":
		return c, cli.Usagef("SLACK_BOT_TOKEN or SLACK_CLIENT_ID is required for Slack").
			Hint("Set the bot token for one workspace, or the app's client ID and secret for many." + see)
	case (c.ClientID == "") != (c.ClientSecret == ""):
		return c, cli.Usagef("SLACK_CLIENT_ID and SLACK_CLIENT_SECRET must be set together").Hint("Set both, or neither." + see)
	case c.AppToken != "" && !strings.HasPrefix(c.AppToken, "xapp-"):
		return c, cli.Usagef("SLACK_APP_TOKEN isn't an app token").Hint("An app token starts with xapp- and has the scope connections:write. Find it on the “Basic Information” page of your Slack app.")
	case c.Token != "" && !strings.HasPrefix(c.Token, "xoxb-"):
		return c, cli.Usagef("SLACK_BOT_TOKEN isn't a bot token").Hint("A bot token starts with xoxb-. Find it on the “OAuth & Permissions” page of your Slack app.")
	}
	return c, nil
}

// installer is Slack's installer for the portal; nil without Slack.
func installer(s *slack.Server) chat.Chat {
	if s == nil {
		return nil
	}
	return s
}

// open opens the Slack bot; nil without Slack. At is the portal's public URL; server names this server.
func (c SlackConfig) open(uses slack.UseCases, at, server string, log *slog.Logger) *slack.Server {
	if c.Secret == "" && c.AppToken == "" {
		return nil
	}
	return slack.New(slack.Config{UseCases: uses, Secret: c.Secret, AppToken: c.AppToken, Token: c.Token, Tenant: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		API: c.API, Server: server, URL: func() string { return at }, Pages: address.Of, Client: c.Client, Dialer: c.Dialer, Log: log})
}
