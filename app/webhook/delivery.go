package webhook

import (
	"context"
	"time"

	"muster/app"
	"muster/app/template"
)

// DeliveryState is how far a delivery is.
type DeliveryState string

// The states.
const (
	DeliveryWaiting DeliveryState = "waiting" // it is still to be made, or tried again
	DeliveryMade    DeliveryState = "delivered"
	DeliveryFailed  DeliveryState = "failed"
)

// How deliveries are tried.
const (
	// DeliveryTime is for how long a delivery is tried, from when it was queued. One that waited behind others for longer
	// is tried once all the same.
	DeliveryTime = 24 * time.Hour
	// MostFailures is how many deliveries in a row may fail before their hook is stopped.
	MostFailures = 100
	// DeliveryMemory and MostDeliveries are how long, and how many of a hook, ended deliveries are kept.
	DeliveryMemory = 30 * 24 * time.Hour
	MostDeliveries = 10_000
	// NoticeMemory is how long notices are kept.
	NoticeMemory = 90 * 24 * time.Hour
	// MaxHookBody is the greatest body that is sent, in bytes; ResponseKept is how much of an answer is kept.
	MaxHookBody  = 256 << 10
	ResponseKept = 1 << 10
)

// Delivery is a notice on its way to one hook.
type Delivery struct {
	ID int64 `json:"id"`
	// MessageID is what the receiver is sent in the header webhook-id, the same at every attempt.
	MessageID    string         `json:"message_id"`
	Hook         string         `json:"hook"`
	Notification int64          `json:"notification,omitempty"` // 0: a test
	Kind         app.NoticeKind `json:"kind"`
	Title        string         `json:"title"`
	Operation    int64          `json:"operation,omitempty"` // of an operation hook: what it is notified of
	Build        int64          `json:"-"`                   // of a build's callback, which belongs to no hook of notices
	Holds        bool           `json:"holds,omitempty"`     // the operation waits for the answer
	Vetoed       bool           `json:"vetoed,omitempty"`    // the answer was no
	State        DeliveryState  `json:"state"`
	Attempts     int            `json:"attempts"`
	QueuedAt     time.Time      `json:"queued_at"`
	NextAt       time.Time      `json:"next_at,omitzero"` // of a waiting one: not before then
	EndedAt      time.Time      `json:"ended_at,omitzero"`
	// Of the last attempt:
	Status   int           `json:"status,omitempty"` // 0: no answer
	Duration time.Duration `json:"duration,omitempty"`
	Code     app.Code      `json:"code,omitempty"`
	Error    string        `json:"error,omitempty"`
	Request  string        `json:"request,omitempty"` // the body that was sent; only of a single one
	// Log is every attempt, the latest first; only of a single one.
	Log []Attempt `json:"log,omitempty"`
}

// Attempt is one try of a delivery.
type Attempt struct {
	Attempt  int           `json:"attempt"`
	At       time.Time     `json:"at"`
	Duration time.Duration `json:"duration"`
	Status   int           `json:"status,omitempty"`
	Code     app.Code      `json:"code,omitempty"`
	Error    string        `json:"error,omitempty"`
	Response string        `json:"response,omitempty"` // the first KiB
}

// DueDelivery is a delivery that was claimed, with all that it takes.
type DueDelivery struct {
	Delivery
	Tenant    string
	HookID    int64
	URL       string
	Format    Format
	To        string
	Secrets   [][]byte // the newest first; deliveries are signed with each
	What      app.Notice
	News      *template.OperationNews // instead of What
	BuildNews *app.BuildNews          // likewise
	// API and Token are how the build's commit status is written, where it has one.
	API, Token string
	// Deadline is until when an operation waits for the answer, if one does.
	Deadline time.Time
	Err      error // why it cannot be made; its attempt is to be ended
}

// DeliveryEnd is what happened to an attempt.
type DeliveryEnd struct {
	Delivery int64
	Hook     int64
	Holder   string
	Attempt  int // the number of this one; an end with an old number changes nothing
	At       time.Time
	Duration time.Duration
	Status   int
	Err      *app.Error // nil: it was taken
	Response string
	Request  string
	Again    time.Time // when it is tried again; zero: it has ended
	Veto     string    // why the operation that waits for the answer should not happen
	Stop     string    // why the hook is to be stopped; "" where it is not
}

// DeliveryQueue is what a webhook.Deliverer carries out; EndpointStore has one.
type DeliveryQueue interface {
	QueueDeliveries(ctx context.Context, now time.Time) (int, error)
	ClaimDeliveries(ctx context.Context, c DeliveryClaim) (due []DueDelivery, next time.Time, err error)
	EndDelivery(ctx context.Context, e DeliveryEnd) error
	SettleHolds(ctx context.Context, now time.Time) (next time.Time, err error)
	ForgetDeliveries(ctx context.Context, now time.Time) error
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
}

// DeliveryClaim asks for deliveries to make.
type DeliveryClaim struct {
	Holder    string
	Now       time.Time
	For       time.Duration // how long a claim holds
	Most      int
	PerTenant int
	Busy      map[string]int // by tenant: what this holder is about already
}

// backOff is how long to wait after each try.
var backOff = []time.Duration{5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour}

// NextTry says when a delivery is tried again whose attempt failed, and whether it is at all. chance is from 0 to 1 and spreads
// the tries of many.
func (d Delivery) NextTry(e *app.Error, now time.Time, chance float64) (at time.Time, again bool) {
	switch e.Code {
	case app.ETransient, app.ETimeout, app.ERateLimit, app.EHostKey:
	default:
		return time.Time{}, false
	}
	if d.Notification == 0 && d.Operation == 0 && d.Build == 0 {
		return time.Time{}, false
	}
	tried := DeliveryTime
	if d.Build != 0 {
		tried = app.BuildCallbackTime
	}
	wait := backOff[min(max(d.Attempts, 1), len(backOff))-1]
	wait += time.Duration(chance * float64(wait) / 4)
	wait = max(wait, e.RetryAfter)
	at = now.Add(wait)
	return at, at.Before(d.QueuedAt.Add(tried))
}

// HookDeliveries lists the deliveries of a hook before a number, newest first.
func (a *Service) HookDeliveries(ctx context.Context, actor app.Actor, hook string, before int64, limit int) ([]Delivery, error) {
	if err := actor.Authorize("HookDeliveries"); err != nil {
		return nil, err
	}
	return a.Store.HookDeliveries(ctx, actor.Tenant, hook, before, min(max(limit, 1), 200))
}

// Delivery returns one with its attempts.
func (a *Service) HookDelivery(ctx context.Context, actor app.Actor, hook string, id int64) (Delivery, error) {
	if err := actor.Authorize("HookDelivery"); err != nil {
		return Delivery{}, err
	}
	return a.Store.HookDelivery(ctx, actor.Tenant, hook, id)
}

// TestHook sends a test notice, whatever waits and however the hook is; it is tried once.
func (a *Service) TestHook(ctx context.Context, actor app.Actor, name string) (Delivery, error) {
	if err := actor.Authorize("TestHook"); err != nil {
		return Delivery{}, err
	}
	return a.Store.TestHook(ctx, actor, name, a.Now())
}

// Redeliver sends a delivery again that has ended, under the same number: a receiver that has it already drops it.
func (a *Service) Redeliver(ctx context.Context, actor app.Actor, hook string, id int64) (Delivery, error) {
	if err := actor.Authorize("Redeliver"); err != nil {
		return Delivery{}, err
	}
	return a.Store.Redeliver(ctx, actor, hook, id, a.Now())
}

// TestNotice is what a test says.
func TestNotice(tenant string, at time.Time) app.Notice {
	return app.Notice{At: at, Tenant: tenant, Kind: app.NoticeTest, Title: "Test notification", About: app.Subject{Kind: app.SubjectNotices},
		Text: "This webhook works. It's a test; no action is needed."}
}
