package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/store/feed"
	"muster/app/store/ledger"
	operationdb "muster/app/store/operation"
	"muster/app/template"
	"muster/app/webhook"
)

// hooksNoticed is the setting that says up to which notice deliveries were made.
const hooksNoticed = "hooks_noticed"

// maxNotices is how many notices deliveries are made of in one transaction.
const maxNotices = 1000

// QueueDeliveries implements webhook.DeliveryQueue. Notices are numbered in the order of their commits, so none comes late under a
// number that was passed already.
func (s *Store) QueueDeliveries(ctx context.Context, now time.Time) (int, error) {
	total := int64(0)
	for {
		var some bool
		if err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM notifications WHERE id >
			(SELECT CAST(value AS BIGINT) FROM settings WHERE name = ?))`, hooksNoticed).Scan(&some); err != nil || !some {
			return int(total), err
		}
		var n int64
		err := s.Write(ctx, func(t *db.Tx) (err error) {
			var from, top int64
			if err := t.Row(`SELECT CAST(value AS BIGINT) FROM settings WHERE name = ?`, hooksNoticed).Scan(&from); err != nil {
				return err
			}
			if err := t.Row(`SELECT COALESCE(max(id), ?) FROM (SELECT id FROM notifications WHERE id > ? ORDER BY id LIMIT ?) AS batch`,
				from, from, maxNotices).Scan(&top); err != nil {
				return err
			}
			if n, err = t.Count(`INSERT INTO webhook_deliveries (hook, tenant, notice, state, attempts, queued_at, next_at, ended_at, holder, held_until,
					status, took, code, error, request)
				SELECT h.id, h.tenant, n.id, 'waiting', 0, ?, ?, 0, '', 0, 0, 0, '', '', '' FROM notifications n JOIN webhooks h ON h.tenant = n.tenant
				WHERE n.id > ? AND n.id <= ? AND h.phase = '' AND n.id > h.since AND h.enabled = 1 AND h.stopped_reason = ''
					AND (h.kinds = '' OR h.kinds LIKE '%,' || n.kind || ',%') ORDER BY n.id, h.id`,
				db.Micros(now), db.Micros(now), from, top); err != nil {
				return err
			}
			return t.Exec(`UPDATE settings SET value = ? WHERE name = ?`, strconv.FormatInt(top, 10), hooksNoticed)
		})
		if err != nil {
			return int(total), err
		}
		total += n
	}
}

// heads are the deliveries that are next: the first of each hook that is on, and all tests.
const heads = `SELECT d.id, d.tenant, d.notice, d.next_at, d.held_until FROM webhooks h JOIN webhook_deliveries d ON d.id =
		(SELECT min(e.id) FROM webhook_deliveries e WHERE e.hook = h.id AND e.state = 'waiting' AND e.notice > 0)
	WHERE h.enabled = 1 AND h.stopped_reason = ''
	UNION ALL SELECT id, tenant, notice, next_at, held_until FROM webhook_deliveries WHERE state = 'waiting' AND notice = 0`

func (s *Store) ClaimDeliveries(ctx context.Context, c webhook.DeliveryClaim) (due []webhook.DueDelivery, next time.Time, err error) {
	var rows []*dueRow
	next, err = s.ClaimHeads(ctx, heads, c, func(t *db.Tx, ids []int64) error {
		rows = nil
		for _, id := range ids {
			if err := t.Exec(`UPDATE webhook_deliveries SET holder = ?, held_until = ?, attempts = attempts + 1 WHERE id = ?`,
				c.Holder, db.Micros(c.Now.Add(c.For)), id); err != nil {
				return err
			}
			r := &dueRow{}
			if err := r.scan(s, t.Row(dueColumns, id)); err != nil {
				return fmt.Errorf("delivery %d: %w", id, err)
			}
			rows = append(rows, r)
		}
		return nil
	})
	if err != nil {
		return nil, next, err
	}
	for _, r := range rows {
		due = append(due, r.due(s, c.Now))
	}
	return due, next, nil
}

const dueColumns = `SELECT ` + deliveryColumns + `, h.id, h.tenant, h.url, h.format, h.recipient, h.secret, h.old_secret, h.old_until,
	COALESCE(n.id, 0), COALESCE(n.at, 0), COALESCE(n.tenant, ''), COALESCE(n.kind, ''), COALESCE(n.cluster, ''), COALESCE(n.request, 0),
	COALESCE(n.users, '[]'), COALESCE(n.in_groups, '[]'), COALESCE(n.title, ''), COALESCE(n.body, ''), COALESCE(n.path, ''),
	COALESCE(n.action, ''), COALESCE(n.action_name, ''), d.payload, d.deadline` + deliveryTables + `WHERE d.id = ?`

// dueRow is a claimed delivery as it lies in the tables.
type dueRow struct {
	webhook.DueDelivery
	url, secret, old []byte
	until, deadline  int64
	notice           feed.NoticeRow
	payload          []byte
}

func (r *dueRow) scan(s *Store, row db.Scanner) (err error) {
	r.Delivery, err = s.scanDelivery(row, append([]any{&r.HookID, &r.Tenant, &r.url, &r.Format, &r.To, &r.secret, &r.old, &r.until}, append(r.notice.Dest(), &r.payload, &r.deadline)...)...)
	return err
}

// due opens what is sealed; what does not open is an error of this delivery alone.
func (r *dueRow) due(s *Store, now time.Time) webhook.DueDelivery {
	d := r.DueDelivery
	d.What, d.Err = r.notice.Value()
	switch {
	case d.Operation != 0:
		d.News, d.Err, d.Deadline = &template.OperationNews{}, nil, db.FromMicros(r.deadline)
		if err := json.Unmarshal(r.payload, d.News); err != nil {
			d.Err = fmt.Errorf("store: payload of delivery %d: %w", d.ID, err)
		}
	case d.Notification == 0:
		d.What = webhook.TestNotice(d.Tenant, d.QueuedAt)
	}
	open := func(sealed []byte, place string) []byte {
		b, err := s.Unseal(sealed, place+d.Tenant+"/"+d.Hook)
		if err != nil {
			d.Err = err
		}
		return b
	}
	d.URL = string(open(r.url, "hook_urls/"))
	d.Secrets = [][]byte{open(r.secret, "hook_secrets/")}
	if db.FromMicros(r.until).After(now) {
		d.Secrets = append(d.Secrets, open(r.old, "hook_secrets/"))
	}
	return d
}

func (s *Store) EndDelivery(ctx context.Context, e webhook.DeliveryEnd) error {
	code, text := app.Code(""), ""
	if e.Err != nil {
		code, text = e.Err.Code, e.Err.Advised()
	}
	state, ended, next := webhook.DeliveryMade, db.Micros(e.At), int64(0)
	switch {
	case e.Veto != "": // an answer like any other
		code, text = "", ""
	case e.Err != nil && !e.Again.IsZero():
		state, ended, next = webhook.DeliveryWaiting, 0, db.Micros(e.Again)
	case e.Err != nil:
		state = webhook.DeliveryFailed
	}
	return s.Write(ctx, func(t *db.Tx) error {
		var tenant string
		var notice, operation int64
		err := t.Row(`UPDATE webhook_deliveries SET state = ?, ended_at = ?, next_at = ?, holder = '', held_until = 0, status = ?, took = ?, code = ?,
				error = ?, request = ?
			WHERE id = ? AND holder = ? AND attempts = ? AND state = 'waiting' RETURNING tenant, notice, operation`,
			state, ended, next, e.Status, e.Duration.Microseconds(), code, text, e.Request, e.Delivery, e.Holder, e.Attempt).Scan(&tenant, &notice, &operation)
		if db.IsNoRows(err) {
			return app.Errorf(app.EStale, "Another server has taken over delivery %d.", e.Delivery)
		}
		if err != nil {
			return err
		}
		t.Topics[app.TenantTopic(tenant)] = true
		if err := t.Exec(`INSERT INTO webhook_attempts (delivery, attempt, at, took, status, code, error, response) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, e.Delivery, e.Attempt, db.Micros(e.At.Add(-e.Duration)), e.Duration.Microseconds(), e.Status, code, text, e.Response); err != nil {
			return err
		}
		failures := `failures`
		switch {
		case state == webhook.DeliveryMade:
			failures = `0`
		case state == webhook.DeliveryFailed && (notice > 0 || operation > 0):
			failures = `failures + 1`
		}
		if err := t.Exec(`UPDATE webhooks SET failures = `+failures+`, last_id = ?, last_at = ?, last_took = ?, last_status = ?, last_code = ?, last_error = ?
			WHERE id = ?`, e.Delivery, db.Micros(e.At), e.Duration.Microseconds(), e.Status, code, text, e.Hook); err != nil {
			return err
		}
		if operation > 0 {
			if err := operationdb.AnswerHold(t, e, state); err != nil {
				return err
			}
		}
		if state == webhook.DeliveryMade || e.Stop == "" && state != webhook.DeliveryFailed {
			return nil
		}
		h, err := ledger.ScanHook(t.Row(`SELECT `+ledger.HookColumns+` FROM webhooks h WHERE h.id = ?`, e.Hook))
		switch {
		case err != nil || h.State != webhook.HookActive:
			return err
		case e.Stop != "":
			return stopHook(t, h, e.Stop, e.At)
		case h.Failures >= webhook.MostFailures:
			return stopHook(t, h, fmt.Sprintf("%d deliveries in a row failed, the last with: %s", h.Failures, text), e.At)
		}
		return nil
	})
}
