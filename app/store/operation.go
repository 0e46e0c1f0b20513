package store

import (
	"context"
	"fmt"
	"time"

	"muster/app"
)

const operationColumns = `o.id, o.tenant, o.cluster, o.kind, o.status, o.plan_hash, o.requester, o.message, o.total, o.done,
	o.unfinished, o.active, o.expected, o.created_at, o.started_at, o.ended_at`

// operationRow is an operation as it is written. unfinished and active are the ledger's own counts.
type operationRow struct {
	op                                app.Operation
	unfinished, active                int
	expected, created, started, ended int64
}

func (o *operationRow) dest() []any {
	return []any{&o.op.ID, &o.op.Tenant, &o.op.Cluster, &o.op.Kind, &o.op.Status, &o.op.PlanHash, &o.op.Requester, &o.op.Message,
		&o.op.Total, &o.op.Done, &o.unfinished, &o.active, &o.expected, &o.created, &o.started, &o.ended}
}

func (o *operationRow) operation() app.Operation {
	op := o.op
	op.Expected = time.Duration(o.expected) * time.Microsecond
	op.CreatedAt, op.StartedAt, op.EndedAt = fromMicros(o.created), fromMicros(o.started), fromMicros(o.ended)
	return op
}

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

// SubmitOperation implements app.Ledger.
func (s *Store) SubmitOperation(ctx context.Context, n app.NewOperation) (op app.Operation, err error) {
	err = s.write(ctx, func(t *tx) error {
		if standing, err := t.standing(n.Operation); standing != nil || err != nil {
			if standing != nil {
				op = standing.operation()
			}
			return err
		}
		var err error
		op, err = t.submit(n)
		return err
	})
	return op, err
}

// standing refuses an operation on a cluster that is gone, and gives the delete that a second one would be, if any.
func (t *tx) standing(op app.Operation) (*operationRow, error) {
	var deleted int64
	err := t.row(`SELECT deleted_at FROM clusters WHERE tenant = ? AND id = ?`, op.Tenant, op.Cluster).Scan(&deleted)
	if err := clusterError(err, op.Cluster); err != nil {
		return nil, err
	}
	if op.Kind == app.OperationDelete {
		o := &operationRow{}
		err := t.row(`SELECT `+operationColumns+` FROM operations o WHERE o.cluster = ? AND o.kind = 'delete'
			AND o.status IN ('waiting', 'running', 'succeeded') ORDER BY o.id DESC LIMIT 1`, op.Cluster).Scan(o.dest()...)
		if !isNoRows(err) {
			return o, err
		}
	}
	if deleted > 0 {
		return nil, app.Errorf(app.EConflict, "Cluster %q is gone.", op.Cluster)
	}
	return nil, nil
}

// FailedDeletes implements app.Ledger.
func (s *Store) FailedDeletes(ctx context.Context, now time.Time, least, most time.Duration, limit int) (ops []app.Operation, err error) {
	err = s.each(ctx, func(row scanner) error {
		var o operationRow
		err := row.Scan(o.dest()...)
		ops = append(ops, o.operation())
		return err
	}, `SELECT `+operationColumns+` FROM operations o WHERE o.kind = 'delete' AND o.status = 'failed'
		AND (o.ended_at + min(max(o.ended_at - o.created_at, ?), ?) <= ? OR o.ended_at > ?)
		AND NOT EXISTS (SELECT 1 FROM operations l WHERE l.cluster = o.cluster AND l.id > o.id) ORDER BY o.ended_at LIMIT ?`,
		least.Microseconds(), most.Microseconds(), micros(now), micros(now.Add(farFuture)), limit)
	return ops, err
}

// submit writes an operation with its plan, and starts it when no other one of the cluster is before it.
func (t *tx) submit(n app.NewOperation) (app.Operation, error) {
	op := n.Operation
	err := t.row(`INSERT INTO operations (tenant, cluster, kind, status, plan_hash, requester, message, total, done, unfinished, active,
			expected, created_at, started_at, ended_at)
		VALUES (?, ?, ?, 'waiting', ?, ?, '', ?, 0, ?, 0, ?, ?, 0, 0) RETURNING id`,
		op.Tenant, op.Cluster, op.Kind, op.PlanHash, op.Requester, n.Plan.Acts(), len(n.Plan.Steps),
		op.Expected.Microseconds(), micros(op.CreatedAt)).Scan(&op.ID)
	if err != nil {
		return op, fmt.Errorf("store: operation: %w", err)
	}
	for i, s := range n.Plan.Steps {
		err := t.exec(`INSERT INTO steps (operation, idx, tenant, cluster, step, node, action, service, is_join, state, needs_left, rank,
				attempt, tries, worker, deadline, not_before, rung_at, error_code, error, started_at, ended_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?, 0, 0, '', 0, 0, 0, '', '', 0, 0)`,
			op.ID, i, op.Tenant, op.Cluster, s.ID, s.Node, s.Action, s.Service, s.Join, len(s.Needs), s.Rank.Microseconds())
		if err != nil {
			return op, err
		}
		for _, need := range s.Needs {
			if err := t.exec(`INSERT INTO edges (operation, from_idx, to_idx) VALUES (?, ?, ?)`, op.ID, need, i); err != nil {
				return op, err
			}
		}
	}
	if err := t.audit(op.CreatedAt, op.Tenant, op.Requester, "cluster."+string(op.Kind), op.Cluster, op.PlanHash); err != nil {
		return op, err
	}
	if n.Cancel {
		if err := t.cancelBefore(op); err != nil {
			return op, err
		}
	}
	if err := t.startNext(op.CreatedAt, op.Cluster); err != nil {
		return op, err
	}
	o, err := t.operation(op.ID)
	if err != nil {
		return op, err
	}
	return o.operation(), nil
}

func (t *tx) operation(id int64) (*operationRow, error) {
	o := &operationRow{}
	err := t.row(`SELECT `+operationColumns+` FROM operations o WHERE o.id = ?`, id).Scan(o.dest()...)
	if isNoRows(err) {
		return nil, app.Errorf(app.ENotFound, "There is no operation %d.", id)
	}
	return o, err
}

// cancelBefore asks every earlier operation of the cluster to stop: those that wait end at once, the running one ends
// when its running steps have.
func (t *tx) cancelBefore(op app.Operation) error {
	var ids []int64
	err := t.each(func(row scanner) error {
		var id int64
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM operations WHERE cluster = ? AND id < ? AND status IN ('waiting', 'running') ORDER BY id DESC`, op.Cluster, op.ID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		o, err := t.operation(id)
		if err != nil {
			return err
		}
		if err := t.exec(`UPDATE steps SET state = 'dropped', ended_at = ? WHERE operation = ? AND state IN ('waiting', 'ready', 'queued')`,
			micros(op.CreatedAt), id); err != nil {
			return err
		}
		if err := t.row(`SELECT count(*) FROM steps WHERE operation = ? AND state = 'running'`, id).Scan(&o.active); err != nil {
			return err
		}
		o.op.Status = app.OperationCancelling
		o.op.Message = "Stopped, because " + op.Requester + " asked for " + string(op.Kind) + "."
		if err := t.settle(op.CreatedAt, o); err != nil {
			return err
		}
	}
	return nil
}

// startNext starts the cluster's oldest waiting operation, unless one is running.
func (t *tx) startNext(now time.Time, cluster string) error {
	var id int64
	err := t.row(`SELECT id FROM operations WHERE cluster = ? AND status = 'waiting'
		AND NOT EXISTS (SELECT 1 FROM operations r WHERE r.cluster = operations.cluster AND r.status IN ('running', 'cancelling'))
		ORDER BY id LIMIT 1`, cluster).Scan(&id)
	if isNoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	o, err := t.operation(id)
	if err != nil {
		return err
	}
	o.op.Status, o.started = app.OperationRunning, micros(now)
	if err := t.setCluster(now, o.op.Tenant, cluster, app.ClusterPending, ""); err != nil {
		return err
	}
	var free []int
	err = t.each(func(row scanner) error {
		var i int
		err := row.Scan(&i)
		free = append(free, i)
		return err
	}, `SELECT idx FROM steps WHERE operation = ? AND needs_left = 0 AND state = 'waiting' ORDER BY rank DESC, idx`, id)
	if err != nil {
		return err
	}
	return t.setGoing(now, o, free)
}

// setGoing makes steps of a running operation ready and queues what its nodes are to do first.
func (t *tx) setGoing(now time.Time, o *operationRow, free []int) error {
	nodes, err := t.makeReady(now, o, free)
	if err != nil {
		return err
	}
	// The row must say that it runs before a step of it can be queued.
	if err := t.exec(`UPDATE operations SET status = ? WHERE id = ?`, o.op.Status, o.op.ID); err != nil {
		return err
	}
	for _, n := range nodes {
		if err := t.queueNode(now, o.op.Cluster, n); err != nil {
			return err
		}
	}
	return t.settle(now, o)
}

// settle writes the operation's counts, and ends it when nothing of it is active any more.
func (t *tx) settle(now time.Time, o *operationRow) error {
	ended := o.active == 0 && (o.op.Status == app.OperationRunning || o.op.Status == app.OperationCancelling)
	if ended {
		o.ended = micros(now)
		switch {
		case o.unfinished == 0:
			o.op.Status, o.op.Message = app.OperationSucceeded, ""
		case o.op.Status == app.OperationCancelling:
			o.op.Status = app.OperationCancelled
		default:
			o.op.Status = app.OperationFailed
			var err error
			if o.op.Message, err = t.whatFailed(o.op.ID); err != nil {
				return err
			}
		}
	}
	err := t.exec(`UPDATE operations SET status = ?, message = ?, done = ?, unfinished = ?, active = ?, started_at = ?, ended_at = ?
		WHERE id = ?`, o.op.Status, o.op.Message, o.op.Done, o.unfinished, o.active, o.started, o.ended, o.op.ID)
	if err != nil {
		return err
	}
	if err := t.event(app.Event{At: now, Tenant: o.op.Tenant, Cluster: o.op.Cluster, Operation: o.op.ID, Kind: app.EventOperation,
		Status: string(o.op.Status), Message: o.op.Message, Done: o.op.Done, Total: o.op.Total}); err != nil {
		return err
	}
	if !ended {
		return nil
	}
	if err := t.endCluster(now, o); err != nil {
		return err
	}
	return t.startNext(now, o.op.Cluster)
}

// endCluster moves the cluster on at the end of an operation.
func (t *tx) endCluster(now time.Time, o *operationRow) error {
	switch {
	case o.op.Status == app.OperationSucceeded && o.op.Kind == app.OperationDelete:
		if err := t.exec(`UPDATE clusters SET deleted_at = ?, ssh_key = x'' WHERE id = ?`, micros(now), o.op.Cluster); err != nil {
			return err
		}
		return t.setCluster(now, o.op.Tenant, o.op.Cluster, app.ClusterDeleted, "")
	case o.op.Status == app.OperationSucceeded:
		return t.setCluster(now, o.op.Tenant, o.op.Cluster, app.ClusterActive, "")
	case o.op.Status == app.OperationFailed && o.op.Kind == app.OperationDelete:
		return t.setCluster(now, o.op.Tenant, o.op.Cluster, app.ClusterFailed, o.op.Message+" The delete is tried again by itself.")
	default:
		return t.setCluster(now, o.op.Tenant, o.op.Cluster, app.ClusterFailed, o.op.Message)
	}
}

// whatFailed words the first failed step, and how many more there are.
func (t *tx) whatFailed(id int64) (string, error) {
	var first, text string
	var n int
	err := t.row(`SELECT step, error, (SELECT count(*) FROM steps WHERE operation = ? AND state = 'failed')
		FROM steps WHERE operation = ? AND state = 'failed' ORDER BY ended_at, idx LIMIT 1`, id, id).Scan(&first, &text, &n)
	if isNoRows(err) {
		return "The operation ended before all of its steps were done.", nil
	}
	if err != nil {
		return "", err
	}
	if n > 1 {
		return fmt.Sprintf("%s failed: %s (and %d more steps)", first, text, n-1), nil
	}
	return fmt.Sprintf("%s failed: %s", first, text), nil
}

// ControlOperation implements app.Ledger.
func (s *Store) ControlOperation(ctx context.Context, c app.Control) (op app.Operation, err error) {
	tenant, id, who, now := c.Tenant, c.Operation, c.Who, c.Now
	if c.Act != app.ControlResume || c.Node != "" {
		return op, app.Errorf(app.EInvalid, "An operation cannot be told to %q.", c.Act)
	}
	err = s.write(ctx, func(t *tx) error {
		o, err := t.operation(id)
		if err != nil {
			return err
		}
		if o.op.Tenant != tenant {
			return app.Errorf(app.ENotFound, "There is no operation %d.", id)
		}
		var later int
		if err := t.row(`SELECT count(*) FROM operations WHERE cluster = ? AND id > ?`, o.op.Cluster, id).Scan(&later); err != nil {
			return err
		}
		if o.op.Status != app.OperationFailed || later > 0 {
			return app.Errorf(app.EConflict, "Only the latest operation can be resumed, and only after it failed; this one is %s.", o.op.Status)
		}
		var again []int
		err = t.each(func(row scanner) error {
			var i int
			err := row.Scan(&i)
			again = append(again, i)
			return err
		}, `SELECT idx FROM steps WHERE operation = ? AND state = 'failed' ORDER BY rank DESC, idx`, id)
		if err != nil {
			return err
		}
		if err := t.exec(`UPDATE steps SET state = 'waiting', tries = 0, ended_at = 0 WHERE operation = ? AND state = 'failed'`, id); err != nil {
			return err
		}
		o.op.Status, o.op.Message, o.ended = app.OperationRunning, "", 0
		if err := t.audit(now, tenant, who, "operation.resume", o.op.Cluster, fmt.Sprint(id)); err != nil {
			return err
		}
		if err := t.setCluster(now, tenant, o.op.Cluster, app.ClusterPending, ""); err != nil {
			return err
		}
		if err := t.setGoing(now, o, again); err != nil {
			return err
		}
		op = o.operation()
		return nil
	})
	return op, err
}
