package main

import (
	"log/slog"
	"net/http"
	"strings"

	"muster/app"
	"muster/bot/slack"
)

// slackConfig is how Slack is spoken to, as plain values; the zero value speaks to none.
type slackConfig struct {
	Secret string // by which Slack signs
	Token  string // of the bot
	Tenant string // whose workspace it is
	Client *http.Client
}

// readSlack reads the settings of Slack from the environment.
func readSlack(env func(string) (string, bool)) (c slackConfig, err error) {
	of := func(name string) string {
		v, _ := env(name)
		return strings.TrimSpace(v)
	}
	c = slackConfig{Secret: of("SLACK_SIGNING_SECRET"), Token: of("SLACK_BOT_TOKEN"), Tenant: firstOf(of("MUSTER_SLACK_TENANT"), app.DefaultTenant)}
	switch {
	case c.Secret == "" && c.Token == "":
		return slackConfig{}, nil
	case c.Secret == "" || c.Token == "":
		return c, usagef("SLACK_SIGNING_SECRET and SLACK_BOT_TOKEN belong together").hint("Set both, or neither. See docs/slack.md.")
	case !strings.HasPrefix(c.Token, "xoxb-"):
		return c, usagef("SLACK_BOT_TOKEN is not the token of a bot").hint("It begins with xoxb-, and stands on the page “OAuth & Permissions” of your Slack app.")
	}
	return c, nil
}

// open makes the face for Slack, nil where there is none. At is where people reach the portal.
func (c slackConfig) open(a *app.App, at string, log *slog.Logger) *slack.Server {
	if c.Secret == "" {
		return nil
	}
	return slack.New(slack.Config{Muster: a, Secret: c.Secret, Token: c.Token, Tenant: c.Tenant, URL: func() string { return at }, Client: c.Client, Log: log})
}
