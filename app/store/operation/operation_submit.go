package operation

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/cluster"
	"muster/app/ledger"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	idledb "muster/app/store/idle"
	"muster/app/store/lease"
	ledgerdb "muster/app/store/ledger"
	"muster/app/store/policy"
	"muster/app/store/run"
	"muster/app/store/volume"
)

// SubmitOperation accepts an operation on a cluster that exists; EConflict where the cluster is gone. A cluster is
// deleted once: a delete asked for while one waits or runs, or after one succeeded, returns that one. A rollback is
// EConflict unless what it undoes is the cluster's latest operation, has failed or was cancelled, and began to make no
// machine that the rollback's plan does not give back. Once a create is rolled back, the cluster is deleted.
//
// With a change it is EConflict, reason "operation_running" or "plan_changed", unless all before it have ended and n.Follows
// is the latest of them, and EQuota where the cluster grows beyond a limit. The cluster's row, its new nodes and the services
// of the others are written with it. Until it has succeeded, the greater of what was reserved before and after holds in each measure;
// where it fails, until a rollback or another update has. Nodes that leave are no part of the cluster once it has succeeded.
func (s *Store) SubmitOperation(ctx context.Context, n cluster.NewOperation) (op app.Operation, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		standing, err := CheckCurrentState(t, n)
		if err != nil {
			return err
		}
		if standing != nil {
			op = standing.Operation()
			return nil
		}
		if err := CheckFollows(t, n); err != nil {
			return err
		}
		if n.LeaseOver {
			if err := lease.Over(t, n.Operation); err != nil {
				return err
			}
		}
		if n.Idle != nil {
			if err := idledb.Over(t, n.Operation); err != nil {
				return err
			}
		}
		if off, err := callOffCreate(t, n.Operation); err != nil || off.ID != 0 {
			op = off
			return err
		}
		if n.Operation.Kind != app.OperationCompare { // what was found before is not so for long
			if err := t.Exec(`DELETE FROM service_changes WHERE cluster = ?`, n.Operation.Cluster); err != nil {
				return err
			}
		}
		if op, err = Submit(t, n); err != nil {
			return err
		}
		return chooseAndEnd(t, n)
	})
	return op, err
}

// chooseAndEnd writes down what an operation says of the cluster's volumes, and ends what was kept until it.
func chooseAndEnd(t *db.Tx, n cluster.NewOperation) error {
	if o := n.Operation; n.Volumes != "" {
		if err := volume.Choose(t, o.Tenant, o.Cluster, n.Volumes); err != nil {
			return err
		}
		if err := t.Audit(o.CreatedAt, o.Tenant, o.Requester, "volume.choose", o.Cluster, string(n.Volumes)); err != nil {
			return err
		}
	}
	return endKept(t, n.Operation)
}

// callOffCreate calls a create off that waits for a hook when the cluster is to be deleted: nothing was made, so there is nothing to
// give back. It returns the create, or one without a number where there is none.
func callOffCreate(t *db.Tx, op app.Operation) (app.Operation, error) {
	if op.Kind != app.OperationDelete {
		return app.Operation{}, nil
	}
	var id int64
	err := t.Row(`SELECT id FROM operations WHERE cluster = ? AND kind = 'create' AND status = 'waiting' AND pending_hooks > 0`, op.Cluster).Scan(&id)
	if db.IsNoRows(err) {
		return app.Operation{}, nil
	}
	if err != nil {
		return app.Operation{}, err
	}
	return control(t, app.Control{Tenant: op.Tenant, Operation: id, Act: app.ControlCancel, Who: op.Requester, Now: op.CreatedAt},
		"Stopped because "+op.Requester+" deleted the cluster. Nothing was created.")
}

// CheckCurrentState refuses an operation on a cluster that is gone, and returns the delete that a second one would be, if any.
func CheckCurrentState(t *db.Tx, n cluster.NewOperation) (*clusterdb.OperationRow, error) {
	op := n.Operation
	var deleted int64
	err := t.Row(`SELECT deleted_at FROM clusters WHERE tenant = ? AND id = ?`, op.Tenant, op.Cluster).Scan(&deleted)
	if err := clusterdb.ReadError(err, op.Cluster); err != nil {
		return nil, err
	}
	if op.Kind == app.OperationDelete {
		o := &clusterdb.OperationRow{}
		err := t.Row(`SELECT `+clusterdb.OperationColumns+` FROM operations o WHERE o.cluster = ? AND o.kind = 'delete'
			AND o.status IN ('waiting', 'running', 'succeeded') ORDER BY o.id DESC LIMIT 1`, op.Cluster).Scan(o.Dest()...)
		if !db.IsNoRows(err) {
			return o, err
		}
	}
	if deleted > 0 {
		return nil, app.Errorf(app.EConflict, "Cluster %q is gone.", op.Cluster)
	}
	switch op.Kind {
	case app.OperationRollBack:
		return nil, checkUndo(t, n)
	case app.OperationAcceptPartial:
		return nil, checkAcceptPartial(t, n)
	}
	return nil, nil
}

// checkUndo refuses a rollback of what has not ended, or of what something else has followed, and one whose plan does not
// give back all that was begun to be made: more has happened since it was planned.
func checkUndo(t *db.Tx, n cluster.NewOperation) error {
	op := n.Operation
	undone, err := clusterdb.ReadOperation(t, op.RollsBack)
	if err != nil {
		return err
	}
	if undone.Cluster != op.Cluster || undone.Tenant != op.Tenant {
		return app.Errorf(app.ENotFound, "Operation %d doesn't exist.", op.RollsBack)
	}
	later, err := later(t, undone)
	if err != nil {
		return err
	}
	if later != nil && later.Accepts == undone.ID && later.Status.Ended() && later.Status != app.OperationSucceeded {
		later = nil // what continued with it is undone together with it
	}
	if err := ledger.CheckUndo(&undone, later); err != nil {
		return err
	}
	if n.Change == nil {
		// Its steps would undo what the operation did, and the cluster's rows would still say that it was done.
		var changed bool
		if err := t.Row(`SELECT EXISTS (SELECT 1 FROM operation_changes WHERE operation = ?)`, undone.ID).Scan(&changed); err != nil {
			return err
		}
		if changed {
			return app.Errorf(app.EInternal, "the rollback of operation %d, which changed its cluster, doesn't say what it restores", undone.ID)
		}
	}
	back := map[string]bool{}
	for _, s := range n.Plan.Steps {
		back[s.Node] = back[s.Node] || s.Action == app.ActionDelete
	}
	left := ""
	err = t.Each(func(row db.Scanner) error {
		var node string
		err := row.Scan(&node)
		if !back[node] {
			left = node
		}
		return err
	}, `SELECT s.node FROM steps s WHERE s.operation = ? AND s.action = ? AND s.attempt > 0
		AND EXISTS (SELECT 1 FROM nodes n WHERE n.cluster = s.cluster AND n.name = s.node AND n.status <> ?)`,
		undone.ID, string(app.ActionCreate), string(app.NodeDeleted))
	if err == nil && left != "" {
		err = &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The rollback wouldn't delete " + left + ": more has happened since the preview.",
			Hint: "Preview again, then submit."}
	}
	return err
}

// later returns an operation that has been begun, or is to be, after another one of the same cluster; nil for none.
func later(t *db.Tx, o ledger.Operation) (*ledger.Operation, error) {
	var l clusterdb.OperationRow
	err := t.Row(`SELECT `+clusterdb.OperationColumns+` FROM operations o WHERE o.cluster = ? AND o.id > ? AND (o.started_at > 0 OR o.status = 'waiting')
		ORDER BY o.id DESC LIMIT 1`, o.Cluster, o.ID).Scan(l.Dest()...)
	if db.IsNoRows(err) {
		return nil, nil
	}
	v := l.Value()
	return &v, err
}

// Submit writes an operation with its plan, and starts it when no other one of the cluster is before it.
func Submit(t *db.Tx, n cluster.NewOperation) (app.Operation, error) {
	op := n.Operation
	if err := keepMachines(t, n); err != nil {
		return op, err
	}
	op.Status, op.Total = app.OperationWaiting, n.Plan.Acts()
	op.Expects, op.Trace = n.Plan.Expects, t.Trace
	hooks, waits, err := hooksBefore(t, n)
	if err != nil {
		return op, err
	}
	if n.Cancel && !waits {
		if err := cancelOthers(t, op); err != nil {
			return op, err
		}
	}
	noBackfill := 0
	if op.NoBackfill {
		noBackfill = 1
	}
	err = t.Row(`INSERT INTO operations (tenant, cluster, kind, status, plan_hash, on_failure, rolls_back, requester, message, total, done, unfinished,
			active, queued, running, claims, queue_order, expected, expected_low, expected_high, expected_is_estimate, expected_runs, created_at, started_at, ended_at, min_available, no_backfill, trace)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?, 0, ?, 0, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?) RETURNING id`,
		op.Tenant, op.Cluster, string(op.Kind), string(op.Status), op.PlanHash, string(op.OnFailure), max(op.RollsBack, op.Accepts), op.Requester, op.Total,
		len(n.Plan.Steps), ledger.Turn(op), op.Expected.Microseconds(), op.Expects.Low.Microseconds(), op.Expects.High.Microseconds(),
		op.Expects.Estimated.Microseconds(), op.Expects.Runs, db.Micros(op.CreatedAt), op.MinAvailable, noBackfill, op.Trace).Scan(&op.ID)
	if err != nil {
		return op, fmt.Errorf("store: operation: %w", err)
	}
	if err := run.Save(t, op, n.Plan.Run); err != nil {
		return op, err
	}
	if err := t.Exec(`UPDATE operations SET followed_by = ? WHERE cluster = ? AND followed_by = 0 AND id < ?`, op.ID, op.Cluster, op.ID); err != nil {
		return op, err
	}
	if n.Idle != nil {
		if err := idledb.Saves(t, op, n.Idle.PerHour); err != nil {
			return op, err
		}
	}
	if err := idledb.Active(t, op.Cluster, op.CreatedAt); err != nil {
		return op, err
	}
	detail := op.PlanHash
	if n.Plan.Run != nil {
		detail = n.Plan.Run.Detail()
	}
	if n.Change != nil {
		if detail, err = change(t, op, *n.Change); err != nil {
			return op, err
		}
	}
	if err := t.Audit(op.CreatedAt, op.Tenant, op.Requester, "cluster."+string(op.Kind), op.Cluster, detail); err != nil {
		return op, err
	}
	if err := beginAcceptPartial(t, op, n); err != nil {
		return op, err
	}
	if err := backfillWaits(t, op, n.Backfill); err != nil {
		return op, err
	}
	if err := announce(t, &op, n.Plan, hooks, waits); err != nil {
		return op, err
	}
	before, err := ledgerdb.OldestLive(t, op.Cluster)
	if err != nil {
		return op, err
	}
	set := ledger.New(op.CreatedAt)
	o := set.AddOperation(ledger.Operation{Operation: op, Unfinished: len(n.Plan.Steps)})
	rows := ledgerdb.NewPlanRows(op, n.Plan)
	if rows.DurationKeys, err = policy.PacesOf(t, op.CreatedAt, n.Plan.DurationKeys); err != nil {
		return op, err
	}
	if before == op.ID && !waits {
		// What can begin at once is written as begun.
		for _, st := range rows.Free() {
			set.AddStep(st)
		}
		set.Start(o)
		if err := set.Settle(rows); err != nil {
			return op, err
		}
	}
	if err := ledgerdb.InsertSteps(t, rows, set); err != nil {
		return op, err
	}
	if o.Status == app.OperationWaiting {
		return o.Operation, ledgerdb.OperationEvent(t, op.CreatedAt, o)
	}
	if err := ledgerdb.SetCluster(t, op.CreatedAt, op.Tenant, op.Cluster, app.ClusterPending, ""); err != nil {
		return op, err
	}
	if err := ledgerdb.SaveOperations(t, op.CreatedAt, set); err != nil {
		return op, err
	}
	return o.Operation, nil
}

// cancelOthers asks every operation of the cluster to stop: those that wait end at once, the one in progress ends when its
// running steps have.
func cancelOthers(t *db.Tx, op app.Operation) error {
	var ids []int64
	err := t.Each(func(row db.Scanner) error {
		var id int64
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	}, `SELECT id FROM operations WHERE cluster = ? AND status IN ('waiting', 'running', 'paused') AND id <> ? ORDER BY id DESC`, op.Cluster, op.ID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, err := control(t, app.Control{Tenant: op.Tenant, Operation: id, Act: app.ControlCancel, Who: op.Requester, Now: op.CreatedAt},
			"Stopped, because "+op.Requester+" asked for "+string(op.Kind)+".")
		if err != nil {
			return err
		}
	}
	return nil
}
