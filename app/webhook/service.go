package webhook

import (
	"context"
	"time"

	"muster/app"
	"muster/app/template"
)

// HookStore keeps hooks and their deliveries.
type HookStore interface {
	DeleteHook(ctx context.Context, who app.Actor, name string, now time.Time) error
	Hook(ctx context.Context, tenant, name string) (Hook, error)
	// HookDeliveries returns those of a hook before a number, newest first; before 0 is from the newest on.
	HookDeliveries(ctx context.Context, tenant, hook string, before int64, limit int) ([]HookDelivery, error)
	// HookDelivery returns one with its attempts.
	HookDelivery(ctx context.Context, tenant, hook string, id int64) (HookDelivery, error)
	Hooks(ctx context.Context, tenant string) ([]Hook, error)
	// Redeliver queues one again that has ended; EConflict where it has not, or its notice is not kept any more.
	Redeliver(ctx context.Context, who app.Actor, hook string, id int64, now time.Time) (HookDelivery, error)
	// SaveHook makes a hook or changes it, and reports whether it made it. EInvalid where something is missing of a new one,
	// ETooLarge where the tenant has MaxHooks.
	SaveHook(ctx context.Context, who app.Actor, c HookChange, now time.Time) (h Hook, made bool, err error)
	// TestHook queues a test, which is made at once, whatever waits and however the hook is.
	TestHook(ctx context.Context, who app.Actor, name string, now time.Time) (HookDelivery, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store HookStore
	Now   func() time.Time
	// CheckScript tells what keeps a shell from reading a script, nil for nothing; nil: scripts are not read before they run.
	CheckScript func(script string) *template.ScriptFault
	HookGuard   HookGuard // where hooks may lead; nil: anywhere over https
}

// Service keeps the hooks that tell other systems what happens, and their deliveries.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
