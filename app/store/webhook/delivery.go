package webhook

import (
	"context"
	"fmt"
	"math"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/store/ledger"
	"muster/app/webhook"
)

const deliveryColumns = `d.id, h.name, d.notice, d.state, d.attempts, d.queued_at, d.next_at, d.ended_at, d.status, d.took, d.code, d.error,
	COALESCE(n.kind, ''), COALESCE(n.title, d.title), d.operation, d.verdict`

const deliveryTables = ` FROM webhook_deliveries d JOIN webhooks h ON h.id = d.hook LEFT JOIN notifications n ON n.id = d.notice `

func (s *Store) scanDelivery(row db.Scanner, more ...any) (webhook.Delivery, error) {
	var d webhook.Delivery
	var queued, next, ended, took int64
	var verdict string
	err := row.Scan(append([]any{&d.ID, &d.Hook, &d.Notification, &d.State, &d.Attempts, &queued, &next, &ended, &d.Status, &took, &d.Code, &d.Error,
		&d.Kind, &d.Title, &d.Operation, &verdict}, more...)...)
	d.QueuedAt, d.EndedAt, d.Duration = db.FromMicros(queued), db.FromMicros(ended), time.Duration(took)*time.Microsecond
	if d.State == webhook.DeliveryWaiting {
		d.NextAt = db.FromMicros(next)
	}
	switch {
	case d.Operation != 0:
		d.Kind, d.Holds, d.Vetoed = app.NoticeOperation, verdict == ledger.HoldOpen, verdict == ledger.HoldVeto
	case d.Notification == 0:
		test := webhook.TestNotice("", d.QueuedAt)
		d.Kind, d.Title = test.Kind, test.Title
	}
	d.MessageID = fmt.Sprintf("msg_%s_%d", s.InstallationID, d.ID)
	return d, err
}

func (s *Store) HookDeliveries(ctx context.Context, tenant, hook string, before int64, limit int) ([]webhook.Delivery, error) {
	h, err := s.Hook(ctx, tenant, hook)
	if err != nil {
		return nil, err
	}
	if before <= 0 {
		before = math.MaxInt64
	}
	list := []webhook.Delivery{}
	err = s.Each(ctx, func(row db.Scanner) error {
		d, err := s.scanDelivery(row)
		list = append(list, d)
		return err
	}, `SELECT `+deliveryColumns+deliveryTables+`WHERE d.hook = ? AND d.id < ? ORDER BY d.id DESC LIMIT ?`, h.ID, before, limit)
	return list, err
}

const oneDelivery = `WHERE h.tenant = ? AND h.name = ? AND d.id = ?`

func errNoDelivery(id int64) error {
	return app.Errorf(app.ENotFound, "This webhook has no delivery %d.", id)
}

func (s *Store) HookDelivery(ctx context.Context, tenant, hook string, id int64) (webhook.Delivery, error) {
	var request string
	d, err := s.scanDelivery(s.Row(ctx, `SELECT `+deliveryColumns+`, d.request`+deliveryTables+oneDelivery, tenant, hook, id), &request)
	if db.IsNoRows(err) {
		return d, errNoDelivery(id)
	}
	if err != nil {
		return d, err
	}
	d.Request = request
	err = s.Each(ctx, func(row db.Scanner) error {
		var a webhook.Attempt
		var at, took int64
		err := row.Scan(&a.Attempt, &at, &took, &a.Status, &a.Code, &a.Error, &a.Response)
		a.At, a.Duration = db.FromMicros(at), time.Duration(took)*time.Microsecond
		d.Log = append(d.Log, a)
		return err
	}, `SELECT attempt, at, took, status, code, error, response FROM webhook_attempts WHERE delivery = ? ORDER BY attempt DESC LIMIT 200`, id)
	return d, err
}

// maxTests is how many tests of a hook may wait.
const maxTests = 3

func (s *Store) TestHook(ctx context.Context, who app.Actor, name string, now time.Time) (d webhook.Delivery, err error) {
	var id int64
	err = s.Write(ctx, func(t *db.Tx) error {
		h, err := hookNamed(t, who.Tenant, name)
		if err != nil {
			return err
		}
		if h.Script != "" {
			return &app.Error{Code: app.EConflict, Message: "A script runs on an operation's nodes, so it can't be tested without one.",
				Hint: "Preview an operation: its plan shows where the script runs."}
		}
		var waiting int
		if err := t.Row(`SELECT count(*) FROM webhook_deliveries WHERE hook = ? AND state = 'waiting' AND notice = 0 AND operation = 0`, h.ID).Scan(&waiting); err != nil {
			return err
		}
		if waiting >= maxTests {
			return &app.Error{Code: app.ERateLimit, Message: "Tests of this webhook are still in progress.", Hint: "Wait for their results.", RetryAfter: 10 * time.Second}
		}
		if err := t.Row(`INSERT INTO webhook_deliveries (hook, tenant, notice, state, attempts, queued_at, next_at, ended_at, holder, held_until,
				status, took, code, error, request)
			VALUES (?, ?, 0, 'waiting', 0, ?, ?, 0, '', 0, 0, 0, '', '', '') RETURNING id`, h.ID, h.Tenant, db.Micros(now), db.Micros(now)).Scan(&id); err != nil {
			return err
		}
		t.Topics[app.NoticesTopic()] = true
		return t.AddAudit(now, who, "hook.test", name, nil, nil)
	})
	if err != nil {
		return d, err
	}
	return s.HookDelivery(ctx, who.Tenant, name, id)
}

func (s *Store) Redeliver(ctx context.Context, who app.Actor, hook string, id int64, now time.Time) (d webhook.Delivery, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		h, err := hookNamed(t, who.Tenant, hook)
		if err != nil {
			return err
		}
		was, err := s.scanDelivery(t.Row(`SELECT `+deliveryColumns+deliveryTables+oneDelivery, who.Tenant, hook, id))
		conflict := func(message, hint string) error { return &app.Error{Code: app.EConflict, Message: message, Hint: hint} }
		switch {
		case db.IsNoRows(err):
			return errNoDelivery(id)
		case err != nil:
			return err
		case was.Operation != 0:
			return conflict("Operation deliveries can't be sent again: they describe a past state.", "")
		case was.Notification == 0:
			return conflict("A test can't be sent again.", "Send another test.")
		case was.State == webhook.DeliveryWaiting:
			return conflict("This delivery is still waiting to be sent.", "")
		case h.State != webhook.HookActive:
			return conflict("The webhook is off.", "Turn it on first.")
		case was.Kind == "":
			return conflict("The notification is no longer stored.", "")
		}
		if err := t.Exec(`UPDATE webhook_deliveries SET state = 'waiting', queued_at = ?, next_at = ?, ended_at = 0, holder = '', held_until = 0 WHERE id = ?`,
			db.Micros(now), db.Micros(now), id); err != nil {
			return err
		}
		t.Topics[app.NoticesTopic()] = true
		return t.AddAudit(now, who, "hook.resend", fmt.Sprintf("%s/%d", hook, id), nil, nil)
	})
	if err != nil {
		return d, err
	}
	return s.HookDelivery(ctx, who.Tenant, hook, id)
}

func (s *Store) ForgetDeliveries(ctx context.Context, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		const old = `FROM webhook_deliveries WHERE state <> 'waiting' AND ended_at < ?
			OR verdict <> 'open' AND id <= (SELECT e.id FROM webhook_deliveries e WHERE e.hook = webhook_deliveries.hook ORDER BY e.id DESC LIMIT 1 OFFSET ?)`
		args := []any{db.Micros(now.Add(-webhook.DeliveryMemory)), webhook.MostDeliveries}
		if err := t.Exec(`DELETE FROM webhook_attempts WHERE delivery IN (SELECT id `+old+`)`, args...); err != nil {
			return err
		}
		if err := t.Exec(`DELETE `+old, args...); err != nil {
			return err
		}
		return t.Exec(`DELETE FROM notifications WHERE at < ?`, db.Micros(now.Add(-webhook.NoticeMemory)))
	})
}
