package store

import (
	"context"
	"time"

	"muster/app"
	"muster/app/ledger"
)

const operationColumns = `o.id, o.tenant, o.cluster, o.kind, o.status, o.plan_hash, o.on_failure, o.undoes, o.requester, o.message, o.total,
	o.done, o.unfinished, o.active, o.queued, o.running, o.claims, o.expected, o.created_at, o.started_at, o.ended_at`

// operationRow is an operation as it is written.
type operationRow struct {
	op                                ledger.Operation
	expected, created, started, ended int64
}

func (o *operationRow) dest() []any {
	return []any{&o.op.ID, &o.op.Tenant, &o.op.Cluster, &o.op.Kind, &o.op.Status, &o.op.PlanHash, &o.op.OnFailure, &o.op.Undoes, &o.op.Requester,
		&o.op.Message, &o.op.Total, &o.op.Done, &o.op.Unfinished, &o.op.Active, &o.op.Queued, &o.op.Running, &o.op.Claims, &o.expected,
		&o.created, &o.started, &o.ended}
}

func (o *operationRow) value() ledger.Operation {
	op := o.op
	op.Expected = time.Duration(o.expected) * time.Microsecond
	op.CreatedAt, op.StartedAt, op.EndedAt = fromMicros(o.created), fromMicros(o.started), fromMicros(o.ended)
	return op
}

func (o *operationRow) operation() app.Operation { return o.value().Operation }

// Operations implements app.Ledger.
func (s *Store) Operations(ctx context.Context, tenant, cluster string) ([]app.Operation, error) {
	return operations(ctx, s.reads, tenant, cluster)
}

func operations(ctx context.Context, from reader, tenant, cluster string) ([]app.Operation, error) {
	ops := []app.Operation{}
	err := each(ctx, from, func(row scanner) error {
		var o operationRow
		err := row.Scan(o.dest()...)
		ops = append(ops, o.operation())
		return err
	}, `SELECT `+operationColumns+` FROM operations o WHERE o.tenant = ? AND o.cluster = ? ORDER BY o.id DESC LIMIT 200`, tenant, cluster)
	return ops, err
}

// operations loads operations by id, in the order of the ids. Those that there are not are left out.
func (t *tx) operations(ids []int64) (ops []ledger.Operation, err error) {
	err = t.eachOf(func(row scanner) error {
		var o operationRow
		err := row.Scan(o.dest()...)
		ops = append(ops, o.value())
		return err
	}, len(ids), `SELECT `+operationColumns+` FROM operations o WHERE o.id IN (`, `?`, `)`,
		func(args []any, i int) []any { return append(args, ids[i]) })
	return ops, err
}

// operation loads one operation, or ENotFound.
func (t *tx) operation(id int64) (ledger.Operation, error) {
	ops, err := t.operations([]int64{id})
	if err == nil && len(ops) == 0 {
		err = app.Errorf(app.ENotFound, "There is no operation %d.", id)
	}
	if err != nil {
		return ledger.Operation{}, err
	}
	return ops[0], nil
}

// FailedDeletes implements app.Ledger. A roll-back gives machines back as well.
func (s *Store) FailedDeletes(ctx context.Context, now time.Time, least, most time.Duration, limit int) (ops []app.Operation, err error) {
	err = s.each(ctx, func(row scanner) error {
		var o operationRow
		err := row.Scan(o.dest()...)
		ops = append(ops, o.operation())
		return err
	}, `SELECT `+operationColumns+` FROM operations o WHERE o.kind IN ('delete', 'roll_back') AND o.status = 'failed'
		AND (o.ended_at + CASE WHEN o.ended_at - o.created_at > ? THEN ? WHEN o.ended_at - o.created_at < ? THEN ?
			ELSE o.ended_at - o.created_at END <= ? OR o.ended_at > ?)
		AND o.followed_by = 0 ORDER BY o.ended_at LIMIT ?`,
		most.Microseconds(), most.Microseconds(), least.Microseconds(), least.Microseconds(), micros(now), micros(now.Add(ledger.FarFuture)), limit)
	return ops, err
}
