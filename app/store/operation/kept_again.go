package operation

import (
	"fmt"

	"muster/app"
	"muster/app/quarantine"
	"muster/app/store/db"
	"muster/app/store/policy"
)

// promiseKept promises a failed machine that is kept to a new node of the cluster that it was in, as machines of pools are promised: with no pool. What it takes
// of quotas is the cluster's from now on. EConflict, reason kept_machine_gone, where it's being deleted or is promised already.
func promiseKept(t *db.Tx, op app.Operation, kept, node string) error {
	e := &app.Error{Code: app.EConflict, Field: "kept_machine", Reason: quarantine.ReasonGone, Hint: "See the kept machines: muster cluster kept."}
	var usable bool
	err := t.Row(`SELECT EXISTS (SELECT 1 FROM clusters c WHERE c.id = ? AND c.tenant = ? AND c.kept_from = ? AND `+KeptUsable+`)`,
		kept, op.Tenant, op.Cluster).Scan(&usable)
	if err != nil {
		return db.Wrapped(err)
	}
	if !usable {
		e.Message = fmt.Sprintf("Kept machine %s is being deleted, or is busy.", kept)
		return e
	}
	n, err := t.Count(`INSERT INTO pool_machines (cluster, pool, tenant, state, shape, zone, created_at, ready_at, expires_at, ended_at, for_cluster, for_node)
		VALUES (?, 0, ?, 'promised', '', '', ?, 0, 0, 0, ?, ?) ON CONFLICT DO NOTHING`, kept, op.Tenant, db.Micros(op.CreatedAt), op.Cluster, node)
	if err != nil {
		return err
	}
	if n == 0 {
		e.Message = fmt.Sprintf("Kept machine %s is being used again already.", kept)
		return e
	}
	if err := policy.Release(t, op.CreatedAt, kept, 0); err != nil {
		return err
	}
	return t.Audit(op.CreatedAt, op.Tenant, op.Requester, "cluster.use_kept", kept, "as "+node+" of "+op.Cluster)
}

// KeptUsable is so of the cluster c of a kept machine that nothing is being done to, and that nothing failed for: a deletion that failed is tried again.
const KeptUsable = `c.deleted_at = 0 AND c.status = 'active'
	AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.cluster = c.id AND o.status IN ('waiting', 'running', 'paused', 'cancelling'))`
