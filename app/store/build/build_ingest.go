package build

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	appbuild "muster/app/build"
	"muster/app/store/db"
)

// IngestBuild implements build.IntakeStore. No one else commits before it ends, so what it reads is how things stand.
func (s *Store) IngestBuild(ctx context.Context, o appbuild.IngestOrder) (done appbuild.IngestResult, err error) {
	var sealed []byte
	if o.Replay == 0 {
		sealed = s.Seal(o.Body, buildBodyAAD(o.Hook.ID, o.Uniq))
	}
	call := s.sealCall(o.Begin)
	err = s.Write(ctx, func(t *db.Tx) error {
		done = appbuild.IngestResult{Delivery: o.Delivery}
		n, err := t.Count(`UPDATE build_hooks SET last_at = ? WHERE id = ? AND deleted_at = 0`, db.Micros(o.Now), o.Hook.ID)
		if err != nil {
			return err
		}
		if n == 0 {
			return app.Errorf(app.ENotFound, "The build hook doesn't exist.")
		}
		if o.Replay == 0 {
			n, err := t.Count(`INSERT INTO build_delivery_ids (hook, dedup_key, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, o.Hook.ID, o.Uniq, db.Micros(o.Now))
			if err != nil {
				return err
			}
			if n == 0 {
				return &app.Error{Code: app.EConflict, Reason: "replayed", Message: "This delivery was already received; nothing was done.",
					Hint: "To run the delivery again, replay it from the hook's page."}
			}
		}
		ended, err := endBuilds(t, o)
		if err != nil {
			return err
		}
		d := &done.Delivery
		if len(ended) > 0 {
			d.Outcome, d.Message, d.BuildID = appbuild.OutcomeEnded, "", ended[len(ended)-1]
		}
		switch {
		case o.Begin != nil:
			if d.BuildID, err = beginBuild(t, o, d, call); err != nil {
				return err
			}
		case o.Extend != "":
			err := t.Row(`SELECT id FROM builds WHERE hook = ? AND build_key = ? AND live = 1`, o.Hook.ID, o.Extend).Scan(&d.BuildID)
			if db.IsNoRows(err) {
				d.Outcome, d.Message = appbuild.OutcomeIgnored, "The build has no cluster."
			} else if err != nil {
				return db.Wrapped(err)
			}
		}
		if d.BuildID > 0 {
			b, err := build(t, d.BuildID)
			if err != nil {
				return err
			}
			done.Build = &b
		}
		t.Topics[app.BuildsTopic()] = true
		if o.Replay > 0 {
			err := t.Row(`UPDATE build_deliveries SET outcome = ?, message = ?, rule = ?, build_id = ?, replays = replays + 1 WHERE id = ? AND hook = ?
				RETURNING replays`,
				string(d.Outcome), d.Message, d.Rule, d.BuildID, o.Replay, o.Hook.ID).Scan(&d.Replays)
			if db.IsNoRows(err) {
				return errNoBuildDelivery(o.Replay)
			}
			return db.Wrapped(err)
		}
		return db.Wrapped(t.Row(`INSERT INTO build_deliveries (hook, dedup_key, tenant, at, sent_at, sender, number, system, event, action, build, job, outcome, message, rule, build_id,
				replays, size, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?) RETURNING id`,
			o.Hook.ID, o.Uniq, o.Hook.Tenant, db.Micros(d.At), db.Micros(d.SentAt), d.From, d.Number, d.System, d.Event, d.Action, d.Build, d.Job, string(d.Outcome), d.Message, d.Rule, d.BuildID,
			d.Size, sealed).Scan(&d.ID))
	})
	return done, err
}

// endBuilds ends what an order ends, and remembers what has ended for good.
func endBuilds(t *db.Tx, o appbuild.IngestOrder) (ended []int64, err error) {
	for _, e := range o.Ends {
		column, value := "build_key", e.Key
		what := "key " + e.Key
		if e.Key == "" {
			column, value, what = "build", e.Build, "build "+e.Build
		}
		if e.Lasting {
			if err := t.Exec(`INSERT INTO build_outcomes (hook, what, at, ended_at) VALUES (?, ?, ?, ?) ON CONFLICT (hook, what) DO UPDATE
				SET at = excluded.at, ended_at = CASE WHEN excluded.ended_at > build_outcomes.ended_at THEN excluded.ended_at ELSE build_outcomes.ended_at END`,
				o.Hook.ID, what, db.Micros(o.Now), db.Micros(e.At)); err != nil {
				return nil, err
			}
		}
		var ids []int64
		if err := t.Each(func(row db.Scanner) error {
			var id int64
			err := row.Scan(&id)
			ids = append(ids, id)
			return err
		}, `SELECT id FROM builds WHERE hook = ? AND `+column+` = ? AND live = 1 AND end_at = 0 ORDER BY id`, o.Hook.ID, value); err != nil {
			return nil, err
		}
		for _, id := range ids {
			if err := t.Exec(`UPDATE builds SET end_at = ?, message = ?, due_at = ?, version = version + 1 WHERE id = ?`, db.Micros(o.Now), endWords(o.Event), db.Micros(o.Now), id); err != nil {
				return nil, err
			}
			if err := t.AddAudit(o.Now, o.Who, "build.end", appbuild.Build{ID: id}.Object(), nil, map[string]any{"build": o.Event.Build, "event": o.Event.Event, "result": o.Event.Result}); err != nil {
				return nil, err
			}
		}
		ended = append(ended, ids...)
	}
	return ended, nil
}

func endWords(e app.BuildEvent) string {
	if e.Result != "" {
		return "The build has ended: " + e.Result + "."
	}
	return "The build has ended."
}

// beginBuild writes a build that wants a cluster, unless it has one, or is over for good.
func beginBuild(t *db.Tx, o appbuild.IngestOrder, d *appbuild.DeliveryRecord, call sealedCall) (int64, error) {
	b, e := o.Begin, o.Event
	if b.Reopened {
		if err := t.Exec(`DELETE FROM build_outcomes WHERE hook = ? AND (what = ? OR what = ?)`, o.Hook.ID, "key "+b.Key, "build "+e.Build); err != nil {
			return 0, err
		}
	}
	again := b.Again
	if !b.NewestJobAt.IsZero() {
		var n int
		if err := t.Row(`SELECT count(*) FROM build_outcomes WHERE hook = ? AND (what = ? OR what = ?) AND ended_at > 0 AND ended_at < ?`,
			o.Hook.ID, "key "+b.Key, "build "+e.Build, db.Micros(b.NewestJobAt)).Scan(&n); err != nil {
			return 0, db.Wrapped(err)
		}
		if n > 0 {
			again = true
			if e.Job == "" && e.JobID == "" { // a new job says nothing of the whole, whose own event is still to come
				if err := t.Exec(`DELETE FROM build_outcomes WHERE hook = ? AND (what = ? OR what = ?)`, o.Hook.ID, "key "+b.Key, "build "+e.Build); err != nil {
					return 0, err
				}
			}
			// What the earlier run had is on its way out: it makes room for the key.
			if err := t.Exec(`UPDATE builds SET build_key = build_key || '~' || CAST(id AS TEXT), version = version + 1 WHERE hook = ? AND build_key = ? AND live = 1 AND end_at > 0`,
				o.Hook.ID, b.Key); err != nil {
				return 0, err
			}
		}
	}
	var over bool
	if err := t.Row(`SELECT EXISTS (SELECT 1 FROM build_outcomes WHERE hook = ? AND (what = ? OR what = ?) AND (ended_at = 0 OR ended_at >= ?))`,
		o.Hook.ID, "key "+b.Key, "build "+e.Build, db.Micros(b.NewestJobAt)).Scan(&over); err != nil {
		return 0, db.Wrapped(err)
	}
	if over {
		d.Outcome, d.Message = appbuild.OutcomeIgnored, "The build has already ended."
		return 0, nil
	}
	var id int64
	var live int
	var state app.BuildState
	err := t.Row(`SELECT id, live, state FROM builds WHERE hook = ? AND build_key = ? ORDER BY live DESC, id DESC LIMIT 1`, o.Hook.ID, b.Key).Scan(&id, &live, &state)
	switch {
	case err != nil && !db.IsNoRows(err):
		return 0, db.Wrapped(err)
	case db.IsNoRows(err):
	case live == 1, !again && state == app.BuildOver, !again && state == app.BuildFailed && o.Replay == 0:
		d.Outcome, d.Message = appbuild.OutcomeDuplicate, "It is "+string(state)+" already."
		return id, nil
	}
	var waiting, busy int
	if err := t.Row(`SELECT COALESCE(sum(CASE WHEN state = 'waiting' THEN 1 ELSE 0 END), 0), count(*) FROM builds WHERE hook = ? AND rule = ? AND live = 1`,
		o.Hook.ID, b.Rule.Name).Scan(&waiting, &busy); err != nil {
		return 0, db.Wrapped(err)
	}
	busy -= waiting
	state, live = app.BuildWaiting, 1
	d.Outcome, d.Message = appbuild.OutcomeStarted, call.why
	due, endedAt := o.Now, time.Time{}
	words := ""
	// Those that will find room at once do not wait.
	if busy+waiting >= b.Rule.AtOnce()+b.Rule.QueueLength() {
		state, live, due, endedAt = app.BuildRefused, 0, time.Time{}, o.Now
		d.Outcome, d.Message = appbuild.OutcomeRefused, fmt.Sprintf("The queue of rule %s is full: %d with clusters, %d waiting.", b.Rule.Name, busy, waiting)
		words = d.Message
	}
	if err := t.Row(`INSERT INTO builds (hook, tenant, rule, build_key, build, job, live, state, message, final, spec, event, request, cluster, tries, begun_at, made_at, ready_at,
			wait_until, end_at, ended_at, retry_at, due_at, version, callback, callback_name, callback_shown, callback_why)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', ?, 0, '', 0, ?, 0, 0, ?, 0, ?, 0, ?, 1, ?, ?, ?, ?) RETURNING id`,
		o.Hook.ID, o.Hook.Tenant, b.Rule.Name, b.Key, e.Build, e.Job, live, string(state), words, db.JSON(e), db.Micros(o.Now),
		db.Micros(o.Now.Add(b.Ask.WaitFor)), db.Micros(endedAt), db.Micros(due), call.url, call.name, call.shown, call.why).Scan(&id); err != nil {
		return 0, db.Wrapped(err)
	}
	if err := t.Exec(`UPDATE builds SET encrypted_spec = ? WHERE id = ?`, t.Keys.SealWanted(b.Ask, id), id); err != nil {
		return 0, err
	}
	act := "build.begin"
	if live == 0 {
		act = "build.refuse"
	}
	if live == 0 && len(call.url) > 0 || o.Hook.Statuses {
		made, err := build(t, id)
		if err != nil {
			return 0, err
		}
		n := made.News(o.Now, nil)
		n.Status = made.CommitStatus(o.Hook, "")
		if err := queueCallbacks(t, made.Tenant, n); err != nil {
			return 0, err
		}
	}
	return id, t.AddAudit(o.Now, o.Who, act, appbuild.Build{ID: id}.Object(), nil, map[string]any{"hook": o.Hook.Name, "rule": b.Rule.Name, "key": b.Key, "template": b.Ask.Template})
}

func buildBodyAAD(hook, uniq string) string { return "build_deliveries/" + hook + "/" + uniq }

func errNoBuildDelivery(id int64) error {
	return app.Errorf(app.ENotFound, "Delivery %d doesn't exist.", id)
}

const buildTakenColumns = `d.id, h.name, d.at, d.sent_at, d.sender, d.number, d.system, d.event, d.action, d.build, d.job, d.outcome, d.message, d.rule, d.build_id, d.replays, d.size`

func scanBuildTaken(row db.Scanner, more ...any) (d appbuild.DeliveryRecord, err error) {
	var at, sent int64
	err = row.Scan(append([]any{&d.ID, &d.Hook, &at, &sent, &d.From, &d.Number, &d.System, &d.Event, &d.Action, &d.Build, &d.Job, &d.Outcome, &d.Message, &d.Rule, &d.BuildID,
		&d.Replays, &d.Size}, more...)...)
	d.At, d.SentAt = db.FromMicros(at), db.FromMicros(sent)
	return d, err
}

func (s *Store) NoteDeliveryOutcome(ctx context.Context, d appbuild.DeliveryRecord) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE build_deliveries SET outcome = ?, message = ? WHERE id = ?`, string(d.Outcome), d.Message, d.ID)
	})
}

func (s *Store) BuildDeliveries(ctx context.Context, tenant, hook string, before int64, limit int) ([]appbuild.DeliveryRecord, error) {
	h, err := s.BuildHook(ctx, tenant, hook)
	if err != nil {
		return nil, err
	}
	list := []appbuild.DeliveryRecord{}
	err = s.Each(ctx, func(row db.Scanner) error {
		d, err := scanBuildTaken(row)
		list = append(list, d)
		return err
	}, `SELECT `+buildTakenColumns+` FROM build_deliveries d JOIN build_hooks h ON h.id = d.hook WHERE d.hook = ? AND (? = 0 OR d.id < ?) ORDER BY d.id DESC LIMIT ?`,
		h.ID, before, before, limit)
	return list, err
}

func (s *Store) BuildDelivery(ctx context.Context, tenant, hook string, id int64) (d appbuild.DeliveryRecord, uniq string, err error) {
	h, err := s.BuildHook(ctx, tenant, hook)
	if err != nil {
		return d, "", err
	}
	var sealed []byte
	d, err = scanBuildTaken(s.Row(ctx, `SELECT `+buildTakenColumns+`, d.dedup_key, d.body FROM build_deliveries d JOIN build_hooks h ON h.id = d.hook
		WHERE d.hook = ? AND d.id = ?`, h.ID, id), &uniq, &sealed)
	if db.IsNoRows(err) {
		return d, "", errNoBuildDelivery(id)
	}
	if err != nil {
		return d, "", db.Wrapped(err)
	}
	body, err := s.Unseal(sealed, buildBodyAAD(h.ID, uniq))
	d.Body = string(body)
	return d, uniq, err
}

// ForgetBuilds deletes deliveries, builds that are over, and hooks that are deleted, once they were kept long enough: a bounded
// number at once. It returns how many.
func (s *Store) ForgetBuilds(ctx context.Context, now time.Time) (forgot int, err error) {
	old := db.Micros(now.Add(-appbuild.DeliveryRetention))
	err = s.Write(ctx, func(t *db.Tx) error {
		forgot = 0
		for _, q := range []struct {
			query string
			args  []any
		}{
			{`DELETE FROM build_deliveries WHERE id IN (SELECT id FROM build_deliveries WHERE at < ? ORDER BY at LIMIT ?)`, []any{db.Micros(now.Add(-appbuild.DeliveryTime)), db.DeleteBatch}},
			{`DELETE FROM build_deliveries WHERE id IN (SELECT d.id FROM build_deliveries d WHERE (SELECT count(*) FROM build_deliveries n WHERE n.hook = d.hook AND n.id > d.id) >= ? LIMIT ?)`,
				[]any{appbuild.MaxDeliveriesPerHook, db.DeleteBatch}},
			{`DELETE FROM build_delivery_ids WHERE at < ?`, []any{old}},
			{`DELETE FROM build_outcomes WHERE at < ?`, []any{old}},
			{`DELETE FROM builds WHERE id IN (SELECT id FROM builds WHERE live = 0 AND ended_at > 0 AND ended_at < ? ORDER BY ended_at LIMIT ?)`, []any{old, db.DeleteBatch}},
			{`DELETE FROM build_callbacks WHERE id IN (SELECT c.id FROM build_callbacks c WHERE NOT EXISTS (SELECT 1 FROM builds b WHERE b.id = c.build) LIMIT ?)`, []any{db.DeleteBatch}},
			{`UPDATE build_hooks SET secret = x'' WHERE deleted_at > 0 AND length(secret) > 0 AND NOT ` + callbacksToCome, nil},
			{`DELETE FROM build_hooks WHERE deleted_at > 0 AND deleted_at < ? AND NOT EXISTS (SELECT 1 FROM builds b WHERE b.hook = build_hooks.id)`, []any{old}},
		} {
			n, err := t.Count(q.query, q.args...)
			if err != nil {
				return err
			}
			forgot += int(n)
		}
		return nil
	})
	return forgot, err
}
