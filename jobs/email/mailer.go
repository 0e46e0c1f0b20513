package email

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/smtp"
	"strings"
	"time"

	"muster/app"
	"muster/app/notification"
	"muster/app/observe"
	"muster/app/webhook"
)

const (
	most        = 20              // emails of one claim, sent one after the other over one connection
	claimFor    = 3 * sendTime    // longer than a conversation and what is written after it
	fallback    = 5 * time.Minute // between looks if nothing wakes the mailer; retries are due earlier
	trouble     = 5 * time.Second
	forgetEvery = time.Hour
)

// Mailer sends the emails that are queued. Two at once do no harm: each email is claimed. Emails are queued while a server of the
// installation sends them; without a Server, this one leaves that to the others, and only deletes what is old.
type Mailer struct {
	Name         string // of this server, unlike any other's
	ServerID     string // the same when the server starts again
	Installation string
	Store        notification.EmailQueue
	Server       *Server // nil: no email is sent
	// Notice returns what an email says.
	Notice func(ctx context.Context, e notification.Email) (app.Notice, error)
	Links  func() Links
	Log    *slog.Logger
	Now    func() time.Time
	Meter  observe.Meter  // nil: no one counts
	Chance func() float64 // from 0 to 1, to spread retries; nil: at random

	claims  int
	forgot  time.Time
	kept    time.Time // when the server last said that it sends email
	failing bool
}

// Start says whether this server sends email, before anything is queued. Run says so again.
func (m *Mailer) Start(ctx context.Context) error {
	if m.Server == nil {
		return m.Store.StopEmail(ctx, m.ServerID)
	}
	now := m.Now()
	if since := now.Sub(m.kept); since >= 0 && since < fallback {
		return nil
	}
	if err := m.Store.KeepEmail(ctx, m.ServerID, now); err != nil {
		return err
	}
	m.kept = now
	return nil
}

// Run works until ctx ends.
func (m *Mailer) Run(ctx context.Context) {
	changed, stop := m.Store.Watch(app.NoticesTopic())
	defer stop()
	for ctx.Err() == nil {
		next, err := m.round(ctx)
		sleep := fallback
		if !next.IsZero() {
			sleep = min(max(next.Sub(m.Now()), 10*time.Millisecond), fallback)
		}
		if err != nil && ctx.Err() == nil {
			m.Log.Warn("sending emails failed", "error", err)
			sleep = trouble
		}
		timer := time.NewTimer(sleep)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// round sends what is due, and returns when there is something due again.
func (m *Mailer) round(ctx context.Context) (next time.Time, err error) {
	now := m.Now()
	if now.Sub(m.forgot) >= forgetEvery || now.Before(m.forgot) {
		m.forgot = now
		if err := m.Store.ForgetNotifications(ctx, now); err != nil {
			return next, err
		}
	}
	if m.Server == nil {
		return now.Add(forgetEvery), nil
	}
	if err := m.Start(ctx); err != nil {
		return next, err
	}
	m.claims++
	holder := fmt.Sprintf("%s %d %d", m.Name, now.UnixMicro(), m.claims)
	due, next, err := m.Store.ClaimEmails(ctx, notification.EmailClaim{Holder: holder, Now: now, For: claimFor, Most: most})
	if err != nil || len(due) == 0 {
		return next, err
	}
	m.sendAll(ctx, due)
	return now, nil // perhaps there are more
}

// sendAll sends emails over one connection, which is opened again after a failure.
func (m *Mailer) sendAll(ctx context.Context, due []notification.Email) {
	var c *smtp.Client
	leave := func() {
		if c != nil {
			_ = c.Quit()
			_ = c.Close()
			c = nil
		}
	}
	defer leave()
	begun, dead := m.Now(), error(nil)
	for _, e := range due {
		end := notification.EmailEnd{Email: e, State: notification.EmailSent}
		switch {
		case e.To == "":
			end.State = notification.EmailDropped
		case m.Now().Sub(e.QueuedAt) > webhook.DeliveryTime: // as after a backup was restored
			end.State, end.Error = notification.EmailDropped, "It waited for more than a day."
		case ctx.Err() != nil || m.Now().Sub(begun) > sendTime/2: // each has the rest of the connection's time
			return // the claim ends by itself
		default:
			err := dead
			if err == nil && c == nil {
				if c, err = m.Server.open(ctx); err != nil {
					dead = err // the others needn't wait for the same
				}
			}
			if err == nil {
				if err = m.send(ctx, c, e); err != nil {
					leave()
				}
			}
			m.judge(&end, err)
		}
		if err := m.Store.EndEmail(context.WithoutCancel(ctx), end); err != nil {
			m.Log.Warn("an email's result couldn't be recorded", "email", name(e), "error", err)
		}
	}
}

func (m *Mailer) send(ctx context.Context, c *smtp.Client, e notification.Email) error {
	l := m.Links()
	l.Base = strings.TrimRight(l.Base, "/")
	if e.Address != nil {
		return m.Server.send(c, e.To, compose(addressMessage(e, l, m.Now()), m.Server.From, m.Now()))
	}
	var err error
	if e.What, err = m.Notice(ctx, e); err != nil {
		return err
	}
	return m.Server.send(c, e.To, compose(noticeMessage(e, m.Installation, l), m.Server.From, m.Now()))
}

// name is an email's in logs, which don't keep addresses.
func name(e notification.Email) string {
	if e.Address != nil {
		return string(e.Address.Kind) + " address"
	}
	return fmt.Sprintf("notification %d", e.What.ID)
}

// judge decides whether a failed email is tried again, by the same policy as webhooks.
func (m *Mailer) judge(end *notification.EmailEnd, err error) {
	observe.MeterOf(m.Meter).Add(observe.MetricEmails, 1, app.CodeLabel(coded(err)))
	if err == nil {
		if m.failing {
			m.failing = false
			m.Log.Info("sending emails works again")
		}
		return
	}
	e, chance := failure(err), rand.Float64
	if m.Chance != nil {
		chance = m.Chance
	}
	d := webhook.Delivery{Notification: end.What.ID, Attempts: end.Attempts, QueuedAt: end.QueuedAt}
	at, again := d.NextTry(e, m.Now(), chance())
	end.State, end.Error = notification.EmailFailed, e.ForPeople()
	if again {
		end.State, end.Next = notification.EmailWaiting, at
	}
	if !m.failing || !again {
		m.Log.Warn("an email couldn't be sent", "email", name(end.Email), "tenant", end.Tenant, "attempt", end.Attempts, "again", again,
			"error", strings.ReplaceAll(end.Error, end.To, "…"))
	}
	m.failing = true
}

// coded is an error with its code; nil for none.
func coded(err error) error {
	if err == nil {
		return nil
	}
	return failure(err)
}
