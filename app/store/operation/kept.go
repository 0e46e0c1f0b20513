package operation

import (
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/app/quarantine"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/policy"
	"muster/app/store/providervalue"
)

// A failed machine that is kept goes over, in one transaction, from its node to the node of a cluster of its own: its intent, what is known of it and its line
// of the receipt. So it is always in exactly one place, at whatever point a server is killed, and the operation that would have deleted it finds a
// node without a machine.

// KeepMachine moves the machine of a node to the cluster in which it is kept. Status is what the node is without it. EConflict, reason kept_full, where the
// tenant keeps as many as it may, and reason kept_machine_gone, where the node has no machine any more; EQuota, where a quota has no room for it.
func KeepMachine(t *db.Tx, now time.Time, k appcluster.KeptMachine, status app.NodeStatus) error {
	c := k.Cluster
	from, node := c.KeptFrom, c.KeptNode
	var sealed []byte
	had, err := clusterdb.ScanNode(t.Row(`SELECT `+clusterdb.NodeColumns+`, secret FROM nodes WHERE cluster = ? AND name = ?`, from, node), &sealed)
	if db.IsNoRows(err) || err == nil && (had.MachineID == "" || had.Status == app.NodePlanned || had.Status == app.NodeDeleted) {
		return &app.Error{Code: app.EConflict, Reason: quarantine.ReasonGone, Message: fmt.Sprintf("%s has no machine to keep any more.", node)}
	}
	if err != nil {
		return db.Wrapped(err)
	}
	var kept int
	if err := t.Row(keptCount, c.Tenant).Scan(&kept); err != nil {
		return db.Wrapped(err)
	}
	if kept >= quarantine.MostKept {
		return &app.Error{Code: app.EConflict, Reason: quarantine.ReasonFull, Message: fmt.Sprintf("Your tenant already keeps %d failed machines, the maximum.", kept),
			Hint: "Delete some of them: muster cluster kept. Or continue without keeping: --keep-failed off."}
	}
	if k.Frees {
		if err := t.Exec(`UPDATE reservations SET nodes = nodes - ?, cpu = cpu - ?, cost = cost - ? WHERE cluster = ? AND ended_at = 0 AND nodes >= ?`,
			k.Reservation.Nodes, k.Reservation.CPU, k.Reservation.CostPerHour, from, k.Reservation.Nodes); err != nil {
			return err
		}
	}
	if k.Reservation.Groups, err = policy.GroupsOf(t, c.Tenant, from); err != nil {
		return err
	}
	if _, err := Create(t, k.NewCluster); err != nil {
		return err
	}
	if err := providervalue.Copy(t, from, c.ID); err != nil {
		return err
	}
	// The machine of a locked node stays locked.
	if err := t.Exec(`UPDATE clusters SET kept_from = ?, kept_node = ?, kept_reason = ?,
		locked = coalesce((SELECT n.locked FROM nodes n WHERE n.cluster = ? AND n.name = ?), '') WHERE id = ?`,
		from, node, c.KeptReason, from, node, c.ID); err != nil {
		return err
	}
	if err := t.Exec(`INSERT INTO cluster_shares (cluster, person, in_group, tenant, access, shared_by, shared_at, until)
		SELECT CAST(? AS TEXT), person, in_group, tenant, access, shared_by, shared_at, until FROM cluster_shares WHERE cluster = ?`, c.ID, from); err != nil {
		return err
	}
	if err := moveKept(t, now, k, had, resealed(t, sealed, from+"/"+node, c.ID+"/"+k.Nodes[0].Node.Name), status); err != nil {
		return err
	}
	return announceKept(t, now, k)
}

// resealed returns the host key of a machine sealed for the node that it is from now on; none where it can't be read.
func resealed(t *db.Tx, sealed []byte, was, is string) []byte {
	key, err := t.Keys.Unseal(sealed, "nodes/"+was)
	if err != nil || len(key) == 0 {
		return []byte{}
	}
	return t.Keys.Seal(key, "nodes/"+is)
}

// moveKept moves the machine itself. The node that it was gets a key and an intent of its own for the next machine: whatever carries the old intent belongs to the
// kept one.
func moveKept(t *db.Tx, now time.Time, k appcluster.KeptMachine, had app.Node, secret []byte, status app.NodeStatus) error {
	c, from, node := k.Cluster, k.Cluster.KeptFrom, k.Cluster.KeptNode
	is, nextIntent := k.Nodes[0].Node, k.Nodes[0].Intent
	ended := "/" + c.ID + fleet.KeptSuffix // a machine that is used again may be kept once more
	for _, q := range []struct {
		query string
		args  []any
	}{
		{`UPDATE nodes SET status = ?, machine_id = ?, addresses = ?, ssh_user = ?, ssh_port = ?, host_key = ?, own_root = ?, secret = ? WHERE cluster = ? AND name = ?`,
			[]any{string(had.Status), had.MachineID, db.JSON(had.Addresses), had.SSHUser, had.SSHPort, had.HostKey, db.Flag(had.OwnRoot), secret, c.ID, is.Name}},
		{`UPDATE resources SET deleted_at = CASE WHEN deleted_at > 0 THEN deleted_at ELSE ? END, intent = intent || ?
			WHERE intent IN (SELECT id FROM intents WHERE cluster = ? AND node = ? AND ended_at = 0)`, []any{db.Micros(now), ended, from, node}},
		{`INSERT INTO resources (intent, kind, id, provider, tenant, cluster, node, zone, price, created_at, deleted_at, owner, template, hardware, cpu)
			SELECT i.id, x.kind, x.id, x.provider, x.tenant, CAST(? AS TEXT), CAST(? AS TEXT), x.zone, x.price, CAST(? AS BIGINT), 0, CAST(? AS TEXT), CAST(? AS TEXT),
				x.hardware, x.cpu FROM intents i JOIN resources x ON x.intent = i.id || ? WHERE i.cluster = ? AND i.node = ? AND i.ended_at = 0
				AND x.deleted_at = ? ON CONFLICT DO NOTHING`, []any{c.ID, is.Name, db.Micros(now), c.Owner, c.Template, ended, from, node, db.Micros(now)}},
		{`DELETE FROM intents WHERE cluster = ?`, []any{c.ID}}, // that of a machine that is not asked for
		{`UPDATE intents SET cluster = ?, node = ? WHERE cluster = ? AND node = ? AND ended_at = 0`, []any{c.ID, is.Name, from, node}},
		{`INSERT INTO intents (id, tenant, cluster, node, provider, machine_id, created_at, ended_at, create_attempts) VALUES (?, ?, ?, ?, ?, '', ?, 0, ?)`,
			[]any{nextIntent, c.Tenant, from, node, c.Provider, db.Micros(now), db.Flag(status == app.NodeCreated)}}, // whose confirm may ask for it
		{`UPDATE nodes SET status = ?, machine_id = '', addresses = '{}', host_key = '', lost_at = 0, leaves_at = 0, pool = '', taken_from = '', secret = ?
			WHERE cluster = ? AND name = ?`, []any{string(status), t.Keys.Seal(k.HostKey, "nodes/"+from+"/"+node), from, node}},
	} {
		if err := t.Exec(q.query, q.args...); err != nil {
			return err
		}
	}
	return nil
}

// announceKept tells of it: in the feeds of both clusters, in the audit log and to the owner.
func announceKept(t *db.Tx, now time.Time, k appcluster.KeptMachine) error {
	c := k.Cluster
	length := humanize.Duration(c.ExpiresAt.Sub(now))
	var name string
	var status app.ClusterStatus
	if err := t.Row(`SELECT name, status FROM clusters WHERE id = ?`, c.KeptFrom).Scan(&name, &status); err != nil {
		return db.Wrapped(err)
	}
	text := fmt.Sprintf("The machine of %s is kept for inspection for %s as %s (%s).", c.KeptNode, length, c.Name, c.KeptReason)
	if err := t.Event(app.Event{At: now, Tenant: c.Tenant, Cluster: c.KeptFrom, Kind: app.EventCluster, Status: string(status), Message: text}); err != nil {
		return err
	}
	if err := t.Audit(now, c.Tenant, k.Operation.Operation.Requester, "cluster.keep", c.ID, c.KeptNode+" of "+c.KeptFrom+": "+c.KeptReason); err != nil {
		return err
	}
	return t.Notice(app.Notice{At: now, Tenant: c.Tenant, Kind: app.NoticeFailed, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
		Title: fmt.Sprintf("Machine %s of %s is kept for inspection.", c.KeptNode, name),
		Text:  fmt.Sprintf("%s. Sign in with: muster cluster ssh %s. It's deleted in %s.", c.KeptReason, c.Name, length)})
}

// keepMachines keeps the failed machines of an operation that was just accepted.
func keepMachines(t *db.Tx, n appcluster.NewOperation) error {
	for _, k := range n.Keep {
		if err := KeepMachine(t, n.Operation.CreatedAt, k, app.NodePlanned); err != nil {
			return err
		}
	}
	return nil
}

// endKept ends the leases of the machines that are kept of a cluster that is to be deleted, so that they are deleted too.
func endKept(t *db.Tx, op app.Operation) error {
	if op.Kind != app.OperationDelete {
		return nil
	}
	return t.Exec(`UPDATE clusters SET expires_at = ?, lease_reminder_at = 0 WHERE kept_from = ? AND kept_from <> '' AND deleted_at = 0 AND expires_at > ?`,
		db.Micros(op.CreatedAt), op.Cluster, db.Micros(op.CreatedAt))
}

// keptCount counts what a tenant keeps.
const keptCount = `SELECT count(*) FROM clusters WHERE tenant = ? AND kept_from <> '' AND deleted_at = 0`
