package webhook

import (
	"context"
	"time"

	"muster/app"
)

// HookStore keeps hooks and their deliveries.
type HookStore interface {
	Hooks(ctx context.Context, tenant string) ([]app.Hook, error)
	Hook(ctx context.Context, tenant, name string) (app.Hook, error)
	// SaveHook makes a hook or changes it, and tells whether it made it. EInvalid where something is missing of a new one,
	// ETooLarge where the tenant has MaxHooks.
	SaveHook(ctx context.Context, who app.Actor, c HookChange, now time.Time) (h app.Hook, made bool, err error)
	DeleteHook(ctx context.Context, who app.Actor, name string, now time.Time) error
	// TestHook queues a test, which is made at once, whatever waits and however the hook stands.
	TestHook(ctx context.Context, who app.Actor, name string, now time.Time) (app.HookDelivery, error)
	// HookDeliveries gives those of a hook before a number, newest first; before 0 is from the newest on.
	HookDeliveries(ctx context.Context, tenant, hook string, before int64, limit int) ([]app.HookDelivery, error)
	// HookDelivery gives one with its attempts.
	HookDelivery(ctx context.Context, tenant, hook string, id int64) (app.HookDelivery, error)
	// Redeliver queues one again that has ended; EConflict where it has not, or its notice is not kept any more.
	Redeliver(ctx context.Context, who app.Actor, hook string, id int64, now time.Time) (app.HookDelivery, error)

	// QueueDeliveries makes the deliveries of new notices, and gives how many.
	QueueDeliveries(ctx context.Context, now time.Time) (int, error)
	// ClaimDeliveries claims deliveries that are due: of each hook at most one and in order, of each tenant with what is
	// busy already at most perTenant, tests first. next is when the next one is due after now; zero: none is known.
	ClaimDeliveries(ctx context.Context, c app.DeliveryClaim) (due []app.DueDelivery, next time.Time, err error)
	// EndDelivery writes what became of an attempt, and stops the hook where that says so or too many failed. EStale where
	// the claim does not hold any more.
	EndDelivery(ctx context.Context, e app.DeliveryEnd) error
	// SettleHolds does what hooks say for that they do not answer in time, to the operations that wait for them. next is when it
	// is to be called again; zero: nothing waits.
	SettleHolds(ctx context.Context, now time.Time) (next time.Time, err error)
	// ForgetDeliveries deletes deliveries and notices that were kept long enough.
	ForgetDeliveries(ctx context.Context, now time.Time) error
}

// HookDeliveries lists the deliveries of a hook before a number, newest first.
func (a *Service) HookDeliveries(ctx context.Context, actor app.Actor, hook string, before int64, limit int) ([]app.HookDelivery, error) {
	if err := actor.Authorize("HookDeliveries"); err != nil {
		return nil, err
	}
	return a.Store.HookDeliveries(ctx, actor.Tenant, hook, before, min(max(limit, 1), 200))
}

// HookDelivery gives one with its attempts.
func (a *Service) HookDelivery(ctx context.Context, actor app.Actor, hook string, id int64) (app.HookDelivery, error) {
	if err := actor.Authorize("HookDelivery"); err != nil {
		return app.HookDelivery{}, err
	}
	return a.Store.HookDelivery(ctx, actor.Tenant, hook, id)
}

// TestHook sends a test notice, whatever waits and however the hook stands; it is tried once.
func (a *Service) TestHook(ctx context.Context, actor app.Actor, name string) (app.HookDelivery, error) {
	if err := actor.Authorize("TestHook"); err != nil {
		return app.HookDelivery{}, err
	}
	return a.Store.TestHook(ctx, actor, name, a.Now())
}

// Redeliver sends a delivery again that has ended, under the same number: a receiver that has it already drops it.
func (a *Service) Redeliver(ctx context.Context, actor app.Actor, hook string, id int64) (app.HookDelivery, error) {
	if err := actor.Authorize("Redeliver"); err != nil {
		return app.HookDelivery{}, err
	}
	return a.Store.Redeliver(ctx, actor, hook, id, a.Now())
}

// TestNotice is what a test says.
func TestNotice(tenant string, at time.Time) app.Notice {
	return app.Notice{At: at, Tenant: tenant, Kind: app.NoticeTest, Title: "This is a test", About: app.Subject{Kind: app.SubjectNotices},
		Text: "Muster reaches you: somebody asked for a test of this hook. Nothing has happened, and nothing is to be done."}
}
