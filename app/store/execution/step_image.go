package execution

import (
	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/store/db"
	"muster/app/store/image"
)

// keepImage notes what a step has found out about a baked image.
func keepImage(t *db.Tx, tenant, cluster string, st *ledger.Step, f execution.Finish) error {
	switch {
	case f.Image == nil:
		return nil
	case st.Action == app.ActionBake:
		return image.Made(t, f.Now, tenant, cluster, f.Image.Image)
	case st.Action == app.ActionCreate, st.Action == app.ActionConfirm:
		return image.Used(t, f.Now, tenant, f.Image.Image, f.Image.Gone)
	}
	return nil
}
