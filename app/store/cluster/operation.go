package cluster

import (
	"context"
	"time"

	"muster/app"
	"muster/app/ledger"
	"muster/app/store/db"
)

// OperationColumns are those of an operation o, as OperationRow scans them.
const OperationColumns = `o.id, o.tenant, o.cluster, o.kind, o.status, o.plan_hash, o.on_failure, o.rolls_back, o.requester, o.message, o.total,
	o.done, o.unfinished, o.active, o.queued, o.running, o.claims, o.expected, o.created_at, o.started_at, o.ended_at, o.held_until,
	o.min_available, o.no_backfill, o.expected_low, o.expected_high, o.expected_is_estimate, o.expected_runs, o.trace`

// OperationRow is a row of operationColumns on its way. It can be used again for each row.
type OperationRow struct {
	id, undoes, total, done, unfinished, active, queued, running, claims, expected, created, started, ended, held int64
	least, noBackfill, low, high, guess, runs                                                                     int64
	tenant, cluster, kind, status, hash, choice, requester, message, trace                                        string
}

// Dest returns where to scan OperationColumns to.
func (o *OperationRow) Dest() []any {
	return []any{&o.id, &o.tenant, &o.cluster, &o.kind, &o.status, &o.hash, &o.choice, &o.undoes, &o.requester, &o.message, &o.total, &o.done,
		&o.unfinished, &o.active, &o.queued, &o.running, &o.claims, &o.expected, &o.created, &o.started, &o.ended, &o.held,
		&o.least, &o.noBackfill, &o.low, &o.high, &o.guess, &o.runs, &o.trace}
}

// Value returns the operation that was scanned, as the rules take it.
func (o *OperationRow) Value() ledger.Operation {
	v := ledger.Operation{
		Operation: app.Operation{ID: o.id, Tenant: o.tenant, Cluster: o.cluster, Kind: app.OperationKind(o.kind), Status: app.OperationStatus(o.status),
			PlanHash: o.hash, OnFailure: app.FailureChoice(o.choice), RollsBack: o.undoes, Requester: o.requester, Message: o.message,
			Total: int(o.total), Done: int(o.done), CreatedAt: db.FromMicros(o.created), StartedAt: db.FromMicros(o.started), EndedAt: db.FromMicros(o.ended),
			Expected: time.Duration(o.expected) * time.Microsecond, HeldUntil: db.FromMicros(o.held), MinAvailable: int(o.least),
			NoBackfill: o.noBackfill != 0, Expects: o.expects(), Trace: o.trace},
		Unfinished: int(o.unfinished), Active: int(o.active), Queued: int(o.queued), Running: int(o.running), Claims: o.claims,
	}
	if v.Kind == app.OperationAcceptPartial { // the same column: which operation this one is about
		v.RollsBack, v.Accepts = 0, v.RollsBack
	}
	return v
}

// expects is how long it was said to take; nothing of those from before more than one figure was kept.
func (o *OperationRow) expects() app.Expectation {
	if o.high == 0 {
		return app.Expectation{}
	}
	return app.Expectation{Typical: time.Duration(o.expected) * time.Microsecond, Low: time.Duration(o.low) * time.Microsecond,
		High: time.Duration(o.high) * time.Microsecond, Estimated: time.Duration(o.guess) * time.Microsecond, Runs: o.runs}
}

// Operation returns the operation that was scanned.
func (o *OperationRow) Operation() app.Operation { return o.Value().Operation }

func (s *Store) Operations(ctx context.Context, tenant, cluster string) ([]app.Operation, error) {
	return operations(ctx, s.Reads, tenant, cluster)
}

func operations(ctx context.Context, from db.Reader, tenant, cluster string) ([]app.Operation, error) {
	ops := []app.Operation{}
	err := db.Each(ctx, from, func(row db.Scanner) error {
		var o OperationRow
		err := row.Scan(o.Dest()...)
		ops = append(ops, o.Operation())
		return err
	}, `SELECT `+OperationColumns+` FROM operations o WHERE o.tenant = ? AND o.cluster = ? ORDER BY o.id DESC LIMIT 200`, tenant, cluster)
	return ops, err
}

// LoadOperations loads operations by id, in the order of the ids. Missing ones are left out.
func LoadOperations(t *db.Tx, ids []int64) (ops []ledger.Operation, err error) {
	var o OperationRow
	dest := o.Dest()
	err = t.EachOf(func(row db.Scanner) error {
		err := row.Scan(dest...)
		ops = append(ops, o.Value())
		return err
	}, len(ids), `SELECT `+OperationColumns+` FROM operations o WHERE o.id IN (`, `?`, `)`,
		func(args []any, i int) []any { return append(args, ids[i]) })
	return ops, err
}

// Operation loads one operation, or ENotFound.
func ReadOperation(t *db.Tx, id int64) (ledger.Operation, error) {
	ops, err := LoadOperations(t, []int64{id})
	if err == nil && len(ops) == 0 {
		err = app.Errorf(app.ENotFound, "Operation %d doesn't exist.", id)
	}
	if err != nil {
		return ledger.Operation{}, err
	}
	return ops[0], nil
}

// FailedDeletes returns, of all tenants, the deletes that failed and have since waited as long as they had been continuing
// for, but at least and at most so long. Those that another operation followed are left out.
// A rollback returns machines as well.
func (s *Store) FailedDeletes(ctx context.Context, now time.Time, least, most time.Duration, limit int) (ops []app.Operation, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var o OperationRow
		err := row.Scan(o.Dest()...)
		ops = append(ops, o.Operation())
		return err
	}, `SELECT `+OperationColumns+` FROM operations o WHERE o.kind IN ('delete', 'roll_back') AND o.status = 'failed'
		AND (o.ended_at + CASE WHEN o.ended_at - o.created_at > ? THEN ? WHEN o.ended_at - o.created_at < ? THEN ?
			ELSE o.ended_at - o.created_at END <= ? OR o.ended_at > ?)
		AND o.followed_by = 0 ORDER BY o.ended_at LIMIT ?`,
		most.Microseconds(), most.Microseconds(), least.Microseconds(), least.Microseconds(), db.Micros(now), db.Micros(now.Add(ledger.FarFuture)), limit)
	return ops, err
}
