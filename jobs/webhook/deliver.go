package webhook

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"muster/app"
	"muster/app/observe"
	"muster/app/webhook"
)

const (
	// most is how many deliveries run at the same time, perTenant how many of one tenant: those whose receivers hang
	// leave room for others.
	most      = 32
	perTenant = 8
	// claimFor is how long a claim holds: longer than the slowest request and what is written after it.
	claimFor = 3 * sendTime
	// fallback is how long to sleep where nothing wakes us and nothing is due.
	fallback    = 30 * time.Second
	forgetEvery = time.Hour
	grace       = 2 * time.Second // what is being sent at the end has so long
	trouble     = 5 * time.Second // the pause after the store could not be asked
)

// Store is what a Deliverer asks of the store.
type Store interface {
	QueueDeliveries(ctx context.Context, now time.Time) (int, error)
	ClaimDeliveries(ctx context.Context, c webhook.DeliveryClaim) ([]webhook.DueDelivery, time.Time, error)
	EndDelivery(ctx context.Context, e webhook.DeliveryEnd) error
	SettleHolds(ctx context.Context, now time.Time) (next time.Time, err error)
	ForgetDeliveries(ctx context.Context, now time.Time) error
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
}

// Deliverer carries out what is queued. Two of them at once do no harm: each delivery is claimed.
type Deliverer struct {
	Name   string // of this server, unlike any other's
	Store  Store
	Sender *Sender
	Portal func() Portal // where links lead
	Log    *slog.Logger
	Now    func() time.Time
	Meter  observe.Meter  // nil: no one counts
	Chance func() float64 // from 0 to 1, to spread retries; nil: at random
}

// done is a delivery that this process is not about any more.
type done struct{ tenant string }

// Run works until ctx ends; what is being sent then is given a moment, and is else sent again by the next leader.
func (d *Deliverer) Run(ctx context.Context) {
	changed, stop := d.Store.Watch(app.NoticesTopic())
	defer stop()
	ended := make(chan done, most)
	busy, under := map[string]int{}, 0
	end := func(e done) {
		under--
		if busy[e.tenant]--; busy[e.tenant] == 0 {
			delete(busy, e.tenant)
		}
	}
	defer func() {
		for under > 0 {
			end(<-ended)
		}
	}()
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cut) })()
	var forgot time.Time
	said := false
	for ctx.Err() == nil {
		now := d.Now()
		due, next, err := d.claim(ctx, now, busy, under)
		for _, one := range due {
			under++
			busy[one.Tenant]++
			go func() {
				defer func() { ended <- done{one.Tenant} }()
				d.deliver(sending, one)
			}()
		}
		if err == nil && (now.Sub(forgot) >= forgetEvery || now.Before(forgot)) {
			forgot = now
			err = d.Store.ForgetDeliveries(ctx, now)
		}
		sleep := fallback
		if !next.IsZero() {
			sleep = min(max(next.Sub(now), 10*time.Millisecond), fallback)
		}
		if err != nil && ctx.Err() == nil {
			if !said {
				d.Log.Warn("sending notifications failed", "error", err)
			}
			sleep = trouble
		}
		if said && err == nil {
			d.Log.Info("sending notifications works again")
		}
		said = err != nil
		timer := time.NewTimer(sleep)
		select {
		case <-ctx.Done():
		case <-changed:
		case e := <-ended:
			end(e)
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (d *Deliverer) claim(ctx context.Context, now time.Time, busy map[string]int, under int) ([]webhook.DueDelivery, time.Time, error) {
	over, err := d.Store.SettleHolds(ctx, now)
	if err != nil {
		return nil, time.Time{}, err
	}
	if _, err := d.Store.QueueDeliveries(ctx, now); err != nil {
		return nil, time.Time{}, err
	}
	if under >= most {
		return nil, over, nil
	}
	due, next, err := d.Store.ClaimDeliveries(ctx, webhook.DeliveryClaim{Holder: d.Name, Now: now, For: claimFor, Most: most - under, PerTenant: perTenant, Busy: busy})
	if next.IsZero() || !over.IsZero() && over.Before(next) {
		next = over
	}
	return due, next, err
}

// deliver makes one attempt and writes down what happened to it.
func (d *Deliverer) deliver(ctx context.Context, one webhook.DueDelivery) {
	e := webhook.DeliveryEnd{Delivery: one.ID, Hook: one.HookID, Holder: d.Name, Attempt: one.Attempts}
	m, err := messageOf(one, d.Portal())
	if one.Err != nil {
		d.Log.Error("can't send a notification", "tenant", one.Tenant, "hook", one.Hook, "delivery", one.ID, "error", one.Err)
		err = &app.Error{Code: app.EInternal, Message: "Can't read the webhook's settings. The server's log has the details."}
	}
	var a answer
	if err == nil {
		a, err = d.Sender.Send(ctx, m)
		if one.BuildNews != nil && one.BuildNews.Status != nil {
			err = judgeStatus(*one.BuildNews.Status, a, err)
		}
		e.Status, e.Response, e.Duration, e.Request = a.Status, a.Text, a.Duration, string(m.Body)
	}
	e.At, e.Err = d.Now(), err
	d.count(a, err)
	if err != nil {
		if one.Holds {
			e.Veto = veto(a)
		}
		if at, again := one.NextTry(err, e.At, d.chance()); again && e.Veto == "" {
			e.Again = at
			if one.Holds && at.After(one.Deadline) {
				e.Again = one.Deadline // when it is settled without an answer
			}
		}
		if err.Reason == "gone" {
			e.Stop = "The receiver responded 410 Gone: it no longer wants notifications."
		}
	}
	d.write(ctx, e)
}

// messageOf returns what is sent for a delivery.
func messageOf(one webhook.DueDelivery, p Portal) (Message, *app.Error) {
	if one.Err != nil {
		return Message{}, nil //nolint:nilerr // what there is of it isn't whole
	}
	if one.BuildNews != nil && one.BuildNews.Status != nil {
		return statusMessage(one, p)
	}
	body, err := body(one, p)
	return Message{ID: one.MessageID, URL: one.URL, Body: body, Secrets: one.Secrets}, err
}

// count counts an attempt.
func (d *Deliverer) count(a answer, failed *app.Error) {
	var err error
	if failed != nil { // a nil *Error would be an error
		err = failed
	}
	observe.MeterOf(d.Meter).Add(observe.MetricDeliveries, 1, app.CodeLabel(err))
	if a.Status > 0 {
		observe.MeterOf(d.Meter).ObserveDuration(observe.MetricDeliveryTime, a.Duration)
	}
}

func (d *Deliverer) chance() float64 {
	if d.Chance != nil {
		return d.Chance()
	}
	return rand.Float64()
}

// write tells the store how an attempt ended. A store that is away for a moment is waited for while the claim holds; after
// that the delivery is made once more, under the same number.
func (d *Deliverer) write(ctx context.Context, e webhook.DeliveryEnd) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer cancel()
	err := d.Store.EndDelivery(ctx, e)
	level := slog.LevelDebug
	if err != nil {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{slog.Int64("delivery", e.Delivery), slog.Int("attempt", e.Attempt), slog.Int("status", e.Status)}
	if e.Err != nil {
		attrs = append(attrs, slog.String("refused", e.Err.ForPeople()))
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		attrs = append(attrs, slog.Any("error", err))
	}
	d.Log.LogAttrs(ctx, level, "notification sent", attrs...)
}
