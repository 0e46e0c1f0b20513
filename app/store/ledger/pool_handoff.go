package ledger

import (
	"time"

	"muster/app"
	"muster/app/store/db"
)

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
		if err := EndPromise(t, now, m, pools[i]); err != nil {
			return err
		}
	}
	return nil
}

// EndPromise is endPromises for one machine; pool is 0 for one that is kept for inspection, which is kept on.
func EndPromise(t *db.Tx, now time.Time, machine string, pool int64) error {
	if pool == 0 {
		if err := t.Exec(`DELETE FROM pool_machines WHERE cluster = ?`, machine); err != nil {
			return err
		}
	} else if err := t.Exec(`UPDATE pool_machines SET state = 'ready', for_cluster = '', for_node = '' WHERE cluster = ?`, machine); err != nil {
		return err
	}
	if err := CountAgain(t, machine); err != nil {
		return err
	}
	if pool == 0 {
		return nil
	}
	return WakePool(t, now, pool)
}

// CountAgain has a machine that was promised count on its own again, whatever the limits say by now, with its owner and the end of its lease as they are now.
func CountAgain(t *db.Tx, machine string) error {
	const live = `FROM clusters c WHERE c.id = reservations.cluster AND c.deleted_at = 0`
	if err := t.Exec(`UPDATE reservations SET ended_at = 0, owner = (SELECT c.owner `+live+`), until_at = (SELECT c.expires_at `+live+`)
		WHERE cluster = ? AND pool = 1 AND EXISTS (SELECT 1 `+live+`)`, machine); err != nil {
		return err
	}
	return t.Exec(`UPDATE reservation_groups SET ended_at = 0 WHERE reservation IN (SELECT id FROM reservations WHERE cluster = ? AND pool = 1 AND ended_at = 0)`, machine)
}

// owned forgets the keys of pools by which machines cannot be opened any more.
func owned(t *db.Tx, n *NodeSet, ups []nodeUpdate) error {
	for _, u := range ups {
		if w := n.Of[u.node]; u.Owned && w.Node.TakenFrom != "" {
			if err := t.Exec(`UPDATE nodes SET taken_from = '' WHERE cluster = ? AND name = ?`, w.Node.Cluster, w.Node.Name); err != nil {
				return err
			}
			if err := forgetKey(t, &w.Node); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetPool is for a node whose machine is gone: the next one is not from a pool.
func forgetPool(t *db.Tx, w *NodeWork) error {
	w.Node.Pool = ""
	if err := t.Exec(`UPDATE nodes SET pool = '', taken_from = '' WHERE cluster = ? AND name = ?`, w.Node.Cluster, w.Node.Name); err != nil {
		return err
	}
	return forgetKey(t, &w.Node)
}

func forgetKey(t *db.Tx, n *app.Node) error {
	if n.TakenFrom == "" {
		return nil
	}
	err := t.Exec(`UPDATE clusters SET ssh_key = ? WHERE id = ? AND deleted_at > 0`, []byte{}, n.TakenFrom)
	n.TakenFrom = ""
	return err
}
