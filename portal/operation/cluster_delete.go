package operation

import (
	"net/http"

	"muster/app"
	clusterpage "muster/portal/cluster"

	"github.com/go-chi/chi/v5"
)

func (p *Service) clusterDeleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	c := clusterpage.Show{Now: p.Now(), Actor: a, View: view}
	if !c.CanDelete() {
		http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
		return nil
	}
	f := p.Frame(r, "Delete "+view.Name)
	f.At = "clusters"
	p.Render(w, r, http.StatusOK, DeletePage(f, c))
	return nil
}

func (p *Service) clusterDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.Deletes.DeleteCluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
	return nil
}
