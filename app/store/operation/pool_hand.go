package operation

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/ledger"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/policy"
)

// Machines of pools come to nodes in two steps. In the transaction that accepts a create or a resize they are promised: nobody else gets them, and what
// they take of quotas is the cluster's. In the one in which the first attempt of a node's create begins they are handed out. So a promise can be broken at
// any time, and what was accepted and never begun has nothing to give back.

// promise promises the machines that stand ready to new nodes.
func promise(t *db.Tx, now time.Time, c app.Cluster, nodes []app.NewNode, d app.Definition) error {
	if c.Pool > 0 || len(nodes) == 0 {
		return nil
	}
	// Nearly always there is no pool.
	var any bool
	if err := t.Row(`SELECT EXISTS (SELECT 1 FROM pools WHERE tenant = ? AND ended_at = 0)`, c.Tenant).Scan(&any); err != nil || !any {
		return db.Wrapped(err)
	}
	wants := app.PoolWants(c.Provider, nodes, d)
	shapes := map[string]bool{}
	var list []string
	for _, w := range wants {
		if !shapes[w.Shape] {
			shapes[w.Shape], list = true, append(list, w.Shape)
		}
	}
	stock, err := poolStock(t.Each, c.Tenant, list, now)
	if err != nil {
		return err
	}
	for i, j := range app.MatchPool(wants, stock) {
		if j < 0 {
			continue
		}
		var pool int64
		m := stock[j].Cluster
		if err := t.Row(`UPDATE pool_machines SET state = 'promised', for_cluster = ?, for_node = ? WHERE cluster = ? AND state = 'ready' RETURNING pool`,
			c.ID, wants[i].Node, m).Scan(&pool); err != nil {
			return fmt.Errorf("store: machine %s of a pool: %w", m, err)
		}
		if err := policy.GiveBack(t, now, m, 0); err != nil {
			return err
		}
		if err := wakePool(t, now, pool); err != nil {
			return err
		}
	}
	return nil
}

// endPromises puts machines back into their pools that were promised to a cluster and whose steps never began. Nothing has touched them.
func endPromises(t *db.Tx, now time.Time, cluster string) error {
	var machines []string
	var pools []int64
	if err := t.Each(func(row db.Scanner) error {
		var m string
		var p int64
		err := row.Scan(&m, &p)
		machines, pools = append(machines, m), append(pools, p)
		return err
	}, `SELECT cluster, pool FROM pool_machines WHERE for_cluster = ? AND for_cluster <> '' AND state = 'promised'`, cluster); err != nil {
		return err
	}
	for i, m := range machines {
		if err := t.Exec(`UPDATE pool_machines SET state = 'ready', for_cluster = '', for_node = '' WHERE cluster = ?`, m); err != nil {
			return err
		}
		// They stand, whatever the limits say by now.
		if err := t.Exec(`UPDATE reservations SET ended_at = 0 WHERE cluster = ? AND pool = 1`, m); err != nil {
			return err
		}
		if err := wakePool(t, now, pools[i]); err != nil {
			return err
		}
	}
	return nil
}

// takePromised hands a machine that was promised to a node out to it: the intent, what is known of the machine, and its line of the receipt go over. The step that
// was just claimed finds the machine by the intent's tag then, or, where it is gone meanwhile, makes one as ever. The key by which the pool opened it stays until the
// machine is known not to take it any more.
func (s *Store) takePromised(t *db.Tx, now time.Time, nodes *nodeSet, c *app.ClaimedStep) error {
	var from, pool, intent string
	err := t.Row(`SELECT m.cluster, p.name, i.id FROM pool_machines m JOIN pools p ON p.id = m.pool JOIN intents i ON i.cluster = m.cluster AND i.ended_at = 0
		WHERE m.for_cluster = ? AND m.for_node = ? AND m.for_cluster <> '' AND m.state = 'promised' ORDER BY i.created_at DESC LIMIT 1`, c.Cluster.ID, c.Node.Name).Scan(&from, &pool, &intent)
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
	key, err := s.Unseal(sealed, "nodes/"+from+"/"+had.Name)
	if err != nil {
		return nil // its key is lost: a new machine is made, and the promise ends with the operation
	}
	w := nodes.of[ledger.Node{Cluster: c.Cluster.ID, Name: c.Node.Name}]
	n := &w.node
	n.MachineID, n.Addresses, n.SSHUser, n.SSHPort, n.HostKey, n.OwnRoot = had.MachineID, had.Addresses, had.SSHUser, had.SSHPort, had.HostKey, had.OwnRoot
	n.Pool, n.TakenFrom = pool, from
	if err := t.Exec(`UPDATE nodes SET machine_id = ?, addresses = ?, ssh_user = ?, ssh_port = ?, host_key = ?, own_root = ?, secret = ?, pool = ?, taken_from = ?
		WHERE cluster = ? AND name = ?`, n.MachineID, db.JSON(n.Addresses), n.SSHUser, n.SSHPort, n.HostKey, db.Flag(n.OwnRoot), s.Seal(key, "nodes/"+n.Cluster+"/"+n.Name), pool, from,
		n.Cluster, n.Name); err != nil {
		return err
	}
	// Nobody was asked by the node's own intent.
	if err := t.Exec(`DELETE FROM intents WHERE id = ?`, c.Intent); err != nil {
		return err
	}
	if err := t.Exec(`UPDATE intents SET cluster = ?, node = ?, asked = asked + 1 WHERE id = ?`, n.Cluster, n.Name, intent); err != nil {
		return err
	}
	if err := moveResources(t, now, c.Cluster, *n, intent); err != nil {
		return err
	}
	if err := endHanded(t, now, c.Cluster, from, *n); err != nil {
		return err
	}
	w.intent, w.secret = intent, nil
	c.Node, c.Intent, c.HostKey, c.Unasked = *n, intent, key, false
	return nil
}

// handedMark ends the intent of a line of a pool's receipt whose machine stands on under the intent itself.
const handedMark = "/pool"

// moveResources ends the pool's lines of a machine and begins those of the node, at the same moment: nothing is counted twice.
func moveResources(t *db.Tx, now time.Time, c app.Cluster, n app.Node, intent string) error {
	if err := t.Exec(`UPDATE resources SET gone_at = ?, intent = intent || '`+handedMark+`' WHERE intent = ? AND id = ?`, db.Micros(now), intent, n.MachineID); err != nil {
		return err
	}
	// What else was ever made for the intent, and may be left, is found and given back by the node's steps.
	if err := t.Exec(`UPDATE resources SET cluster = ?, node = ? WHERE intent = ?`, c.ID, n.Name, intent); err != nil {
		return err
	}
	return t.Exec(`INSERT INTO resources (intent, kind, id, provider, tenant, cluster, node, zone, price, made_at, gone_at, owner, template, hardware, cpu)
		SELECT CAST(? AS TEXT), x.kind, x.id, x.provider, x.tenant, CAST(? AS TEXT), CAST(? AS TEXT), x.zone, x.price, CAST(? AS BIGINT), 0, CAST(? AS TEXT), CAST(? AS TEXT),
			x.hardware, x.cpu FROM resources x WHERE x.intent = ? AND x.id = ? ON CONFLICT DO NOTHING`,
		intent, c.ID, n.Name, db.Micros(now), c.Owner, c.Template, intent+handedMark, n.MachineID)
}

// endHanded ends the cluster in which the machine stood, but for the key.
func endHanded(t *db.Tx, now time.Time, c app.Cluster, from string, n app.Node) error {
	proof := fmt.Sprintf("Its machine %s was handed out to node %s of cluster %s.", n.MachineID, n.Name, c.ID)
	for _, q := range []struct {
		query string
		args  []any
	}{
		{`UPDATE pool_machines SET state = 'handed', ended_at = ? WHERE cluster = ?`, []any{db.Micros(now), from}},
		{`UPDATE nodes SET status = 'deleted', secret = ? WHERE cluster = ?`, []any{[]byte{}, from}},
		{`UPDATE clusters SET status = 'deleted', message = ?, deleted_at = ?, proven_at = ?, proof = ?, proof_asked_at = ? WHERE id = ?`,
			[]any{proof, db.Micros(now), db.Micros(now), proof, db.Micros(now), from}},
	} {
		if err := t.Exec(q.query, q.args...); err != nil {
			return err
		}
	}
	return t.Event(app.Event{At: now, Tenant: c.Tenant, Cluster: from, Kind: app.EventCluster, Status: string(app.ClusterDeleted), Message: proof})
}

// owned forgets the keys of pools by which machines cannot be opened any more.
func owned(t *db.Tx, n *nodeSet, ups []nodeUpdate) error {
	for _, u := range ups {
		if w := n.of[u.node]; u.Owned && w.node.TakenFrom != "" {
			if err := t.Exec(`UPDATE nodes SET taken_from = '' WHERE cluster = ? AND name = ?`, w.node.Cluster, w.node.Name); err != nil {
				return err
			}
			if err := forgetKey(t, &w.node); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetPool is for a node whose machine is gone: the next one is not from a pool.
func forgetPool(t *db.Tx, w *nodeWork) error {
	w.node.Pool = ""
	if err := t.Exec(`UPDATE nodes SET pool = '', taken_from = '' WHERE cluster = ? AND name = ?`, w.node.Cluster, w.node.Name); err != nil {
		return err
	}
	return forgetKey(t, &w.node)
}

func forgetKey(t *db.Tx, n *app.Node) error {
	if n.TakenFrom == "" {
		return nil
	}
	err := t.Exec(`UPDATE clusters SET ssh_key = ? WHERE id = ? AND deleted_at > 0`, []byte{}, n.TakenFrom)
	n.TakenFrom = ""
	return err
}

// HandedOut implements app.PoolStore.
func (s *Store) HandedOut(ctx context.Context, clusters []string) (map[string]string, error) {
	of := map[string]string{}
	err := db.InSets(len(clusters), func(from, size int) error {
		var args []any
		for _, c := range clusters[from : from+size] {
			args = append(args, c)
		}
		return s.Each(ctx, func(row db.Scanner) error {
			var intent, cluster string
			err := row.Scan(&intent, &cluster)
			of[intent] = cluster
			return err
		}, `SELECT i.id, i.cluster FROM pool_machines m JOIN intents i ON i.cluster = m.for_cluster AND i.node = m.for_node
			WHERE m.for_cluster IN (`+db.Repeated(`?`, size)+`) AND m.for_cluster <> '' AND m.state = 'handed'`, args...)
	})
	return of, err
}
