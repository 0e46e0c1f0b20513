package ledger

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/ledger"
	"muster/app/store/db"
	"muster/app/store/feed"
	"muster/app/store/window"
)

// saveSteps writes the steps that changed: those that leave their node before those that take it.
func saveSteps(t *db.Tx, set *ledger.Set) error {
	if err := set.Err(); err != nil {
		return err
	}
	leaving, taking := set.Changed()
	// Most steps go the straight way, and little of their rows changes then.
	var done, nearer, begun []*ledger.Step
	leaving = slices.DeleteFunc(leaving, func(s *ledger.Step) bool {
		switch {
		case s.Was == app.StepRunning && s.State == app.StepSucceeded:
			done = append(done, s)
		case s.Was == app.StepWaiting && (s.State == app.StepWaiting || s.State == app.StepReady):
			nearer = append(nearer, s)
		case s.State == app.StepRunning && s.Was == app.StepQueued && firstBegun(s):
			begun = append(begun, s)
		default:
			return false
		}
		return true
	})
	taking = slices.DeleteFunc(taking, func(s *ledger.Step) bool {
		if !firstBegun(s) {
			return false
		}
		begun = append(begun, s)
		return true
	})
	if err := saveDone(t, done); err != nil {
		return err
	}
	if err := saveProgress(t, nearer); err != nil {
		return err
	}
	if err := saveWhole(t, leaving); err != nil {
		return err
	}
	if err := noteTries(t, leaving); err != nil {
		return err
	}
	if err := saveBegun(t, begun); err != nil {
		return err
	}
	if err := saveWhole(t, taking); err != nil {
		return err
	}
	return noteTries(t, taking)
}

// firstBegun tells of a step whether its first attempt is in progress.
func firstBegun(s *ledger.Step) bool {
	return s.State == app.StepRunning && s.Attempt == 1 && s.Tries == 1
}

// saveDone writes steps that ran and have succeeded. All have ended at the same time, that of their set.
func saveDone(t *db.Tx, steps []*ledger.Step) error {
	if len(steps) == 0 {
		return nil
	}
	if alike(steps, func(a, b *ledger.Step) bool { return a.Operation == b.Operation }) {
		return t.ExecListed(len(steps), `UPDATE steps SET state = 'succeeded', ended_at = ? WHERE operation = ? AND idx IN (`, `)`, indexOf(steps),
			db.Micros(steps[0].EndedAt), steps[0].Operation)
	}
	return t.ExecKeyed(len(steps), `WITH v(o, i) AS (VALUES `, `(?, ?)`, `) UPDATE steps SET state = 'succeeded', ended_at = ? FROM v
		WHERE steps.operation = v.o AND steps.idx = v.i`, addStepKey(steps), db.Micros(steps[0].EndedAt))
}

// saveProgress writes steps that waited and now need less, or nothing any more.
func saveProgress(t *db.Tx, steps []*ledger.Step) error {
	return t.ExecKeyed(len(steps), `WITH v(o, i, nl, st) AS (VALUES `, `(?, ?, ?, ?)`, `) UPDATE steps SET needs_left = v.nl, state = v.st FROM v
		WHERE steps.operation = v.o AND steps.idx = v.i`, func(args []any, i int) []any {
		return append(args, steps[i].Operation, steps[i].Index, steps[i].NeedsLeft, string(steps[i].State))
	})
}

// saveBegun writes steps of which the first attempt has begun: before it no attempt has left anything in their rows. All have begun at the
// same time, that of their set.
func saveBegun(t *db.Tx, steps []*ledger.Step) error {
	if len(steps) == 0 {
		return nil
	}
	same := func(a, b *ledger.Step) bool {
		return a.Operation == b.Operation && a.Worker == b.Worker && a.Deadline.Equal(b.Deadline)
	}
	if alike(steps, same) {
		first := steps[0]
		return t.ExecListed(len(steps), `UPDATE steps SET state = 'running', needs_left = 0, attempt = 1, tries = 1, worker = ?, deadline = ?, started_at = ?
			WHERE operation = ? AND idx IN (`, `)`, indexOf(steps), first.Worker, db.Micros(first.Deadline), db.Micros(first.StartedAt), first.Operation)
	}
	return t.ExecKeyed(len(steps), `WITH v(o, i, wo, dl) AS (VALUES `, `(?, ?, ?, ?)`, `) UPDATE steps SET state = 'running', needs_left = 0, attempt = 1,
			tries = 1, worker = v.wo, deadline = v.dl, started_at = ? FROM v WHERE steps.operation = v.o AND steps.idx = v.i`, func(args []any, i int) []any {
		return append(args, steps[i].Operation, steps[i].Index, steps[i].Worker, db.Micros(steps[i].Deadline))
	}, db.Micros(steps[0].StartedAt))
}

// alike reports whether steps change in the same way, as nearly all do that move together in a big cluster. Such are changed in place, which
// costs SQLite less than finding them by a table of values.
func alike(steps []*ledger.Step, same func(a, b *ledger.Step) bool) bool {
	return !slices.ContainsFunc(steps, func(s *ledger.Step) bool { return !same(s, steps[0]) })
}

func indexOf(steps []*ledger.Step) func(int) int64 {
	return func(i int) int64 { return int64(steps[i].Index) }
}

func addStepKey(steps []*ledger.Step) func([]any, int) []any {
	return func(args []any, i int) []any { return append(args, steps[i].Operation, steps[i].Index) }
}

// saveWhole writes all that may change of steps.
func saveWhole(t *db.Tx, steps []*ledger.Step) error {
	return t.ExecKeyed(len(steps), `WITH v(o, i, st, nl, att, tr, wo, dl, nb, qa, ru, ec, er, sa, ea) AS (VALUES `,
		`(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, `)
		UPDATE steps SET state = v.st, needs_left = v.nl, attempt = v.att, tries = v.tr, worker = v.wo, deadline = v.dl,
			not_before = v.nb, queued_at = v.qa, dispatched_at = v.ru, error_code = v.ec, error = v.er, started_at = v.sa, ended_at = v.ea
		FROM v WHERE steps.operation = v.o AND steps.idx = v.i`, func(args []any, i int) []any {
			s := steps[i]
			t.Queued = t.Queued || s.State == app.StepQueued
			return append(args, s.Operation, s.Index, string(s.State), s.NeedsLeft, s.Attempt, s.Tries, s.Worker, db.Micros(s.Deadline),
				db.Micros(s.NotBefore), db.Micros(s.Queued), db.Micros(s.Dispatched), string(s.ErrorCode), s.Error, db.Micros(s.StartedAt), db.Micros(s.EndedAt))
		})
}

// Save writes what changed in a set, tells those who watch, and lets clusters move on whose operation has ended.
func Save(t *db.Tx, now time.Time, set *ledger.Set) error {
	if err := saveSteps(t, set); err != nil {
		return err
	}
	return SaveOperations(t, now, set)
}

// SaveOperations is save without the steps, which have been written. Why an operation failed is read from them.
func SaveOperations(t *db.Tx, now time.Time, set *ledger.Set) error {
	if err := set.Err(); err != nil {
		return err
	}
	changed, turned := set.ChangedOperations()
	for _, o := range turned {
		if o.Status == app.OperationFailed {
			var err error
			if o.Message, err = whatFailed(t, o.ID); err != nil {
				return err
			}
		}
	}
	err := t.ExecKeyed(len(changed), `WITH v(id, st, me, onf, dn, un, ac, qu, ru, cl, sa, ea) AS (VALUES `, `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, `)
		UPDATE operations SET status = v.st, message = v.me, on_failure = v.onf, done = v.dn, unfinished = v.un, active = v.ac, queued = v.qu,
			running = v.ru, claims = v.cl, started_at = v.sa, ended_at = v.ea FROM v WHERE operations.id = v.id`,
		func(args []any, i int) []any {
			o := changed[i]
			return append(args, o.ID, string(o.Status), o.Message, string(o.OnFailure), o.Done, o.Unfinished, o.Active, o.Queued, o.Running, o.Claims,
				db.Micros(o.StartedAt), db.Micros(o.EndedAt))
		})
	if err != nil {
		return err
	}
	if err := stepEvents(t, now, set); err != nil {
		return err
	}
	known, err := noteManualSteps(t, now, set)
	if err != nil {
		return err
	}
	for _, o := range turned {
		if err := OperationEvent(t, now, o); err != nil {
			return err
		}
		if o.Status.Ended() {
			if err := endPromises(t, now, o.Cluster); err != nil {
				return err
			}
			if err := endCluster(t, now, o); err != nil {
				return err
			}
			if err := notifyEnded(t, now, o); err != nil {
				return err
			}
			if err := window.LookAgain(t, now, o.Tenant, o.Cluster); err != nil { // what waits may be for a cluster that is another one now
				return err
			}
		}
	}
	for _, o := range turned {
		if o.Status.Ended() {
			if err := StartNext(t, now, o.Cluster); err != nil {
				return err
			}
		}
	}
	return answerKnown(t, now, known)
}

// OperationEvent tells those who watch the cluster how an operation is.
func OperationEvent(t *db.Tx, now time.Time, o *ledger.Operation) error {
	return t.Event(app.Event{At: now, Tenant: o.Tenant, Cluster: o.Cluster, Operation: o.ID, Kind: app.EventOperation,
		Status: string(o.Status), Message: o.Message, Done: o.Done, Total: o.Total})
}

// stepEvents tells of steps that changed, one row for many of an operation.
func stepEvents(t *db.Tx, now time.Time, set *ledger.Set) error {
	var all []*feed.EventBatch
	of := map[int64]*feed.EventBatch{}
	for _, c := range set.Changes() {
		m := of[c.Operation]
		if m == nil {
			o := set.Operation(c.Operation)
			m = &feed.EventBatch{Event: app.Event{At: now, Tenant: o.Tenant, Cluster: o.Cluster, Operation: o.ID, Kind: app.EventStep, Done: o.Done, Total: o.Total}}
			of[c.Operation], all = m, append(all, m)
		}
		one := feed.EventChange{c.Step, c.Node, string(c.State)}
		if c.Message != "" {
			one = append(one, c.Message)
		}
		m.Changes = append(m.Changes, one)
	}
	return feed.WriteBatches(t, all)
}
