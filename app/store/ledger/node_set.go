package ledger

import (
	"encoding/json"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/feed"
	"muster/app/store/receipt"
)

// NodeSet are nodes that a transaction works on.
type NodeSet struct {
	now     time.Time
	Of      map[ledger.Node]*NodeWork
	updates []nodeUpdate
}

// NodeWork is a node with what belongs to it. Intent is the live one or else the latest, and Attempts how often a create may have asked the
// provider by it; Secret is the sealed host key. Those are loaded for steps that ask the provider only.
type NodeWork struct {
	Node     app.Node
	Intent   string
	Live     bool // the intent has not ended
	Attempts int
	Secret   []byte
}

// nodeUpdate is what a step found out about its node. Stays tells that its operation leaves a cluster, in which a node whose
// machine was given back is made again, or was leaving.
type nodeUpdate struct {
	node   ledger.Node
	tenant string
	stays  bool
	execution.NodeUpdate
}

// NewNodeSet returns an empty set of nodes that change at a moment.
func NewNodeSet(now time.Time) *NodeSet { return &NodeSet{now: now, Of: map[ledger.Node]*NodeWork{}} }

// Update notes what a step found out, to be written by SaveNodes.
func (n *NodeSet) Update(k ledger.Node, tenant string, stays bool, u execution.NodeUpdate) {
	n.updates = append(n.updates, nodeUpdate{k, tenant, stays, u})
}

// LoadNodes loads the nodes of claimed steps and of updates, and applies the updates.
func LoadNodes(t *db.Tx, n *NodeSet, set *ledger.Set, claimed []*ledger.Step) error {
	var all, machines []ledger.Node
	asked := map[ledger.Node]bool{}
	add := func(k ledger.Node, machine bool) {
		if n.Of[k] == nil {
			n.Of[k] = &NodeWork{}
			all = append(all, k)
		}
		if machine && !asked[k] {
			asked[k] = true
			machines = append(machines, k)
		}
	}
	for _, u := range n.updates {
		add(u.node, u.Machine != nil)
	}
	for _, st := range claimed {
		machine := st.Action.AsksProvider()
		add(ledger.Node{Cluster: set.Operation(st.Operation).Cluster, Name: st.Node}, machine)
	}
	row := NewNodeRow()
	found := map[ledger.Node]bool{}
	err := t.EachKeyed(func(r db.Scanner) error {
		node, err := row.Scan(r)
		k := ledger.Node{Cluster: node.Cluster, Name: node.Name}
		if w := n.Of[k]; w != nil {
			w.Node, found[k] = node, true
		}
		return err
	}, len(all), `WITH f(c, n) AS (VALUES `, `(?, ?)`, `) SELECT `+cluster.NodeColumns+` FROM f CROSS JOIN nodes WHERE cluster = f.c AND name = f.n`, addNode(all))
	if err != nil {
		return err
	}
	for _, k := range all {
		if !found[k] {
			delete(n.Of, k)
		}
	}
	if err := loadIntents(t, n, machines); err != nil {
		return err
	}
	for i := range n.updates {
		if w := n.Of[n.updates[i].node]; w != nil {
			w.apply(n.updates[i])
		}
	}
	return nil
}

func loadIntents(t *db.Tx, n *NodeSet, nodes []ledger.Node) error {
	var cluster, name, id string
	var secret []byte
	var ended, attempts int64
	// The one that counts comes last, so that it stays.
	return t.EachKeyed(func(r db.Scanner) error {
		err := r.Scan(&cluster, &name, &id, &ended, &attempts, &secret)
		if w := n.Of[ledger.Node{Cluster: cluster, Name: name}]; w != nil {
			w.Intent, w.Live, w.Attempts, w.Secret = id, ended == 0, int(attempts), secret
		}
		return err
	}, len(nodes), `WITH f(c, n) AS (VALUES `, `(?, ?)`, `) SELECT d.cluster, d.name, i.id, i.ended_at, i.create_attempts, d.secret
		FROM f CROSS JOIN nodes d CROSS JOIN intents i WHERE d.cluster = f.c AND d.name = f.n AND i.cluster = f.c AND i.node = f.n ORDER BY i.ended_at DESC, i.created_at, i.id DESC`, addNode(nodes))
}

func (w *NodeWork) apply(u nodeUpdate) {
	n := &w.Node
	if m := u.Machine; m != nil {
		if m.ID != n.MachineID {
			n.Addresses = map[string]string{} // those of another machine
			if n.MachineID != "" {
				n.HostKey = ""
			}
		}
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
	}
	if u.HostKey != "" {
		n.HostKey = u.HostKey
	}
	if u.Status != "" {
		n.Status = u.Status
	}
	if u.Machine != nil || u.Deleted {
		n.LostAt = time.Time{} // it has a machine that runs, or none that could be lost
	}
	if u.Machine != nil && u.Status == app.NodeCreated || u.Deleted {
		n.LeavesAt = time.Time{} // what was announced is of the machine before
	}
	if u.Deleted && u.stays && !n.Leaving {
		// The next machine says which key it has: the one that is kept for it, where the provider takes keys, or one of its own.
		n.Status, n.MachineID, n.Addresses, n.HostKey = app.NodePlanned, "", map[string]string{}, ""
	}
}

// SaveNodes writes what steps found out about their nodes, and tells of it. The nodes have been loaded.
func SaveNodes(t *db.Tx, n *NodeSet) error {
	var ups []nodeUpdate
	for _, u := range n.updates {
		if n.Of[u.node] != nil {
			ups = append(ups, u)
		}
	}
	err := t.ExecKeyed(len(ups), `WITH v(c, n, st, mi, ad, us, po, hk, ow, lo, le) AS (VALUES `, `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, `)
		UPDATE nodes SET status = v.st, machine_id = v.mi, addresses = v.ad, ssh_user = v.us, ssh_port = v.po, host_key = v.hk, own_root = v.ow, lost_at = v.lo,
			leaves_at = v.le
		FROM v WHERE nodes.cluster = v.c AND nodes.name = v.n`, func(args []any, i int) []any {
		w, own := n.Of[ups[i].node].Node, 0
		if w.OwnRoot {
			own = 1
		}
		return append(args, w.Cluster, w.Name, string(w.Status), w.MachineID, db.JSON(w.Addresses), w.SSHUser, w.SSHPort, w.HostKey, own,
			db.Micros(w.LostAt), db.Micros(w.LeavesAt))
	})
	if err != nil {
		return err
	}
	if err := owned(t, n, ups); err != nil {
		return err
	}
	var made []nodeUpdate
	of := map[string]*feed.EventBatch{}
	var news []*feed.EventBatch
	for _, u := range ups {
		if u.Machine != nil && n.Of[u.node].Intent != "" {
			made = append(made, u)
		}
		m := of[u.node.Cluster]
		if m == nil {
			m = &feed.EventBatch{Event: app.Event{At: n.now, Tenant: u.tenant, Cluster: u.node.Cluster, Kind: app.EventNode}}
			of[u.node.Cluster], news = m, append(news, m)
		}
		m.Changes = append(m.Changes, feed.EventChange{"", u.node.Name, string(n.Of[u.node].Node.Status)})
	}
	if err := t.ExecKeyed(len(made), `WITH v(i, m) AS (VALUES `, `(?, ?)`, `) UPDATE intents SET machine_id = v.m FROM v WHERE intents.id = v.i`,
		func(args []any, i int) []any { return append(args, n.Of[made[i].node].Intent, made[i].Machine.ID) }); err != nil {
		return err
	}
	return feed.WriteBatches(t, news)
}

// EndGone ends what nodes had whose machines are proven to be gone. It comes before the next step of such a node is handed out,
// which may be to make the machine again, under an intent of its own.
func EndGone(t *db.Tx, n *NodeSet) error {
	for _, u := range n.updates {
		if n.Of[u.node] == nil || !u.Deleted {
			continue
		}
		if err := endNode(t, n.now, u.node, u.stays); err != nil {
			return err
		}
		w := n.Of[u.node]
		w.Live = false
		if w.Node.Pool != "" {
			if err := forgetPool(t, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// endNode ends what a node had: its machine is proven to be gone. The host key stays where the node may be made again.
func endNode(t *db.Tx, now time.Time, n ledger.Node, stays bool) error {
	if err := t.Exec(`UPDATE intents SET ended_at = ? WHERE cluster = ? AND node = ? AND ended_at = 0`, db.Micros(now), n.Cluster, n.Name); err != nil {
		return err
	}
	if err := receipt.NodeGone(t, now, n.Cluster, n.Name); err != nil {
		return err
	}
	if stays {
		return nil
	}
	return t.Exec(`UPDATE nodes SET secret = ? WHERE cluster = ? AND name = ?`, []byte{}, n.Cluster, n.Name)
}

// NodeRow is a row of nodeColumns on its way. It is used again for each row. What carries steps out needn't know of locks, so they aren't read.
type NodeRow struct {
	cluster, name, hostname, hardware, image, zone, services, status, machine, addresses, user, key, pool, taken, instead, locked string
	port, own, leaving, lost, leaves                                                                                              int64
	dest                                                                                                                          []any
	last                                                                                                                          map[string][]string
}

// NewNodeRow returns where to scan a node.
func NewNodeRow() *NodeRow {
	r := &NodeRow{last: map[string][]string{}}
	r.dest = []any{&r.cluster, &r.name, &r.hostname, &r.hardware, &r.image, &r.zone, &r.services, &r.status, &r.machine, &r.addresses, &r.user, &r.port,
		&r.key, &r.own, &r.leaving, &r.pool, &r.taken, &r.instead, &r.lost, &r.leaves, &r.locked}
	return r
}

func (r *NodeRow) Scan(row db.Scanner) (app.Node, error) {
	if err := row.Scan(r.dest...); err != nil {
		return app.Node{}, err
	}
	n := app.Node{Cluster: r.cluster, Name: r.name, Hostname: r.hostname, Hardware: r.hardware, Image: r.image, Zone: r.zone, Status: app.NodeStatus(r.status),
		MachineID: r.machine, SSHUser: r.user, SSHPort: int(r.port), HostKey: r.key, OwnRoot: r.own != 0, Leaving: r.leaving != 0,
		Pool: r.pool, TakenFrom: r.taken, InsteadOf: r.instead, LostAt: db.FromMicros(r.lost), LeavesAt: db.FromMicros(r.leaves)}
	// Most nodes of a cluster have the same services.
	services, known := r.last[r.services]
	if !known {
		if err := json.Unmarshal([]byte(r.services), &services); err != nil {
			return n, err
		}
		r.last[r.services] = services
	}
	n.Services = services
	if r.addresses == "{}" {
		return n, nil
	}
	var plain bool
	if n.Addresses, plain = plainTexts(r.addresses); plain {
		return n, nil
	}
	return n, json.Unmarshal([]byte(r.addresses), &n.Addresses)
}

// plainTexts reads a JSON object whose names and values are texts without anything that is written in another way, as nearly all
// addresses are: a node's row is read with each of its steps. It tells false where there is anything else.
func plainTexts(object string) (map[string]string, bool) {
	rest, ok := strings.CutPrefix(object, "{")
	if !ok || strings.ContainsAny(object, "\\\n") {
		return nil, false
	}
	texts := make(map[string]string, 4)
	for {
		name, more, ok := strings.Cut(strings.TrimPrefix(rest, `"`), `":"`)
		if !ok || rest[0] != '"' || strings.Contains(name, `"`) {
			return nil, false
		}
		value, after, ok := strings.Cut(more, `"`)
		if !ok || after == "" {
			return nil, false
		}
		texts[name] = value
		switch {
		case after == "}":
			return texts, true
		case after[0] != ',' || len(after) < 2:
			return nil, false
		}
		rest = after[1:]
	}
}
