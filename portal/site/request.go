package site

import (
	"context"

	"muster/app"
	"muster/app/cluster"
)

// inboxShown is the greatest number beside the entry of the menu.
const inboxShown = 99

// Inbox counts what waits for someone. Where it cannot be told, nothing is shown.
func (p *Site) Inbox(ctx context.Context, a app.Actor) int {
	list, err := p.Requests.Requests(ctx, a, cluster.RequestFilter{View: cluster.RequestsInbox, Limit: inboxShown, Bare: true})
	if err != nil {
		return 0
	}
	return len(list)
}
