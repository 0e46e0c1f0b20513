package execution

import (
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/layout"
	"muster/app/ledger"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
	"muster/app/store/place"
)

// noteFull writes that a create found no capacity in its place. Where the cluster's request names another place, the
// attempt is the step's last: waiting for capacity here would keep the cluster from where there is some.
func noteFull(t *db.Tx, set *ledger.Set, st *ledger.Step, f execution.Finish) (execution.Finish, error) {
	if st.Action != app.ActionCreate || f.Err == nil || f.Err.Code != app.ECapacity && f.Err.Code != app.EQuota || f.Pooled {
		return f, nil
	}
	o := set.Operation(st.Operation)
	var p layout.Place
	err := t.Row(`SELECT c.provider, n.zone, n.hardware FROM nodes n JOIN clusters c ON c.id = n.cluster WHERE n.cluster = ? AND n.name = ?`, o.Cluster, st.Node).
		Scan(&p.Provider, &p.Zone, &p.Hardware)
	if db.IsNoRows(err) {
		return f, nil
	}
	if err != nil {
		return f, db.Wrapped(err)
	}
	if err := place.NoteFull(t, o.Tenant, p, f.Err.Message, f.Now); err != nil {
		return f, err
	}
	if f.Retry.Again && !f.Retry.Free {
		left, err := place.Left(t, st.Operation)
		if err != nil || !left {
			return f, err
		}
		f.Retry = app.Retry{}
	}
	return f, nil
}

// noteCreated writes that the places had capacity where machines were created.
func noteCreated(t *db.Tx, now time.Time, set *ledger.Set, nodes *ledgerdb.NodeSet, steps []*ledger.Step) error {
	type stock struct {
		tenant string
		place  layout.Place
	}
	providers, noted := map[string]string{}, map[stock]bool{}
	for _, st := range steps {
		o := set.Operation(st.Operation)
		n := nodes.Of[ledger.Node{Cluster: o.Cluster, Name: st.Node}]
		if n == nil {
			continue
		}
		provider, known := providers[o.Cluster]
		if !known {
			if err := t.Row(`SELECT provider FROM clusters WHERE id = ?`, o.Cluster).Scan(&provider); err != nil && !db.IsNoRows(err) {
				return db.Wrapped(err)
			}
			providers[o.Cluster] = provider
		}
		k := stock{o.Tenant, layout.Place{Provider: provider, Zone: n.Node.Zone, Hardware: n.Node.Hardware}}
		if provider == "" || noted[k] {
			continue
		}
		noted[k] = true
		if err := place.NoteCreated(t, k.tenant, k.place, now); err != nil {
			return err
		}
	}
	return nil
}
