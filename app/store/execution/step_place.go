package execution

import (
	"muster/app"
	"muster/app/execution"
	"muster/app/layout"
	"muster/app/ledger"
	"muster/app/store/db"
	"muster/app/store/place"
)

// noteStock writes what a create learned about the stock of its place. Where there is no capacity and the cluster's request names another place, the
// attempt is the step's last: waiting for capacity here would keep the cluster from where there is some.
func noteStock(t *db.Tx, set *ledger.Set, st *ledger.Step, f execution.Finish) (execution.Finish, error) {
	full := f.Err != nil && (f.Err.Code == app.ECapacity || f.Err.Code == app.EQuota)
	if st.Action != app.ActionCreate || f.Err != nil && !full || f.Pooled {
		return f, nil
	}
	o := set.Operation(st.Operation)
	var p layout.Place
	err := t.Row(`SELECT c.provider, n.zone, n.hardware FROM nodes n JOIN clusters c ON c.id = n.cluster WHERE n.cluster = ? AND n.name = ?`, o.Cluster, st.Node).
		Scan(&p.Provider, &p.Zone, &p.Hardware)
	switch {
	case db.IsNoRows(err):
		return f, nil
	case err != nil:
		return f, db.Wrapped(err)
	case !full:
		return f, place.NoteCreated(t, o.Tenant, p, f.Now)
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
