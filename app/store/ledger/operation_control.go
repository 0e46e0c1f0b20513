package ledger

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/ledger"
	"muster/app/store/build"
	"muster/app/store/db"
	"muster/app/store/health"
	"muster/app/store/idle"
	"muster/app/store/policy"
	"muster/app/store/volume"
	"muster/app/store/window"
)

// endCluster moves the cluster on at the end of an operation.
func endCluster(t *db.Tx, now time.Time, o *ledger.Operation) error {
	var left int
	undone, err := Undone(t, o)
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
		return backfillAfter(t, now, o.Operation, "")
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
		if err := t.Exec(`DELETE FROM operation_changes WHERE cluster = ?`, o.Cluster); err != nil {
			return err
		}
		if err := health.Drop(t, o.Cluster); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM cluster_schedules WHERE cluster = ?`, o.Cluster); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM action_schedules WHERE cluster = ?`, o.Cluster); err != nil {
			return err
		}
		if err := window.Forget(t, o.Tenant, o.Cluster); err != nil {
			return err
		}
		if err := forgetAnswers(t, o.Cluster); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM service_outputs WHERE cluster = ?`, o.Cluster); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE clusters SET deleted_at = ?, ssh_key = ? WHERE id = ?`, db.Micros(now), []byte{}, o.Cluster); err != nil {
			return err
		}
		if err := volume.ClusterGone(t, now, o.Tenant, o.Cluster); err != nil {
			return err
		}
		if err := policy.Release(t, now, o.Cluster, 0); err != nil {
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
	if err := SetCluster(t, now, o.Tenant, o.Cluster, after.Status, after.Message); err != nil {
		return err
	}
	return backfillAfter(t, now, o.Operation, after.Status)
}

// noticeEnded tells that a cluster is ready, which it was not before, or that an operation failed. Why it failed may have
// secrets in it, so the text is only on the cluster's page. Machines of pools are notified of by their pool.
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
		n.Kind, n.Title = app.NoticeFailed, fmt.Sprintf("%s: %s failed.", c.Name, o.Kind.The())
		n.Text = fmt.Sprintf("%d of %d steps are done. The cluster's page shows what failed and what you can do.", o.Done, o.Total)
	}
	return t.Notice(n)
}

// Undone returns the kind of what a rollback undoes; "" for other operations.
func Undone(t *db.Tx, o *ledger.Operation) (kind app.OperationKind, err error) {
	if o.Kind != app.OperationRollBack {
		return "", nil
	}
	err = t.Row(`SELECT kind FROM operations WHERE id = ?`, o.RollsBack).Scan(&kind)
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
		return "The operation ended before all its steps were done.", nil
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

// SetCluster changes a cluster's status and tells those who watch. One that is gone stays gone, whatever waited behind what
// ended it.
func SetCluster(t *db.Tx, at time.Time, tenant, id string, status app.ClusterStatus, message string) error {
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
	if err == nil {
		err = idle.Moved(t, at, id, status)
	}
	if err != nil {
		return db.Wrapped(err)
	}
	return t.Event(app.Event{At: at, Tenant: tenant, Cluster: id, Kind: app.EventCluster, Status: string(status), Message: message})
}
