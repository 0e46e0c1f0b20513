package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/policy"
	"muster/app/store/db"
)

// ChangeText is one side of a change as it is kept, without the definition.
type ChangeText struct {
	Template    string              `json:"template"`
	Size        int                 `json:"size"`
	Services    []string            `json:"services"`
	CostPerHour float64             `json:"cost_per_hour"`
	New         []string            `json:"new,omitempty"`
	Nodes       map[string][]string `json:"nodes,omitempty"`
	Leaving     []string            `json:"leaving,omitempty"`
	Reserved    *ReservedText       `json:"reserved,omitempty"`
}

// ReservedText are the measures of a reservation that change with a cluster.
type ReservedText struct {
	Nodes       int     `json:"nodes"`
	CPU         float64 `json:"cpu"`
	CostPerHour float64 `json:"cost_per_hour"`
}

func (c ChangeText) Value() cluster.Change {
	v := cluster.Change{Template: c.Template, Size: c.Size, Services: c.Services, CostPerHour: c.CostPerHour, Nodes: c.Nodes, Leaving: c.Leaving}
	if v.Nodes == nil {
		v.Nodes = map[string][]string{}
	}
	if r := c.Reserved; r != nil {
		v.Reservation = policy.Reservation{Nodes: r.Nodes, CPU: r.CPU, CostPerHour: r.CostPerHour}
	}
	return v
}

// Audited is what the audit says of one side of a change: how many nodes, not which.
func (c ChangeText) Audited() map[string]any {
	return map[string]any{"template": c.Template, "nodes": c.Size, "services": c.Services, "cost_per_hour": c.CostPerHour}
}

// changeDone ends what updates of a cluster kept open, once one has succeeded, whichever of them that is: reserved is what
// the cluster has now, and the nodes that were given back, or never made, are gone for good. One whose machine may be there stays,
// whatever the plan said.
func changeDone(t *db.Tx, now time.Time, o app.Operation) error {
	if o.Kind == app.OperationCreate || o.Kind == app.OperationDelete {
		return nil
	}
	r, err := reservedLast(t, o)
	if err != nil {
		return err
	}
	if r != nil {
		if err := t.Exec(`UPDATE reservations SET nodes = ?, cpu = ?, cost = ?, volume_cost = 0 WHERE cluster = ? AND ended_at = 0`,
			r.Nodes, r.CPU, r.CostPerHour, o.Cluster); err != nil {
			return err
		}
	}
	if err := t.Exec(`UPDATE intents SET ended_at = ? WHERE cluster = ? AND ended_at = 0 AND create_attempts = 0
		AND node IN (SELECT n.name FROM nodes n WHERE n.cluster = ? AND n.removal = 1 AND n.status = 'planned')`,
		db.Micros(now), o.Cluster, o.Cluster); err != nil {
		return err
	}
	return t.Exec(`UPDATE nodes SET removal = 2, status = 'deleted', secret = ? WHERE cluster = ? AND removal = 1 AND status IN ('planned', 'deleted')
		AND NOT EXISTS (SELECT 1 FROM intents i WHERE i.cluster = nodes.cluster AND i.node = nodes.name AND i.ended_at = 0)`, []byte{}, o.Cluster)
}

// reservedLast returns what the last change of a cluster said that is reserved for it: that of the operation itself, or of one that
// failed before it and which it has brought to an end. It is nil where none said anything.
func reservedLast(t *db.Tx, o app.Operation) (*ReservedText, error) {
	var text []byte
	err := t.Row(`SELECT made FROM operation_changes WHERE cluster = ? AND operation <= ? AND reserves = 1
		ORDER BY operation DESC LIMIT 1`, o.Cluster, o.ID).Scan(&text)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var made ChangeText
	if err := json.Unmarshal(text, &made); err != nil {
		return nil, fmt.Errorf("store: change of cluster %s: %w", o.Cluster, err)
	}
	return made.Reserved, nil
}
