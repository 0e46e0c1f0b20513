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
	"muster/app/store/build"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/health"
	"muster/app/store/policy"
)

// ControlOperation implements app.Ledger.
func (s *Store) ControlOperation(ctx context.Context, c app.Control) (op app.Operation, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		var err error
		op, err = control(t, c, "")
		return err
	})
	return op, err
}

// control carries out an act. Message is what the operation is to say of it, "" for the usual.
func control(t *db.Tx, c app.Control, message string) (app.Operation, error) {
	loaded, err := cluster.ReadOperation(t, c.Operation)
	if err == nil && loaded.Tenant != c.Tenant {
		err = app.Errorf(app.ENotFound, "There is no operation %d.", c.Operation)
	}
	if err != nil {
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
	if err := set.Settle(ledgerRows{t}); err != nil {
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
		if err := setCluster(t, c.Now, o.Tenant, o.Cluster, app.ClusterPending, ""); err != nil {
			return app.Operation{}, err
		}
	}
	if err := save(t, c.Now, set); err != nil {
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
		steps, err := stepsWhere(t, where, args...)
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
	if err := withdrawQuestions(t, operation); err != nil {
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

// endCluster moves the cluster on at the end of an operation.
func endCluster(t *db.Tx, now time.Time, o *ledger.Operation) error {
	var left int
	undone, err := undone(t, o)
	if err != nil {
		return err
	}
	if undone == app.OperationCreate {
		if err := t.Row(`SELECT count(*) FROM nodes WHERE cluster = ? AND status NOT IN (?, ?)`, o.Cluster, string(app.NodePlanned),
			string(app.NodeDeleted)).Scan(&left); err != nil {
			return err
		}
	}
	after, moved := ledger.ClusterAfter(o, undone, left)
	if !moved {
		return topUpAfter(t, now, o.Operation, "")
	}
	if o.Status == app.OperationSucceeded {
		if err := changeDone(t, now, o.Operation); err != nil {
			return err
		}
	}
	if after.Status == app.ClusterDeleted {
		if err := endPlanned(t, now, o.Cluster); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM changes WHERE cluster = ?`, o.Cluster); err != nil {
			return err
		}
		if err := health.Drop(t, o.Cluster); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM cluster_schedules WHERE cluster = ?`, o.Cluster); err != nil {
			return err
		}
		if err := forgetAnswers(t, o.Cluster); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM node_facts WHERE cluster = ?`, o.Cluster); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE clusters SET deleted_at = ?, ssh_key = ? WHERE id = ?`, db.Micros(now), []byte{}, o.Cluster); err != nil {
			return err
		}
		if err := policy.GiveBack(t, now, o.Cluster, 0); err != nil {
			return err
		}
	}
	if after.Status == app.ClusterActive {
		if err := t.Exec(`UPDATE clusters SET lost_at = 0 WHERE id = ? AND lost_at > 0`, o.Cluster); err != nil {
			return err
		}
		message, err := failLost(t, now, o.Cluster)
		if err != nil {
			return err
		}
		if message != "" { // what the operation left out is still missing
			after.Status, after.Message = app.ClusterFailed, message
		}
	}
	if err := noticeEnded(t, now, o, after.Status); err != nil {
		return err
	}
	if err := setCluster(t, now, o.Tenant, o.Cluster, after.Status, after.Message); err != nil {
		return err
	}
	return topUpAfter(t, now, o.Operation, after.Status)
}

// noticeEnded tells that a cluster is ready, which it was not before, or that an operation failed. Why it failed may have
// secrets in it, so that stands only on the cluster's page. Machines of pools are told of by their pool.
func noticeEnded(t *db.Tx, now time.Time, o *ledger.Operation, after app.ClusterStatus) error {
	if o.Status != app.OperationFailed && (o.Status != app.OperationSucceeded || after != app.ClusterActive) {
		return nil
	}
	var c app.Cluster
	var pool int64
	err := t.Row(`SELECT name, owner, status, pool FROM clusters WHERE tenant = ? AND id = ?`, o.Tenant, o.Cluster).Scan(&c.Name, &c.Owner, &c.Status, &pool)
	if db.IsNoRows(err) || err == nil && (pool > 0 || o.Status == app.OperationSucceeded && o.Kind != app.OperationCreate && c.Status != app.ClusterFailed) {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	n := app.Notice{At: now, Tenant: o.Tenant, Kind: app.NoticeReady, Cluster: o.Cluster, Users: []string{c.Owner}, About: app.ClusterSubject(o.Cluster), Title: c.Name + " is ready."}
	if o.Status == app.OperationFailed {
		n.Kind, n.Title = app.NoticeFailed, fmt.Sprintf("%s: the %s failed.", c.Name, o.Kind.Words())
		n.Text = fmt.Sprintf("%d of %d steps are done. The cluster's page shows what failed and what you can do.", o.Done, o.Total)
	}
	return t.Notice(n)
}

// undone gives the kind of what a roll-back undoes; "" for other operations.
func undone(t *db.Tx, o *ledger.Operation) (kind app.OperationKind, err error) {
	if o.Kind != app.OperationRollBack {
		return "", nil
	}
	err = t.Row(`SELECT kind FROM operations WHERE id = ?`, o.Undoes).Scan(&kind)
	if db.IsNoRows(err) {
		return "", nil
	}
	return kind, err
}

// endPlanned ends the nodes of a deleted cluster that never had a machine, and forgets the host keys of all.
func endPlanned(t *db.Tx, now time.Time, cluster string) error {
	if err := t.Exec(`UPDATE intents SET ended_at = ? WHERE cluster = ? AND ended_at = 0
		AND node IN (SELECT n.name FROM nodes n WHERE n.cluster = ? AND n.status = ?)`, db.Micros(now), cluster, cluster, string(app.NodePlanned)); err != nil {
		return err
	}
	return t.Exec(`UPDATE nodes SET status = CASE WHEN status = ? THEN ? ELSE status END, secret = ? WHERE cluster = ? AND (status = ? OR length(secret) > 0)`,
		string(app.NodePlanned), string(app.NodeDeleted), []byte{}, cluster, string(app.NodePlanned))
}

// whatFailed words the first failed step, and how many more there are.
func whatFailed(t *db.Tx, id int64) (string, error) {
	var first, text string
	var n int
	err := t.Row(`SELECT step, error, (SELECT count(*) FROM steps WHERE operation = ? AND state = 'failed')
		FROM steps WHERE operation = ? AND state = 'failed' ORDER BY ended_at, idx LIMIT 1`, id, id).Scan(&first, &text, &n)
	if db.IsNoRows(err) {
		return "The operation ended before all of its steps were done.", nil
	}
	if err != nil {
		return "", err
	}
	if n > 1 {
		more := "more step"
		if n > 2 {
			more += "s"
		}
		return fmt.Sprintf("%s failed: %s (and %d %s)", first, strings.TrimSuffix(text, "."), n-1, more), nil
	}
	return fmt.Sprintf("%s failed: %s", first, text), nil
}

// setCluster changes a cluster's status and tells those who watch. One that is gone stays gone, whatever waited behind what
// ended it.
func setCluster(t *db.Tx, at time.Time, tenant, id string, status app.ClusterStatus, message string) error {
	var pool int64
	err := t.Row(`UPDATE clusters SET status = ?, message = ? WHERE tenant = ? AND id = ? AND (deleted_at = 0 OR ? = 'deleted') RETURNING pool`,
		status, message, tenant, id, status).Scan(&pool)
	if db.IsNoRows(err) {
		return nil
	}
	if err == nil && pool > 0 {
		err = poolMachineMoved(t, at, pool, id, status, message)
	}
	if err == nil {
		err = build.Wake(t, at, `cluster = ? AND cluster <> '' AND live = 1`, id)
	}
	if err != nil {
		return db.Wrapped(err)
	}
	return t.Event(app.Event{At: at, Tenant: tenant, Cluster: id, Kind: app.EventCluster, Status: string(status), Message: message})
}
