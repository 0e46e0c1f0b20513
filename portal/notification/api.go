package notification

import (
	"context"
	"time"

	"muster/app"
	"muster/app/notification"
	"muster/portal/address"
	"muster/portal/site"
	"muster/portal/wire"
)

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/inbox", p.apiList, site.About("List the notifications in your inbox, newest first")),
		site.Post("/inbox/read", p.apiRead, site.About("Mark notifications as read: some by number, all up to one, or all")),
		site.Get("/inbox/preferences", p.apiPreferences, site.About("Show how you're notified of what")),
		site.Put("/inbox/preferences", p.apiSavePreferences, site.About("Change how you're notified; missing kinds and channels keep their values")),
	}
}

type listInput struct {
	Unread bool  `query:"unread" doc:"Only unread notifications"`
	Before int64 `query:"before" minimum:"0" doc:"Only items before this number; 0 starts with the newest"`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Maximum number of items"`
}

type readInput struct {
	Body notification.Mark
}

type preferencesInput struct {
	Body struct {
		Kinds []notification.Change `json:"kinds" maxItems:"50" doc:"Kinds to change"`
	}
}

type readAnswer struct {
	Read int `json:"read" doc:"How many were unread before"`
}

func (p *Service) apiList(ctx context.Context, in *listInput) (*site.Body[wire.Inbox], error) {
	a := site.Caller(ctx)
	list, err := p.Notifications.Notifications(ctx, a, notification.Query{Unread: in.Unread, Before: in.Before, Limit: in.Limit})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := wire.Inbox{Notifications: make([]wire.InboxItem, len(list))}
	if out.Unread, err = p.Notifications.UnreadNotifications(ctx, a); err != nil {
		return nil, p.Fail(ctx, err)
	}
	for i, n := range list {
		out.Notifications[i] = wire.InboxItem{Notice: address.Notices([]app.Notice{n.Notice})[0]}
		if !n.ReadAt.IsZero() {
			out.Notifications[i].ReadAt = new(time.Time)
			*out.Notifications[i].ReadAt = n.ReadAt
		}
	}
	if len(list) == in.Limit {
		out.Next = list[len(list)-1].ID
	}
	return &site.Body[wire.Inbox]{Body: out}, nil
}

func (p *Service) apiRead(ctx context.Context, in *readInput) (*site.Body[readAnswer], error) {
	n, err := p.Notifications.MarkNotifications(ctx, site.Caller(ctx), in.Body)
	return site.Answered[readAnswer](ctx, p.Site)(readAnswer{n}, err)
}

func (p *Service) apiPreferences(ctx context.Context, _ *struct{}) (*site.Body[notification.Preferences], error) {
	return site.Answered[notification.Preferences](ctx, p.Site)(p.Notifications.NotificationPreferences(ctx, site.Caller(ctx)))
}

func (p *Service) apiSavePreferences(ctx context.Context, in *preferencesInput) (*site.Body[notification.Preferences], error) {
	return site.Answered[notification.Preferences](ctx, p.Site)(p.Notifications.SaveNotificationPreferences(ctx, site.Caller(ctx), in.Body.Kinds))
}
