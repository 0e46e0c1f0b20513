package build

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"muster/app"
	appbuild "muster/app/build"
	"muster/app/store/db"
	"muster/app/webhook"
)

// buildCallbacks are what builds are to be sent.
type buildCallbacks struct{ s *Store }

var _ webhook.DeliveryQueue = buildCallbacks{}

// BuildCallbacks are what builds are to be sent: of each build one at a time, in the order of its states. They are queued by IngestBuild
// and MoveBuild, and go with their builds.
func (s *Store) BuildCallbacks() webhook.DeliveryQueue { return buildCallbacks{s} }

// sealedCall is where a build's callback goes, as it lies in the table.
type sealedCall struct {
	url              []byte
	name, shown, why string
}

func buildCallAAD(name string) string { return "build_callbacks/" + name }

func (s *Store) sealCall(b *appbuild.Start) sealedCall {
	switch {
	case b == nil:
		return sealedCall{url: []byte{}}
	case b.Call.URL == "":
		return sealedCall{url: []byte{}, why: b.Call.Why}
	}
	name := rand.Text()
	return sealedCall{url: s.Seal([]byte(b.Call.URL), buildCallAAD(name)), name: name, shown: b.Call.Shown}
}

// callbacksToCome reports whether a hook has callbacks yet to be signed.
const callbacksToCome = `EXISTS (SELECT 1 FROM builds b WHERE b.hook = build_hooks.id AND length(b.callback) > 0
	AND (b.live = 1 OR EXISTS (SELECT 1 FROM build_callbacks c WHERE c.build = b.id AND c.outcome = 'waiting')))`

// queueCallbacks queues what a build is sent, if anyone wants it.
func queueCallbacks(t *db.Tx, tenant string, n app.BuildNews) error {
	t.Topics[app.BuildsTopic()] = true
	queue := func(kind string, n app.BuildNews, where string) error {
		return t.Exec(`INSERT INTO build_callbacks (build, tenant, state, payload, outcome, attempts, queued_at, next_at, ended_at, holder, held_until, status, took, code, error, kind)
			SELECT b.id, ?, ?, ?, 'waiting', 0, ?, ?, 0, '', 0, 0, 0, '', '', ? FROM builds b JOIN build_hooks h ON h.id = b.hook WHERE b.id = ? AND `+where,
			tenant, string(n.State), db.JSON(n), db.Micros(n.At), db.Micros(n.At), kind, n.Build)
	}
	if n.Status != nil {
		status := n
		status.Nodes = nil
		if err := queue("status", status, `length(h.status_token) > 0`); err != nil {
			return err
		}
	}
	if n.Status = nil; !n.State.HasCallback() {
		return nil
	}
	return queue("callback", n, `length(b.callback) > 0`)
}

const callbackColumns = `c.id, c.state, c.outcome, c.attempts, c.queued_at, c.next_at, c.ended_at, c.status, c.took, c.code, c.error`

func (s *Store) scanCallback(row db.Scanner, more ...any) (c appbuild.Callback, err error) {
	var queued, next, ended, took int64
	err = row.Scan(append([]any{&c.ID, &c.State, &c.Outcome, &c.Attempts, &queued, &next, &ended, &c.Status, &took, &c.Code, &c.Error}, more...)...)
	c.QueuedAt, c.EndedAt, c.Duration = db.FromMicros(queued), db.FromMicros(ended), time.Duration(took)*time.Microsecond
	if c.Outcome == webhook.DeliveryWaiting {
		c.NextAt = db.FromMicros(next)
	}
	c.MessageID = s.callbackID(c.ID)
	return c, err
}

func (s *Store) callbackID(id int64) string {
	return fmt.Sprintf("%s%s_%d", app.BuildCallbackMark, s.InstallationID, id)
}

// toldOf puts to builds what they were sent.
func (s *Store) toldOf(ctx context.Context, list []appbuild.Build) error {
	at, args := map[int64]*appbuild.Build{}, []any{}
	for i, b := range list {
		at[b.ID] = &list[i]
		args = append(args, b.ID)
	}
	if len(args) == 0 {
		return nil
	}
	return s.Each(ctx, func(row db.Scanner) error {
		var build int64
		var kind string
		c, err := s.scanCallback(row, &build, &kind)
		switch b := at[build]; {
		case err != nil:
		case kind == "status":
			b.Statuses = append(b.Statuses, c)
		case b.Callback != nil:
			b.Callback.Deliveries = append(b.Callback.Deliveries, c)
		}
		return err
	}, `SELECT `+callbackColumns+`, c.build, c.kind FROM build_callbacks c WHERE c.build IN (?`+strings.Repeat(", ?", len(args)-1)+`) ORDER BY c.id`, args...)
}

// QueueDeliveries does nothing: callbacks are queued as builds move.
func (b buildCallbacks) QueueDeliveries(context.Context, time.Time) (int, error) { return 0, nil }

// SettleHolds does nothing: no build waits for an answer.
func (b buildCallbacks) SettleHolds(context.Context, time.Time) (next time.Time, err error) {
	return next, nil
}

// ForgetDeliveries does nothing: callbacks go with their builds.
func (b buildCallbacks) ForgetDeliveries(context.Context, time.Time) error { return nil }

// Watch tells when something has happened to a build.
func (b buildCallbacks) Watch(app.Topic) (changed <-chan struct{}, stop func()) {
	return b.s.Watch(app.BuildsTopic())
}

// callbackHeads are the callbacks that are next: of each build the first callback and the first status, which don't wait for each other.
const callbackHeads = `SELECT c.id, c.tenant, 1, c.next_at, c.held_until FROM build_callbacks c WHERE c.outcome = 'waiting'
	AND NOT EXISTS (SELECT 1 FROM build_callbacks e WHERE e.build = c.build AND e.kind = c.kind AND e.outcome = 'waiting' AND e.id < c.id)`

// ClaimDeliveries claims callbacks that are due, of each build the first.
func (b buildCallbacks) ClaimDeliveries(ctx context.Context, c webhook.DeliveryClaim) (due []webhook.DueDelivery, next time.Time, err error) {
	var rows []*callbackRow
	next, err = b.s.ClaimHeads(ctx, callbackHeads, c, func(t *db.Tx, ids []int64) error {
		rows = nil
		for _, id := range ids {
			if err := t.Exec(`UPDATE build_callbacks SET holder = ?, held_until = ?, attempts = attempts + 1 WHERE id = ?`, c.Holder, db.Micros(c.Now.Add(c.For)), id); err != nil {
				return err
			}
			r := &callbackRow{}
			if err := r.scan(t.Row(`SELECT c.id, c.build, c.tenant, c.attempts, c.queued_at, c.payload, b.callback, b.callback_name, h.id, h.name, h.secret, h.old_secret, h.old_until,
				c.kind, h.system, h.status_api, h.status_token
				FROM build_callbacks c JOIN builds b ON b.id = c.build JOIN build_hooks h ON h.id = b.hook WHERE c.id = ?`, id)); err != nil {
				return fmt.Errorf("callback %d: %w", id, err)
			}
			rows = append(rows, r)
		}
		return nil
	})
	if err != nil {
		return nil, next, err
	}
	for _, r := range rows {
		due = append(due, r.due(b.s, c.Now))
	}
	return due, next, nil
}

// callbackRow is a claimed callback as it lies in the tables.
type callbackRow struct {
	webhook.DueDelivery
	queued, until    int64
	hook, name       string
	payload          []byte
	url, secret, old []byte

	kind, system, api string
	token             []byte
}

func (r *callbackRow) scan(row db.Scanner) error {
	return row.Scan(&r.ID, &r.Build, &r.Tenant, &r.Attempts, &r.queued, &r.payload, &r.url, &r.name, &r.hook, &r.Hook, &r.secret, &r.old, &r.until, &r.kind, &r.system, &r.api, &r.token)
}

// due opens what is sealed; what does not open is an error of this callback alone.
func (r *callbackRow) due(s *Store, now time.Time) webhook.DueDelivery {
	d := r.DueDelivery
	d.MessageID, d.State, d.QueuedAt, d.BuildNews = s.callbackID(d.ID), webhook.DeliveryWaiting, db.FromMicros(r.queued), &app.BuildNews{}
	d.Err = json.Unmarshal(r.payload, d.BuildNews)
	d.BuildNews.HookID = r.hook
	open := func(sealed []byte, place string) []byte {
		if len(sealed) == 0 {
			return nil
		}
		b, err := s.Unseal(sealed, place)
		if err != nil {
			d.Err = err
		}
		return b
	}
	if r.kind == "status" {
		d.API, d.Token = r.api, string(open(r.token, buildStatusAAD(r.hook)))
		if d.Err == nil && (d.Token == "" || d.BuildNews.Status == nil) {
			d.Err = app.Errorf(app.EInternal, "commit status %d has no token, or no status", d.ID)
		}
		return d
	}
	d.URL = string(open(r.url, buildCallAAD(r.name)))
	d.Secrets = [][]byte{appbuild.SigningKey(string(open(r.secret, buildSecretAAD(r.hook))))}
	if len(r.old) > 0 && db.FromMicros(r.until).After(now) {
		d.Secrets = append(d.Secrets, appbuild.SigningKey(string(open(r.old, buildSecretAAD(r.hook)))))
	}
	if d.Err == nil && (d.URL == "" || len(r.secret) == 0) {
		d.Err = app.Errorf(app.EInternal, "callback %d has no address, or its hook no secret", d.ID)
	}
	return d
}

// EndDelivery writes what happened to an attempt. Where the receiver wants nothing more, the build is sent nothing more. EStale where the
// claim does not hold any more.
func (b buildCallbacks) EndDelivery(ctx context.Context, e webhook.DeliveryEnd) error {
	code, text := app.Code(""), ""
	if e.Err != nil {
		code, text = e.Err.Code, e.Err.Advised()
	}
	outcome, ended, next := webhook.DeliveryMade, db.Micros(e.At), int64(0)
	switch {
	case e.Err != nil && !e.Again.IsZero():
		outcome, ended, next = webhook.DeliveryWaiting, 0, db.Micros(e.Again)
	case e.Err != nil:
		outcome = webhook.DeliveryFailed
	}
	return b.s.Write(ctx, func(t *db.Tx) error {
		var build int64
		var kind string
		err := t.Row(`UPDATE build_callbacks SET outcome = ?, ended_at = ?, next_at = ?, holder = '', held_until = 0, status = ?, took = ?, code = ?, error = ?
			WHERE id = ? AND holder = ? AND attempts = ? AND outcome = 'waiting' RETURNING build, kind`,
			string(outcome), ended, next, e.Status, e.Duration.Microseconds(), string(code), text, e.Delivery, e.Holder, e.Attempt).Scan(&build, &kind)
		if db.IsNoRows(err) {
			return app.Errorf(app.EStale, "Another server has taken over callback %d.", e.Delivery)
		}
		if err != nil {
			return db.Wrapped(err)
		}
		t.Topics[app.BuildsTopic()] = true
		if e.Stop == "" || kind == "status" {
			return nil
		}
		if err := t.Exec(`UPDATE build_callbacks SET outcome = 'failed', ended_at = ?, code = ?, error = ? WHERE build = ? AND outcome = 'waiting' AND kind = 'callback'`,
			db.Micros(e.At), string(app.ECancelled), e.Stop, build); err != nil {
			return err
		}
		return t.Exec(`UPDATE builds SET callback = x'', callback_why = ? WHERE id = ?`, e.Stop, build)
	})
}
