package operation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/ledger"
	"muster/app/store/cluster"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
)

// ControlOperation cancels, pauses or resumes an operation, as the state machine in app/ledger allows. EConflict in a
// state that does not allow it, saying which would.
func (s *Store) ControlOperation(ctx context.Context, c app.Control) (op app.Operation, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		var err error
		op, err = control(t, c, "")
		return err
	})
	return op, err
}

// notGone refuses to resume what was left undone on a cluster that is gone: its machines are, or are another cluster's.
func notGone(t *db.Tx, act app.ControlAct, cluster string) error {
	if act != app.ControlResume {
		return nil
	}
	var gone bool
	if err := t.Row(`SELECT EXISTS (SELECT 1 FROM clusters WHERE id = ? AND deleted_at > 0)`, cluster).Scan(&gone); err != nil || !gone {
		return db.Wrapped(err)
	}
	return app.Errorf(app.EConflict, "Cluster %s is gone.", cluster)
}

// control carries out an act. Message is what the operation is to say of it, "" for the usual.
func control(t *db.Tx, c app.Control, message string) (app.Operation, error) {
	loaded, err := cluster.ReadOperation(t, c.Operation)
	if err == nil && loaded.Tenant != c.Tenant {
		err = app.Errorf(app.ENotFound, "Operation %d doesn't exist.", c.Operation)
	}
	if err != nil {
		return app.Operation{}, err
	}
	if err := notGone(t, c.Act, loaded.Cluster); err != nil {
		return app.Operation{}, err
	}
	set := ledger.New(c.Now)
	o := set.AddOperation(loaded)
	was := o.Status
	if err := addNeeded(t, set, o, c); err != nil {
		return app.Operation{}, err
	}
	later, err := later(t, loaded)
	if err != nil {
		return app.Operation{}, err
	}
	bulk, err := set.Control(o, c, later)
	if err != nil {
		return app.Operation{}, err
	}
	if message != "" {
		o.Message = message
	}
	if was == app.OperationWaiting && o.Status.Ended() {
		if err := unfollow(t, o); err != nil {
			return app.Operation{}, err
		}
		if err := moot(t, c.Now, o.ID); err != nil {
			return app.Operation{}, err
		}
		if err := calledOff(t, c.Now, o.Operation); err != nil {
			return app.Operation{}, err
		}
	}
	if err := moveAll(t, c.Now, o.ID, bulk); err != nil {
		return app.Operation{}, err
	}
	if err := set.Settle(ledgerdb.Rows(t)); err != nil {
		return app.Operation{}, err
	}
	detail := strings.TrimSpace(fmt.Sprintf("%d %s %s", o.ID, c.Node, c.Why))
	if err := t.Audit(c.Now, c.Tenant, c.Who, "operation."+string(c.Act), o.Cluster, detail); err != nil {
		return app.Operation{}, err
	}
	if c.Act == app.ControlCancel {
		t.Topics[app.StopsTopic(o.Tenant)] = true
	}
	if was.Ended() && !o.Status.Ended() {
		if err := ledgerdb.SetCluster(t, c.Now, o.Tenant, o.Cluster, app.ClusterPending, ""); err != nil {
			return app.Operation{}, err
		}
	}
	if err := ledgerdb.Save(t, c.Now, set); err != nil {
		return app.Operation{}, err
	}
	return o.Operation, nil
}

// unfollow lets an operation that was called off before it began follow nothing: it has changed nothing, so what it came
// after is rolled back or tried again by itself as if it had never been asked for.
func unfollow(t *db.Tx, o *ledger.Operation) error {
	return t.Exec(`UPDATE operations SET followed_by = COALESCE((SELECT min(l.id) FROM operations l WHERE l.cluster = operations.cluster
		AND l.id > operations.id AND l.id <> ? AND (l.started_at > 0 OR l.status = 'waiting')), 0) WHERE cluster = ? AND followed_by = ?`,
		o.ID, o.Cluster, o.ID)
}

// addNeeded loads the steps that an act must find.
func addNeeded(t *db.Tx, set *ledger.Set, o *ledger.Operation, c app.Control) error {
	for _, state := range ledger.Needed(c) {
		where, args := `s.operation = ? AND s.state = ?`, []any{o.ID, string(state)}
		if c.Node != "" {
			where, args = where+` AND s.node = ?`, append(args, c.Node)
		}
		steps, err := ledgerdb.StepsWhere(t, where, args...)
		if err != nil {
			return err
		}
		for _, st := range steps {
			set.AddStep(st)
		}
	}
	return nil
}

// moveAll moves all steps of an operation that an event moves at once.
func moveAll(t *db.Tx, now time.Time, operation int64, e ledger.StepEvent) error {
	if e == "" {
		return nil
	}
	if err := ledgerdb.WithdrawManualSteps(t, operation); err != nil {
		return err
	}
	moves := ledger.Bulk(e)
	for _, from := range slices.Sorted(maps.Keys(moves)) {
		ended := int64(0)
		if moves[from].Ended() {
			ended = db.Micros(now)
		}
		if err := t.Exec(`UPDATE steps SET state = ?, ended_at = ? WHERE operation = ? AND state = ?`,
			string(moves[from]), ended, operation, string(from)); err != nil {
			return err
		}
	}
	return nil
}
