package ledger

import (
	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/store/db"
)

// noteTries keeps for how long a step is being tried: from the start of the first try that failed, until the operation is
// resumed. Steps that go well, which are nearly all, cost nothing.
func noteTries(t *db.Tx, steps []*ledger.Step) error {
	var failed, fresh []*ledger.Step
	for _, st := range steps {
		switch {
		case st.Was == app.StepRunning && !st.State.Ended():
			failed = append(failed, st)
		case st.Was == app.StepFailed && st.State != app.StepFailed:
			fresh = append(fresh, st)
		}
	}
	err := t.ExecKeyed(len(failed), `WITH v(o, i, sa) AS (VALUES `, `(?, ?, ?)`,
		`) UPDATE steps SET first_tried_at = v.sa FROM v WHERE steps.operation = v.o AND steps.idx = v.i AND steps.first_tried_at = 0`,
		func(args []any, i int) []any {
			return append(args, failed[i].Operation, failed[i].Index, db.Micros(failed[i].StartedAt))
		})
	if err != nil {
		return err
	}
	return t.ExecKeyed(len(fresh), `WITH v(o, i) AS (VALUES `, `(?, ?)`,
		`) UPDATE steps SET first_tried_at = 0 FROM v WHERE steps.operation = v.o AND steps.idx = v.i`,
		func(args []any, i int) []any { return append(args, fresh[i].Operation, fresh[i].Index) })
}

// LoadTries tells claimed steps that are not tried for the first time since when they are.
func LoadTries(t *db.Tx, claimed map[ledger.Key]*execution.ClaimedStep) error {
	var keys []ledger.Key
	for k, c := range claimed {
		if c.Step.Attempt > 1 {
			keys = append(keys, k)
		}
	}
	return t.EachKeyed(func(row db.Scanner) error {
		var k ledger.Key
		var tried int64
		err := row.Scan(&k.Operation, &k.Index, &tried)
		if c := claimed[k]; c != nil {
			c.TriedAt = db.FromMicros(tried)
		}
		return err
	}, len(keys), `WITH f(o, i) AS (VALUES `, `(?, ?)`,
		`) SELECT s.operation, s.idx, s.first_tried_at FROM f CROSS JOIN steps s WHERE s.operation = f.o AND s.idx = f.i AND s.first_tried_at > 0`, addKey(keys))
}
