package portal

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
	"muster/portal/page"
)

func (p *Portal) clusterDeleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	c := page.ClusterShow{Now: p.now(), Actor: a, View: view}
	if !c.CanDelete() {
		http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
		return nil
	}
	f := p.frame(r, "Delete "+view.Name)
	f.At = "clusters"
	p.render(w, r, http.StatusOK, page.ClusterDeletePage(f, c))
	return nil
}

func (p *Portal) clusterDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.muster.DeleteCluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
	return nil
}
