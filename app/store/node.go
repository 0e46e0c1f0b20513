package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
)

const nodeColumns = `cluster, name, hostname, hardware, image, services, status, machine_id, addresses, ssh_user, ssh_port,
	host_key, own_root`

func scanNode(row scanner, more ...any) (app.Node, error) {
	var n app.Node
	var services, addresses []byte
	err := row.Scan(append([]any{&n.Cluster, &n.Name, &n.Hostname, &n.Hardware, &n.Image, &services, &n.Status, &n.MachineID,
		&addresses, &n.SSHUser, &n.SSHPort, &n.HostKey, &n.OwnRoot}, more...)...)
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(services, &n.Services); err != nil {
		return n, err
	}
	return n, json.Unmarshal(addresses, &n.Addresses)
}

// Nodes implements app.ClusterStore.
func (s *Store) Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error) {
	return nodes(ctx, s.reads, tenant, cluster)
}

func nodes(ctx context.Context, from reader, tenant, cluster string) ([]app.Node, error) {
	list := []app.Node{}
	err := each(ctx, from, func(row scanner) error {
		n, err := scanNode(row)
		list = append(list, n)
		return err
	}, `SELECT `+nodeColumns+` FROM nodes WHERE tenant = ? AND cluster = ? ORDER BY number`, tenant, cluster)
	return list, err
}

// nodeOf reads the node of a step inside a transaction, with its live intent and sealed host key.
func (t *tx) nodeOf(cluster, name string) (n app.Node, intent string, sealed []byte, err error) {
	n, err = scanNode(t.row(`SELECT `+nodeColumns+`, secret FROM nodes WHERE cluster = ? AND name = ?`, cluster, name), &sealed)
	if err != nil {
		return n, "", nil, fmt.Errorf("store: node %s of %s: %w", name, cluster, err)
	}
	err = t.row(`SELECT id FROM intents WHERE cluster = ? AND node = ? ORDER BY ended_at, created_at DESC LIMIT 1`, cluster, name).
		Scan(&intent)
	if isNoRows(err) {
		err = nil
	}
	return n, intent, sealed, err
}

// updateNode applies what a step found out.
func (t *tx) updateNode(at time.Time, tenant, cluster, name string, u app.NodeUpdate) error {
	n, intent, _, err := t.nodeOf(cluster, name)
	if err != nil {
		return err
	}
	if m := u.Machine; m != nil {
		n.MachineID, n.OwnRoot = m.ID, m.OwnRoot
		if len(m.Addresses) > 0 {
			n.Addresses = m.Addresses
		}
		if m.SSHUser != "" {
			n.SSHUser = m.SSHUser
		}
		if n.SSHPort = m.SSHPort; n.SSHPort == 0 {
			n.SSHPort = 22
		}
		if m.HostKey != "" {
			n.HostKey = m.HostKey
		}
		if err := t.exec(`UPDATE intents SET machine_id = ? WHERE id = ?`, m.ID, intent); err != nil {
			return err
		}
	}
	if u.HostKey != "" {
		n.HostKey = u.HostKey
	}
	if u.Status != "" {
		n.Status = u.Status
	}
	if u.Gone {
		if err := t.exec(`UPDATE intents SET ended_at = ? WHERE cluster = ? AND node = ? AND ended_at = 0`,
			micros(at), cluster, name); err != nil {
			return err
		}
		if err := t.nodeGone(at, cluster, name); err != nil {
			return err
		}
		if err := t.exec(`UPDATE nodes SET secret = x'' WHERE cluster = ? AND name = ?`, cluster, name); err != nil {
			return err
		}
	}
	err = t.exec(`UPDATE nodes SET status = ?, machine_id = ?, addresses = ?, ssh_user = ?, ssh_port = ?, host_key = ?, own_root = ?
		WHERE cluster = ? AND name = ?`,
		n.Status, n.MachineID, jsonText(n.Addresses), n.SSHUser, n.SSHPort, n.HostKey, n.OwnRoot, cluster, name)
	if err != nil {
		return err
	}
	return t.event(app.Event{At: at, Tenant: tenant, Cluster: cluster, Kind: app.EventNode, Node: name, Status: string(n.Status)})
}
