package ledger

import (
	"fmt"
	"time"

	"muster/app"
	apppool "muster/app/pool"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
)

// WakePool makes a pool due: something has happened to it.
func WakePool(t *db.Tx, at time.Time, pool int64) error {
	return t.Exec(`UPDATE pools SET due_at = ?, version = version + 1 WHERE id = ? AND ended_at = 0`, db.Micros(at), pool)
}

// poolOf returns the number of the pool whose machine a cluster is, 0 for an ordinary one.
func poolOf(t *db.Tx, cluster string) (pool int64, err error) {
	err = t.Row(`SELECT pool FROM clusters WHERE id = ?`, cluster).Scan(&pool)
	return pool, clusterdb.ReadError(err, cluster)
}

// poolMachineMoved follows the cluster of a pool's machine. It comes with every change of such a cluster's status, in the same transaction.
func poolMachineMoved(t *db.Tx, at time.Time, pool int64, cluster string, status app.ClusterStatus, message string) error {
	var moved int64
	var err error
	switch status {
	case app.ClusterActive:
		moved, err = t.Count(`UPDATE pool_machines SET state = 'ready', ready_at = ?, zone = CASE WHEN zone <> '' THEN zone
				ELSE coalesce((SELECT x.zone FROM resources x WHERE x.cluster = pool_machines.cluster AND x.deleted_at = 0 LIMIT 1), '') END
			WHERE cluster = ? AND state IN ('making', 'failed')`, db.Micros(at), cluster)
		if err == nil && moved > 0 {
			err = t.Exec(`UPDATE pools SET failures = 0, retry_at = 0 WHERE id = ?`, pool)
		}
	case app.ClusterFailed:
		moved, err = t.Count(`UPDATE pool_machines SET state = 'failed' WHERE cluster = ? AND state = 'making'`, cluster)
		if err == nil && moved > 0 {
			err = poolFailed(t, at, pool, message)
		}
	case app.ClusterDeleted:
		moved, err = t.Count(`UPDATE pool_machines SET state = 'gone', ended_at = ? WHERE cluster = ? AND state <> 'handed'`, db.Micros(at), cluster)
	}
	if err != nil || moved == 0 {
		return err
	}
	return WakePool(t, at, pool)
}

// poolFailed counts a machine that could not be made.
func poolFailed(t *db.Tx, at time.Time, pool int64, message string) error {
	var failures int
	err := t.Row(`UPDATE pools SET failures = failures + 1, error = ?, failed_at = CASE WHEN failed_at = 0 THEN ? ELSE failed_at END WHERE id = ? RETURNING failures`,
		message, db.Micros(at), pool).Scan(&failures)
	if err != nil {
		return fmt.Errorf("store: pool %d: %w", pool, err)
	}
	return t.Exec(`UPDATE pools SET retry_at = ? WHERE id = ?`, db.Micros(at.Add(apppool.Retry(failures))), pool)
}
