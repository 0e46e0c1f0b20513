package portal

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
	clusterpage "muster/portal/cluster"
	operationpage "muster/portal/operation"
)

func (p *Portal) clusterDeleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	c := clusterpage.Show{Now: p.now(), Actor: a, View: view}
	if !c.CanDelete() {
		http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
		return nil
	}
	f := p.frame(r, "Delete "+view.Name)
	f.At = "clusters"
	p.render(w, r, http.StatusOK, operationpage.DeletePage(f, c))
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
