package ledger

import (
	"time"

	"muster/app"
	"muster/app/ledger"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
)

// OldestLive returns the cluster's oldest operation that has not ended; 0 for none.
func OldestLive(t *db.Tx, cluster string) (id int64, err error) {
	err = t.Row(`SELECT id FROM operations WHERE cluster = ? AND status IN ('waiting', 'running', 'paused', 'cancelling') ORDER BY id LIMIT 1`,
		cluster).Scan(&id)
	if db.IsNoRows(err) {
		return 0, nil
	}
	return id, err
}

// StartNext starts the cluster's oldest waiting operation, unless one is in progress.
func StartNext(t *db.Tx, now time.Time, cluster string) error {
	id, err := OldestLive(t, cluster)
	if err != nil || id == 0 {
		return err
	}
	o, err := clusterdb.ReadOperation(t, id)
	if err != nil || o.Status != app.OperationWaiting || !o.HeldUntil.IsZero() {
		return err
	}
	free, err := StepsWhere(t, `s.operation = ? AND s.needs_left = 0 AND s.state = ?`, id, string(app.StepWaiting))
	if err != nil {
		return err
	}
	set := ledger.New(now)
	started := set.AddOperation(o)
	for _, st := range free {
		set.AddStep(st)
	}
	set.Start(started)
	if err := set.Settle(Rows(t)); err != nil {
		return err
	}
	if err := SetCluster(t, now, o.Tenant, cluster, app.ClusterPending, ""); err != nil {
		return err
	}
	return Save(t, now, set)
}
