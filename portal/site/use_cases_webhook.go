package site

import (
	"context"

	"muster/app"
	"muster/app/chat"
	"muster/app/notification"
	"muster/app/webhook"
)

// Hooks manages webhooks, for admins.
type Hooks interface {
	Hooks(ctx context.Context, a app.Actor) ([]webhook.Endpoint, error)
	Hook(ctx context.Context, a app.Actor, name string) (webhook.Endpoint, error)
	// SaveHook creates or updates a webhook, and returns a generated secret.
	SaveHook(ctx context.Context, a app.Actor, r webhook.EndpointRequest) (webhook.SavedEndpoint, error)
	DeleteHook(ctx context.Context, a app.Actor, name string) error
	// TestHook sends a test notification; the returned delivery is still pending.
	TestHook(ctx context.Context, a app.Actor, name string) (webhook.Delivery, error)
	// HookDeliveries returns a webhook's deliveries before a number, newest first.
	HookDeliveries(ctx context.Context, a app.Actor, hook string, before int64, limit int) ([]webhook.Delivery, error)
	HookDelivery(ctx context.Context, a app.Actor, hook string, id int64) (webhook.Delivery, error)
	Redeliver(ctx context.Context, a app.Actor, hook string, id int64) (webhook.Delivery, error)
}

// Notices are people's notifications.
type Notices interface {
	// Notices returns those before a number, newest first; 0 is from the newest on.
	Notices(ctx context.Context, a app.Actor, before int64, limit int) ([]app.Notice, error)
}

// Notifications are what a person was notified of, and how they want to be.
type Notifications interface {
	Notifications(ctx context.Context, a app.Actor, q notification.Query) ([]notification.Item, error)
	// UnreadNotifications counts those not read yet, at most notification.MostCounted.
	UnreadNotifications(ctx context.Context, a app.Actor) (int, error)
	// OpenNotification marks one as read.
	OpenNotification(ctx context.Context, a app.Actor, id int64) (notification.Item, error)
	MarkNotifications(ctx context.Context, a app.Actor, m notification.Mark) (int, error)
	NotificationPreferences(ctx context.Context, a app.Actor) (notification.Preferences, error)
	SaveNotificationPreferences(ctx context.Context, a app.Actor, c []notification.Change) (notification.Preferences, error)
}

// Chats are those that Muster is installed in.
type Chats interface {
	ChatSettings(ctx context.Context, a app.Actor, kind string) (chat.Settings, error)
	// StartChatInstall returns what has to come back with the tokens; it is bound to the actor's sign-in.
	StartChatInstall(ctx context.Context, a app.Actor) (state string, err error)
	InstallChat(ctx context.Context, a app.Actor, state string, exchange func(ctx context.Context) (chat.Workspace, chat.ChatTokens, error)) (chat.Workspace, error)
	ChangeWorkspace(ctx context.Context, a app.Actor, kind, team string, email bool) (chat.Workspace, error)
	RemoveWorkspace(ctx context.Context, a app.Actor, kind, team string) error
	UseChannel(ctx context.Context, a app.Actor, c chat.Channel) (chat.Channel, error)
	ResetChannel(ctx context.Context, a app.Actor, kind, team, channel string) error
	SetApprovals(ctx context.Context, a app.Actor, p chat.Approvals) error
}
