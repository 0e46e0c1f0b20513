package operation

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
	"muster/app/store/policy"
	"muster/app/store/providervalue"
)

// Machines of pools come to nodes in two steps. In the transaction that accepts a create or a resize they are promised: no one else gets them, and what
// they take of quotas is the cluster's. In the one in which the first attempt of a node's create begins they are handed out. So a promise can be broken at
// any time, and what was accepted and never begun has nothing to give back.

// promise promises the machines that stand ready to new nodes.
func promise(t *db.Tx, now time.Time, c app.Cluster, nodes []app.NewNode, d cluster.Definition) error {
	if c.Pool > 0 || c.KeptFrom != "" || len(nodes) == 0 {
		return nil
	}
	// Nearly always there is no pool.
	var any bool
	if err := t.Row(`SELECT EXISTS (SELECT 1 FROM pools WHERE tenant = ? AND ended_at = 0)`, c.Tenant).Scan(&any); err != nil || !any {
		return db.Wrapped(err)
	}
	// Machines of pools are in the provider's account, as it is set up there.
	if has, err := providervalue.Has(t, c.ID); err != nil || has {
		return err
	}
	wants := cluster.PoolWants(c.Provider, nodes, d)
	shapes := map[string]bool{}
	var list []string
	for _, w := range wants {
		if !shapes[w.Shape] {
			shapes[w.Shape], list = true, append(list, w.Shape)
		}
	}
	stock, err := PoolStock(t.Each, c.Tenant, list, now)
	if err != nil {
		return err
	}
	for i, j := range cluster.MatchPool(wants, stock) {
		if j < 0 {
			continue
		}
		var pool int64
		m := stock[j].Cluster
		if err := t.Row(`UPDATE pool_machines SET state = 'promised', for_cluster = ?, for_node = ? WHERE cluster = ? AND state = 'ready' RETURNING pool`,
			c.ID, wants[i].Node, m).Scan(&pool); err != nil {
			return fmt.Errorf("store: machine %s of a pool: %w", m, err)
		}
		if err := policy.Release(t, now, m, 0); err != nil {
			return err
		}
		if err := ledgerdb.WakePool(t, now, pool); err != nil {
			return err
		}
	}
	return nil
}
