package site

import (
	"context"

	"muster/app"
	"muster/app/cluster"
)

// inboxShown is the largest number shown in the navigation.
const inboxShown = 99

// Unread counts a person's unread notifications; 0 on errors.
func (p *Site) Unread(ctx context.Context, a app.Actor) int {
	n, err := p.Notifications.UnreadNotifications(ctx, a)
	if err != nil {
		return 0
	}
	return n
}

// Inbox counts the requests waiting for a person; 0 on errors.
func (p *Site) Inbox(ctx context.Context, a app.Actor) int {
	list, err := p.Requests.Requests(ctx, a, cluster.RequestFilter{View: cluster.RequestsInbox, Limit: inboxShown, Bare: true})
	if err != nil {
		return 0
	}
	return len(list)
}
