package execution

import (
	"encoding/json"
	"fmt"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/ledger"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
	"muster/app/store/place"
	"muster/app/store/policy"
)

// fallBack lets a node be of other hardware, none of its own being to be had, and returns how its attempt ends then. The cluster's price
// and what is reserved for it go with that. Where quotas allow none, or the node is of other hardware by now, all stays as it was.
func fallBack(t *db.Tx, set *ledger.Set, f execution.Finish) (execution.Finish, error) {
	o, st := set.Operation(f.Fence.Operation), set.Step(ledger.Key{Operation: f.Fence.Operation, Index: f.Fence.Index})
	if !o.Kind.GrowsNodes() || o.Status == app.OperationCancelling {
		return f, nil
	}
	var is int
	err := t.Row(`SELECT count(*) FROM nodes WHERE cluster = ? AND name = ? AND hardware = ? AND removal = 0`, o.Cluster, st.Node, f.Fallbacks[0].From).Scan(&is)
	if err != nil || is == 0 {
		return f, db.Wrapped(err)
	}
	for _, h := range f.Fallbacks {
		err := reserveMore(t, f, o, h)
		if app.CodeOf(err) == app.EQuota {
			if err := say(t, f, fmt.Sprintf("%s is unavailable, and the fallback %s can't be used: %s", h.From, h.To, app.AsError(err).ForPeople())); err != nil {
				return f, err
			}
			continue
		}
		if err != nil {
			return f, err
		}
		return takeFallback(t, f, o, st, h)
	}
	return f, nil
}

// reserveMore reserves what a cluster has more with other hardware; EQuota where that is too much.
func reserveMore(t *db.Tx, f execution.Finish, o *ledger.Operation, h cluster.HardwareFallback) error {
	had, err := policy.Reserved(t, o.Tenant, o.Cluster, 0)
	if err != nil || had == nil || !had.EndedAt.IsZero() {
		return err
	}
	r := had.Reservation
	r.CPU, r.CostPerHour = max(0, r.CPU+h.MoreCPU), db.Rounded(r.CostPerHour+h.More)
	return policy.Reserve(t, f.Now, r)
}

// takeFallback writes that a node is of other hardware.
func takeFallback(t *db.Tx, f execution.Finish, o *ledger.Operation, st *ledger.Step, h cluster.HardwareFallback) (execution.Finish, error) {
	if err := t.Exec(`UPDATE nodes SET hardware = ?, replaces_hardware = ?, cpu = ? WHERE cluster = ? AND name = ?`, h.To, h.InsteadOf, h.CPU, o.Cluster, st.Node); err != nil {
		return f, err
	}
	if err := repriced(t, o, h); err != nil {
		return f, err
	}
	text := fmt.Sprintf("%s is unavailable. Trying %s instead.", h.From, h.To)
	if h.InsteadOf == "" {
		text = fmt.Sprintf("%s, the last fallback, is unavailable. Starting again with %s.", h.From, h.To)
	}
	if err := t.Event(app.Event{At: f.Now, Tenant: o.Tenant, Cluster: o.Cluster, Operation: o.ID, Kind: app.EventNode, Node: st.Node, Status: string(app.NodePlanned),
		Message: text}); err != nil {
		return f, err
	}
	f.Retry = h.Retry
	if left, err := place.Left(t, o.ID); err != nil {
		return f, err
	} else if left && h.InsteadOf == "" {
		f.Retry = app.Retry{} // all of it is full here, and another place is left
	}
	if h.Err != nil {
		f.Err = h.Err
	}
	return f, say(t, f, text)
}

// repriced writes what the cluster costs with other hardware, also where its operation says what it made of it.
func repriced(t *db.Tx, o *ledger.Operation, h cluster.HardwareFallback) error {
	var cost float64
	if err := t.Row(`SELECT cost_per_hour FROM clusters WHERE id = ?`, o.Cluster).Scan(&cost); err != nil {
		return db.Wrapped(err)
	}
	if err := t.Exec(`UPDATE clusters SET cost_per_hour = ? WHERE id = ?`, db.Rounded(cost+h.More), o.Cluster); err != nil {
		return err
	}
	var text []byte
	err := t.Row(`SELECT made FROM operation_changes WHERE operation = ?`, o.ID).Scan(&text)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	var made ledgerdb.ChangeText
	if err := json.Unmarshal(text, &made); err != nil {
		return fmt.Errorf("store: change of operation %d: %w", o.ID, err)
	}
	made.CostPerHour = db.Rounded(made.CostPerHour + h.More)
	if r := made.Reserved; r != nil {
		r.CPU, r.CostPerHour = max(0, r.CPU+h.MoreCPU), db.Rounded(r.CostPerHour+h.More)
	}
	return t.Exec(`UPDATE operation_changes SET made = ? WHERE operation = ?`, db.JSON(made), o.ID)
}

// say adds a line of Muster's own to the log of a running attempt.
func say(t *db.Tx, f execution.Finish, text string) error {
	return t.Exec(`INSERT INTO logs (at, tenant, cluster, operation, idx, attempt, step, node, stream, text)
		SELECT CAST(? AS BIGINT), tenant, cluster, operation, idx, attempt, step, node, CAST(? AS TEXT), CAST(? AS TEXT) FROM steps WHERE operation = ? AND idx = ?`,
		db.Micros(f.Now), string(family.StreamSystem), text, f.Fence.Operation, f.Fence.Index)
}
