package cluster

import (
	"context"
	"encoding/json"

	"muster/app"
	"muster/app/store/db"
)

// NodeColumns are those of a node, as ScanNode scans them.
const NodeColumns = `cluster, name, hostname, hardware, image, zone, services, status, machine_id, addresses, ssh_user, ssh_port,
	host_key, own_root, removal, pool, taken_from, replaces_hardware, lost_at, leaves_at, locked`

// ScanNode reads a row of NodeColumns; more are further columns behind.
func ScanNode(row db.Scanner, more ...any) (app.Node, error) {
	var n app.Node
	var services, addresses []byte
	var leaving, lost, leaves int64
	var locked string
	err := row.Scan(append([]any{&n.Cluster, &n.Name, &n.Hostname, &n.Hardware, &n.Image, &n.Zone, &services, &n.Status, &n.MachineID,
		&addresses, &n.SSHUser, &n.SSHPort, &n.HostKey, &n.OwnRoot, &leaving, &n.Pool, &n.TakenFrom, &n.InsteadOf, &lost, &leaves, &locked}, more...)...)
	if err != nil {
		return n, err
	}
	n.Leaving, n.LostAt, n.LeavesAt = leaving != 0, db.FromMicros(lost), db.FromMicros(leaves)
	if n.Lock, err = app.KeptLock(locked); err != nil {
		return n, err
	}
	if err := json.Unmarshal(services, &n.Services); err != nil {
		return n, err
	}
	return n, json.Unmarshal(addresses, &n.Addresses)
}

func (s *Store) Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error) {
	return nodes(ctx, s.Reads, tenant, cluster)
}

func nodes(ctx context.Context, from db.Reader, tenant, cluster string) ([]app.Node, error) {
	list := []app.Node{}
	err := db.Each(ctx, from, func(row db.Scanner) error {
		n, err := ScanNode(row)
		list = append(list, n)
		return err
	}, `SELECT `+NodeColumns+` FROM nodes WHERE tenant = ? AND cluster = ? AND removal < 2 ORDER BY number`, tenant, cluster)
	return list, err
}
