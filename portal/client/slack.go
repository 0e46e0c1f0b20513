package client

import (
	"context"
	"net/url"

	"muster/app/chat"
)

// SlackPath is the path of a Slack workspace, or of one of its subresources.
func SlackPath(team string, rest ...string) string {
	path := "/slack/workspaces/" + url.PathEscape(team)
	for _, r := range rest {
		path += "/" + url.PathEscape(r)
	}
	return path
}

// Slack is the connection to Slack.
type Slack part

// Get returns the state of the connection.
func (c *Slack) Get(ctx context.Context) (h chat.Settings, err error) {
	err = c.client.CallInto(ctx, "/slack", nil, &h)
	return h, err
}
