package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/health"
	"muster/app/store/ledger"
	"muster/app/store/resource"
	"muster/app/template"
	"muster/app/webhook"
)

// hold is a question that an operation waits for.
type hold struct {
	delivery, operation int64
	hook, onTimeout     string
	deadline            time.Time
	kind                app.OperationKind
}

const holdRows = `SELECT d.id, d.operation, h.name, d.on_timeout, d.deadline, o.kind FROM webhook_deliveries d JOIN webhooks h ON h.id = d.hook
	JOIN operations o ON o.id = d.operation WHERE d.verdict = 'open' `

func holds(t *db.Tx, where string, args ...any) (list []hold, err error) {
	err = t.Each(func(row db.Scanner) error {
		var h hold
		var deadline int64
		err := row.Scan(&h.delivery, &h.operation, &h.hook, &h.onTimeout, &deadline, &h.kind)
		h.deadline = db.FromMicros(deadline)
		list = append(list, h)
		return err
	}, holdRows+where+` ORDER BY d.id`, args...)
	return list, err
}

// over reports whether the time for an answer is over; a deadline that no hook can have was written before the clock was set back.
func (h hold) over(now time.Time) bool {
	return !h.deadline.After(now) || h.deadline.After(now.Add(template.MaxHookTimeout+time.Hour))
}

func (s *Store) SettleHolds(ctx context.Context, now time.Time) (next time.Time, err error) {
	due := false
	err = s.Each(ctx, func(row db.Scanner) error {
		var until int64
		err := row.Scan(&until)
		h := hold{deadline: db.FromMicros(until)}
		if due = due || h.over(now); !h.over(now) && (next.IsZero() || h.deadline.Before(next)) {
			next = h.deadline
		}
		return err
	}, `SELECT deadline FROM webhook_deliveries WHERE verdict = 'open' UNION ALL SELECT held_until FROM operations WHERE pending_hooks > 0`)
	if err != nil || !due {
		return next, err
	}
	return next, s.Write(ctx, func(t *db.Tx) error {
		all, err := holds(t, "")
		if err != nil {
			return err
		}
		for _, h := range all {
			if !h.over(now) {
				continue
			}
			if err := endWaiting(t, h.delivery, "No answer in time.", now); err != nil {
				return err
			}
			if err := unanswered(t, now, h, "it didn't respond in time"); err != nil {
				return err
			}
		}
		return letGoForgotten(t, now)
	})
}

// letGoForgotten lets continue what is held though nothing is left that could answer, so that nothing waits forever.
func letGoForgotten(t *db.Tx, now time.Time) error {
	var ids []int64
	var clusters []string
	if err := t.Each(func(row db.Scanner) error {
		var id int64
		var cluster string
		err := row.Scan(&id, &cluster)
		ids, clusters = append(ids, id), append(clusters, cluster)
		return err
	}, `SELECT o.id, o.cluster FROM operations o WHERE o.pending_hooks > 0 AND o.held_until <= ?
		AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.operation = o.id AND d.verdict = 'open') ORDER BY o.id`, db.Micros(now)); err != nil {
		return err
	}
	for i, id := range ids {
		if err := t.Exec(`UPDATE operations SET pending_hooks = 0, held_until = 0, message = '' WHERE id = ?`, id); err != nil {
			return err
		}
		if err := ledger.StartNext(t, now, clusters[i]); err != nil {
			return err
		}
	}
	return nil
}

// endWaiting ends a delivery that no one waits for any more. What is being sent at this moment finds its claim gone.
func endWaiting(t *db.Tx, delivery int64, why string, now time.Time) error {
	return t.Exec(`UPDATE webhook_deliveries SET state = 'failed', ended_at = ?, error = ?, code = ?, holder = '', held_until = 0 WHERE id = ?
		AND state = 'waiting'`,
		db.Micros(now), why, app.ETimeout, delivery)
}

// unanswered does what the hook says for that it does not answer.
func unanswered(t *db.Tx, now time.Time, h hold, why string) error {
	if template.HookChoice(h.onTimeout) == template.HookContinue || h.kind.GivesBack() {
		return acceptPartial(t, now, h)
	}
	return veto(t, now, h, why)
}

// acceptPartial notes that a hook lets an operation continue, and starts it where that was the last one.
func acceptPartial(t *db.Tx, now time.Time, h hold) error {
	n, err := t.Count(`UPDATE webhook_deliveries SET verdict = ? WHERE id = ? AND verdict = ?`, ledger.HoldGo, h.delivery, ledger.HoldOpen)
	if err != nil || n == 0 {
		return err
	}
	o, err := cluster.ReadOperation(t, h.operation)
	if err != nil || o.Status != app.OperationWaiting {
		return err
	}
	left, err := holds(t, `AND d.operation = ?`, h.operation)
	if err != nil {
		return err
	}
	message, until := "", time.Time{}
	var names []string
	for _, l := range left {
		names = append(names, l.hook)
		if l.deadline.After(until) {
			until = l.deadline
		}
	}
	if len(left) > 0 {
		message = waitsForHooks(names, until)
	}
	if err := t.Exec(`UPDATE operations SET pending_hooks = ?, held_until = ?, message = ? WHERE id = ?`, len(left), db.Micros(until), message, o.ID); err != nil {
		return err
	}
	if len(left) > 0 {
		o.Message = message
		return ledger.OperationEvent(t, now, &o)
	}
	if o.Kind == app.OperationDelete { // what it takes over from was left alone as long as it could be vetoed
		if err := cancelBefore(t, o.Operation, now); err != nil {
			return err
		}
	}
	return ledger.StartNext(t, now, o.Cluster)
}

// veto ends an operation because a hook said no. Nothing of it was done.
func veto(t *db.Tx, now time.Time, h hold, why string) error {
	n, err := t.Count(`UPDATE webhook_deliveries SET verdict = ? WHERE id = ? AND verdict = ?`, ledger.HoldVeto, h.delivery, ledger.HoldOpen)
	if err != nil || n == 0 {
		return err
	}
	o, err := cluster.ReadOperation(t, h.operation)
	if err != nil || o.Status != app.OperationWaiting {
		return err
	}
	if err := t.Exec(`UPDATE operations SET vetoed_by = ? WHERE id = ?`, h.hook, o.ID); err != nil {
		return err
	}
	message := fmt.Sprintf("Webhook %q vetoed %s: %s. Nothing was changed.", h.hook, o.Kind.The(), strings.TrimSuffix(why, "."))
	_, err = control(t, app.Control{Tenant: o.Tenant, Operation: o.ID, Act: app.ControlCancel, Who: "hook:" + h.hook, Now: now}, message)
	return err
}

// moot ends the questions of an operation that does not happen any more.
func moot(t *db.Tx, now time.Time, operation int64) error {
	left, err := holds(t, `AND d.operation = ?`, operation)
	if err != nil {
		return err
	}
	for _, h := range left {
		if err := endWaiting(t, h.delivery, "The operation was cancelled before the webhook responded.", now); err != nil {
			return err
		}
	}
	if err := t.Exec(`UPDATE webhook_deliveries SET verdict = ? WHERE operation = ? AND verdict = ?`, ledger.HoldMoot, operation, ledger.HoldOpen); err != nil {
		return err
	}
	return t.Exec(`UPDATE operations SET pending_hooks = 0, held_until = 0 WHERE id = ?`, operation)
}

// cancelBefore asks what came before an operation to stop.
func cancelBefore(t *db.Tx, op app.Operation, now time.Time) error {
	op.CreatedAt = now
	return cancelOthers(t, op)
}

// ReleaseHolds lets continue what waits for the answer of a hook that an admin has just switched off or deleted.
func ReleaseHolds(t *db.Tx, hook int64, now time.Time) error {
	all, err := holds(t, `AND d.hook = ?`, hook)
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := acceptPartial(t, now, h); err != nil {
			return err
		}
	}
	return t.Exec(`UPDATE webhook_deliveries SET state = 'failed', ended_at = ?, error = 'The hook was switched off before this was sent.', code = ?
		WHERE hook = ? AND state = 'waiting' AND operation > 0 AND held_until <= ?`, db.Micros(now), app.ECancelled, hook, db.Micros(now))
}

// AnswerHold does what an attempt's end means for the operation that waits for it.
func AnswerHold(t *db.Tx, e webhook.DeliveryEnd, state webhook.DeliveryState) error {
	all, err := holds(t, `AND d.id = ?`, e.Delivery)
	if err != nil || len(all) == 0 {
		return err
	}
	switch h := all[0]; {
	case e.Veto != "":
		return veto(t, e.At, h, e.Veto)
	case state == webhook.DeliveryMade:
		return acceptPartial(t, e.At, h)
	case state == webhook.DeliveryFailed:
		return unanswered(t, e.At, h, "the call failed: "+e.Err.Message)
	}
	return nil
}

// calledOff takes back what an operation has made of its cluster that never began: no step ran, so nothing else has changed.
func calledOff(t *db.Tx, now time.Time, op app.Operation) error {
	var sealed, wasText, madeText []byte
	err := t.Row(`SELECT encrypted_definition, was, made FROM operation_changes WHERE operation = ?`, op.ID).Scan(&sealed, &wasText, &madeText)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var was, made ledger.ChangeText
	if err := json.Unmarshal(wasText, &was); err != nil {
		return fmt.Errorf("store: change of operation %d: %w", op.ID, err)
	}
	if err := json.Unmarshal(madeText, &made); err != nil {
		return fmt.Errorf("store: change of operation %d: %w", op.ID, err)
	}
	if err := t.Exec(`UPDATE clusters SET template = ?, size = ?, services = ?, cost_per_hour = ? WHERE id = ?`,
		was.Template, was.Size, db.JSON(was.Services), was.CostPerHour, op.Cluster); err != nil {
		return err
	}
	definition, err := t.Keys.Unseal(sealed, db.ChangeAAD(op.ID))
	if err != nil && !app.IsKeyLost(err) {
		return err
	}
	if len(definition) > 0 {
		if err := t.Exec(`UPDATE clusters SET encrypted_definition = ? WHERE id = ?`, t.Keys.SealDefinition(definition, op.Cluster), op.Cluster); err != nil {
			return err
		}
		if err := health.KeepOf(t, now, op.Cluster, definition); err != nil {
			return err
		}
		var d appcluster.Definition
		if err := json.Unmarshal(definition, &d); err != nil {
			return fmt.Errorf("store: definition of %s: %w", op.Cluster, err)
		}
		if err := resource.Use(t, op.Tenant, op.Cluster, d.Services, false); err != nil {
			return err
		}
	}
	for _, n := range made.New {
		if err := t.Exec(`DELETE FROM intents WHERE cluster = ? AND node = ? AND create_attempts = 0 AND ended_at = 0`, op.Cluster, n); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM nodes WHERE cluster = ? AND name = ? AND status = ?`, op.Cluster, n, string(app.NodePlanned)); err != nil {
			return err
		}
	}
	for n, services := range was.Nodes {
		if err := t.Exec(`UPDATE nodes SET services = ?, removal = 0 WHERE cluster = ? AND name = ? AND removal < 2`, db.JSON(services), op.Cluster, n); err != nil {
			return err
		}
	}
	for _, n := range was.Leaving {
		if err := t.Exec(`UPDATE nodes SET removal = 1 WHERE cluster = ? AND name = ? AND removal = 0`, op.Cluster, n); err != nil {
			return err
		}
	}
	if r := was.Reserved; r != nil {
		if err := t.Exec(`UPDATE reservations SET nodes = ?, cpu = ?, cost = ? WHERE cluster = ? AND ended_at = 0`, r.Nodes, r.CPU, r.CostPerHour, op.Cluster); err != nil {
			return err
		}
	}
	return t.Exec(`DELETE FROM operation_changes WHERE operation = ?`, op.ID)
}
