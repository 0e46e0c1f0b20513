package execution

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/store/cluster"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
	"muster/app/store/operation"
)

// promisedTo returns the clusters of create steps to whose nodes machines are promised.
func promisedTo(t *db.Tx, creates []*execution.ClaimedStep) (map[string]bool, error) {
	var ids []string
	for _, c := range creates {
		ids = append(ids, c.Cluster.ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	promised := map[string]bool{}
	err := t.EachKeyed(func(row db.Scanner) error {
		var id string
		err := row.Scan(&id)
		promised[id] = true
		return err
	}, len(ids), `WITH f(c) AS (VALUES `, `(?)`, `) SELECT f.c FROM f WHERE EXISTS (SELECT 1 FROM pool_machines m
		WHERE m.for_cluster = f.c AND m.for_cluster <> '' AND m.state = 'promised')`, func(args []any, i int) []any { return append(args, ids[i]) })
	return promised, err
}

// takeReserved hands a machine that was promised to a node out to it: the intent, what is known of the machine, and its line of the receipt go over. The step
// that was just claimed finds the machine by the intent's tag then, or, where it is gone meanwhile, makes one as ever. The key by which the pool opened it
// stays until the machine is known not to take it any more. A kept machine is handed out in the same way.
func takeReserved(t *db.Tx, now time.Time, nodes *ledgerdb.NodeSet, c *execution.ClaimedStep) error {
	var from, pool, intent string
	err := t.Row(`SELECT m.cluster, coalesce(p.name, ''), i.id FROM pool_machines m JOIN clusters c ON c.id = m.cluster LEFT JOIN pools p ON p.id = m.pool
			JOIN intents i ON i.cluster = m.cluster AND i.ended_at = 0
		WHERE m.for_cluster = ? AND m.for_node = ? AND m.for_cluster <> '' AND m.state = 'promised' AND (m.pool > 0 OR `+operation.KeptUsable+`)
		ORDER BY i.created_at DESC LIMIT 1`, c.Cluster.ID, c.Node.Name).Scan(&from, &pool, &intent)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	var sealed []byte
	had, err := cluster.ScanNode(t.Row(`SELECT `+cluster.NodeColumns+`, secret FROM nodes WHERE cluster = ? AND name = 'n1'`, from), &sealed)
	if err != nil {
		return fmt.Errorf("store: machine %s of a pool: %w", from, err)
	}
	key, err := t.Keys.Unseal(sealed, "nodes/"+from+"/"+had.Name)
	if err != nil {
		return nil //nolint:nilerr // its key is lost: a new machine is made, and the promise ends with the operation
	}
	w := nodes.Of[ledger.Node{Cluster: c.Cluster.ID, Name: c.Node.Name}]
	n := &w.Node
	n.MachineID, n.Addresses, n.SSHUser, n.SSHPort, n.HostKey, n.OwnRoot = had.MachineID, had.Addresses, had.SSHUser, had.SSHPort, had.HostKey, had.OwnRoot
	n.Pool, n.TakenFrom = pool, from
	if err := t.Exec(`UPDATE nodes SET machine_id = ?, addresses = ?, ssh_user = ?, ssh_port = ?, host_key = ?, own_root = ?, secret = ?, pool = ?, taken_from = ?
		WHERE cluster = ? AND name = ?`, n.MachineID, db.JSON(n.Addresses), n.SSHUser, n.SSHPort, n.HostKey, db.Flag(n.OwnRoot), t.Keys.Seal(key, "nodes/"+n.Cluster+"/"+n.Name), pool, from,
		n.Cluster, n.Name); err != nil {
		return err
	}
	// No one was asked by the node's own intent.
	if err := t.Exec(`DELETE FROM intents WHERE id = ?`, c.Intent); err != nil {
		return err
	}
	if err := t.Exec(`UPDATE intents SET cluster = ?, node = ?, create_attempts = create_attempts + 1 WHERE id = ?`, n.Cluster, n.Name, intent); err != nil {
		return err
	}
	if err := moveResources(t, now, c.Cluster, *n, intent); err != nil {
		return err
	}
	if err := endHandoff(t, now, c.Cluster, from, *n); err != nil {
		return err
	}
	w.Intent, w.Secret = intent, nil
	c.Node, c.Intent, c.HostKey, c.Unasked = *n, intent, key, false
	return nil
}

// moveResources ends the lines that a machine had where it was and begins those of the node, at the same moment: nothing is counted twice. Ended lines
// have an intent of their own, since the machine is on under the intent itself.
func moveResources(t *db.Tx, now time.Time, c app.Cluster, n app.Node, intent string) error {
	ended := intent + "/" + n.TakenFrom
	if err := t.Exec(`UPDATE resources SET deleted_at = ?, intent = ? WHERE intent = ? AND id = ?`, db.Micros(now), ended, intent, n.MachineID); err != nil {
		return err
	}
	// What else was ever made for the intent, and may be left, is found and given back by the node's steps.
	if err := t.Exec(`UPDATE resources SET cluster = ?, node = ? WHERE intent = ?`, c.ID, n.Name, intent); err != nil {
		return err
	}
	return t.Exec(`INSERT INTO resources (intent, kind, id, provider, tenant, cluster, node, zone, price, created_at, deleted_at, owner, template, hardware, cpu)
		SELECT CAST(? AS TEXT), x.kind, x.id, x.provider, x.tenant, CAST(? AS TEXT), CAST(? AS TEXT), x.zone, x.price, CAST(? AS BIGINT), 0, CAST(? AS TEXT), CAST(? AS TEXT),
			x.hardware, x.cpu FROM resources x WHERE x.intent = ? AND x.id = ? ON CONFLICT DO NOTHING`,
		intent, c.ID, n.Name, db.Micros(now), c.Owner, c.Template, ended, n.MachineID)
}

// endHandoff ends the cluster in which the machine was, but for the key. A kept machine had a firewall of that cluster's, which is removed when it's proven
// that nothing else is left; one of a pool had nothing but itself.
func endHandoff(t *db.Tx, now time.Time, c app.Cluster, from string, n app.Node) error {
	text := fmt.Sprintf("Machine %s was assigned to node %s of cluster %s.", n.MachineID, n.Name, c.ID)
	proof, proven := text, now
	if n.Pool == "" {
		proof, proven = "", time.Time{}
	}
	for _, q := range []struct {
		query string
		args  []any
	}{
		{`UPDATE pool_machines SET state = 'handed', ended_at = ? WHERE cluster = ?`, []any{db.Micros(now), from}},
		// Nothing that is left of its cluster finds the machine.
		{`UPDATE nodes SET status = 'deleted', machine_id = '', addresses = '{}', secret = ? WHERE cluster = ?`, []any{[]byte{}, from}},
		{`UPDATE clusters SET status = 'deleted', message = ?, deleted_at = ?, deletion_verified_at = ?, deletion_proof = ?, proof_requested_at = ? WHERE id = ?`,
			[]any{text, db.Micros(now), db.Micros(proven), proof, db.Micros(proven), from}},
	} {
		if err := t.Exec(q.query, q.args...); err != nil {
			return err
		}
	}
	return t.Event(app.Event{At: now, Tenant: c.Tenant, Cluster: from, Kind: app.EventCluster, Status: string(app.ClusterDeleted), Message: text})
}
