package portal

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
	clusterpage "muster/portal/cluster"
)

// clusterManage is the page of all that can be done with a cluster besides its plans.
func (p *Portal) clusterManage(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	return p.showManage(w, r, a, http.StatusOK, clusterpage.Manage{View: v})
}

func (p *Portal) showManage(w http.ResponseWriter, r *http.Request, a app.Actor, status int, m clusterpage.Manage) error {
	m.Tabs, m.Now, m.Actor = p.clusterTabs(a, m.View, "manage"), p.now(), a
	if err := p.manage(r.Context(), a, &m); err != nil {
		return err
	}
	f := p.clusterFrame(r, "Manage "+m.View.Name)
	p.render(w, r, status, clusterpage.ManagePage(f, m))
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
	v, err := p.life().TransferCluster(r.Context(), a, chi.URLParam(r, "id"), r.PostForm.Get("to"))
	if err == nil && !a.MayIn("Cluster", v.Cluster) { // it is private, and another person's now
		http.Redirect(w, r, "/clusters", http.StatusSeeOther)
		return nil
	}
	return p.toCluster(w, r)(v, err)
}
