package portal

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
	"muster/portal/page"
)

// clusterManage is the page of all that can be done with a cluster besides its plans.
func (p *Portal) clusterManage(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	m := page.ClusterManage{Tabs: p.clusterTabs(a, v, "manage"), Now: p.now(), Actor: a, View: v}
	if err := p.manage(r.Context(), a, &m); err != nil {
		return err
	}
	f := p.clusterFrame(r, "Manage "+v.Name)
	p.render(w, r, http.StatusOK, page.ClusterManagePage(f, m))
	return nil
}

func (p *Portal) clusterRename(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	return p.toCluster(w, r)(p.life().RenameCluster(r.Context(), a, chi.URLParam(r, "id"), r.PostForm.Get("name")))
}

func (p *Portal) clusterTransfer(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	return p.toCluster(w, r)(p.life().TransferCluster(r.Context(), a, chi.URLParam(r, "id"), r.PostForm.Get("to")))
}
