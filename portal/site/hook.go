package site

import (
	"context"

	"muster/app"
	"muster/app/webhook"
)

// Hooking is a power that a Muster may have: to send a tenant's notices elsewhere. Only admins may.
type Hooking interface {
	Hooks(ctx context.Context, a app.Actor) ([]app.Hook, error)
	Hook(ctx context.Context, a app.Actor, name string) (app.Hook, error)
	// SaveHook makes a hook or changes the one of the name, and gives the secret where one was made.
	SaveHook(ctx context.Context, a app.Actor, r webhook.HookRequest) (webhook.SavedHook, error)
	DeleteHook(ctx context.Context, a app.Actor, name string) error
	// TestHook sends a test notice; the delivery that comes back is still waiting.
	TestHook(ctx context.Context, a app.Actor, name string) (app.HookDelivery, error)
	// HookDeliveries gives those of a hook before a number, newest first.
	HookDeliveries(ctx context.Context, a app.Actor, hook string, before int64, limit int) ([]app.HookDelivery, error)
	HookDelivery(ctx context.Context, a app.Actor, hook string, id int64) (app.HookDelivery, error)
	Redeliver(ctx context.Context, a app.Actor, hook string, id int64) (app.HookDelivery, error)
}

// Noticing is a power that a Muster may have: to tell people what they were told.
type Noticing interface {
	// Notices gives those before a number, newest first; 0 is from the newest on.
	Notices(ctx context.Context, a app.Actor, before int64, limit int) ([]app.Notice, error)
}

func (p *Site) Hooking() Hooking {
	h, _ := p.Muster.(Hooking)
	return h
}

func (p *Site) Noticing() Noticing {
	n, _ := p.Muster.(Noticing)
	return n
}
