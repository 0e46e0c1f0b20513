package pool

import (
	"context"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	apppool "muster/app/pool"
	"muster/app/store/db"
	"muster/app/store/ledger"
	"muster/app/store/operation"
)

// DuePools implements pool.StockStore. What is due is in an index of its own, which is nearly always empty.
func (s *Store) DuePools(ctx context.Context, now time.Time, limit int) (list []apppool.Pool, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		p, err := scanPool(row)
		list = append(list, p)
		return err
	}, `SELECT `+poolColumns+` FROM pools p WHERE p.due_at > 0 AND p.due_at <= ? ORDER BY p.due_at LIMIT ?`, db.Micros(now), limit)
	return list, err
}

func (s *Store) WakePools(ctx context.Context, now time.Time) error {
	var any bool
	if err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM pools WHERE ended_at = 0)`).Scan(&any); err != nil || !any {
		return db.Wrapped(err)
	}
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE pools SET due_at = ?, version = version + 1 WHERE ended_at = 0`, db.Micros(now))
	})
}

// StockPool implements pool.StockStore. What counts is read in the same transaction, so two servers that refill the same pool do not make too many.
func (s *Store) StockPool(ctx context.Context, pool int64, m apppool.NewPoolMachine) error {
	c := m.Cluster.Cluster
	return s.Write(ctx, func(t *db.Tx) error {
		var wanted, there int
		err := t.Row(`SELECT p.target_size, (SELECT count(*) FROM pool_machines m WHERE m.pool = p.id AND m.state IN ('making', 'ready'))
			FROM pools p WHERE p.id = ? AND p.mode = 'on' AND p.ended_at = 0`, pool).Scan(&wanted, &there)
		if db.IsNoRows(err) || err == nil && there >= wanted {
			return &app.Error{Code: app.EConflict, Reason: "pool_full", Message: "The pool is full."}
		}
		if err != nil {
			return db.Wrapped(err)
		}
		// The row comes first: the create may end at once what it begins.
		if err := t.Exec(`INSERT INTO pool_machines (cluster, pool, tenant, state, shape, zone, created_at, ready_at, expires_at, ended_at, for_cluster, for_node)
			VALUES (?, ?, ?, 'making', ?, ?, ?, 0, ?, 0, '', '')`, c.ID, pool, c.Tenant, m.Shape, m.Cluster.Nodes[0].Node.Zone, db.Micros(c.CreatedAt), db.Micros(m.ExpiresAt)); err != nil {
			return err
		}
		_, err = operation.Create(t, m.Cluster)
		return err
	})
}

func (s *Store) RetirePoolMachine(ctx context.Context, n appcluster.NewOperation) (did bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		moved, err := t.Count(`UPDATE pool_machines SET state = 'leaving', for_cluster = '', for_node = '' WHERE cluster = ? AND state IN ('making', 'ready', 'promised', 'failed')`,
			n.Operation.Cluster)
		if did = moved > 0; err != nil || !did {
			return err
		}
		// One that was promised is counted as what it is again until it is gone.
		if err := t.Exec(`UPDATE reservations SET ended_at = 0 WHERE cluster = ? AND pool = 1`, n.Operation.Cluster); err != nil {
			return err
		}
		standing, err := operation.CheckCurrentState(t, n)
		if err != nil || standing != nil {
			return err
		}
		_, err = operation.Submit(t, n)
		return err
	})
	return did, err
}

func (s *Store) RestPool(ctx context.Context, p apppool.Pool, n *app.Notice) error {
	return s.Write(ctx, func(t *db.Tx) error {
		changed, err := t.Count(`UPDATE pools SET due_at = ?, failures = ?, retry_at = ?, error = ?, failed_at = ?, notified = ? WHERE id = ? AND version = ?
			AND (notified = 0 OR ? = 0)`, db.Micros(p.DueAt), p.Failures, db.Micros(p.RetryAt), p.Error, db.Micros(p.ErrorAt), db.Flag(p.Notified), p.ID, p.Version, db.Flag(n != nil))
		if err != nil || changed == 0 || n == nil {
			return err
		}
		return t.Notice(*n)
	})
}

func (s *Store) EndPool(ctx context.Context, p apppool.Pool, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE pools SET ended_at = ?, due_at = 0 WHERE id = ? AND mode = 'deleted' AND ended_at = 0
			AND NOT EXISTS (SELECT 1 FROM pool_machines m WHERE m.pool = pools.id AND `+poolCounts+`)`, db.Micros(now), p.ID)
	})
}

// MachineLost takes a machine that is gone out of its pool, where the cluster is one's.
func MachineLost(t *db.Tx, cluster, message string, now time.Time) error {
	var pool int64
	err := t.Row(`UPDATE pool_machines SET state = 'failed', for_cluster = '', for_node = '' WHERE cluster = ? AND state IN ('ready', 'promised') RETURNING pool`, cluster).Scan(&pool)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	if pool == 0 { // a machine that is kept for inspection
		return ledger.EndPromise(t, now, cluster, 0)
	}
	if err := ledger.CountAgain(t, cluster); err != nil {
		return err
	}
	return ledger.WakePool(t, now, pool)
}

// MachineLeaves has a pool give a machine back that its provider takes away, and make another, where the cluster is one's. One that is
// promised to a cluster stays.
func MachineLeaves(t *db.Tx, cluster string, now time.Time) error {
	var pool int64
	err := t.Row(`UPDATE pool_machines SET expires_at = ? WHERE cluster = ? AND state IN ('creating', 'ready') RETURNING pool`,
		db.Micros(now), cluster).Scan(&pool)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	return ledger.WakePool(t, now, pool)
}

// MachineFound puts one back that was lost and runs again, before anything was done about it.
func MachineFound(t *db.Tx, cluster string, now time.Time) error {
	var pool int64
	err := t.Row(`UPDATE pool_machines SET state = 'ready' WHERE cluster = ? AND state = 'failed' AND ready_at > 0 RETURNING pool`, cluster).Scan(&pool)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	return ledger.WakePool(t, now, pool)
}
