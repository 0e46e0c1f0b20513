package portal

import (
	"net/http"

	"muster/app"
	"muster/portal/page"
)

func (p *Portal) home(w http.ResponseWriter, r *http.Request, _ app.Actor) error {
	http.Redirect(w, r, "/clusters", http.StatusSeeOther)
	return nil
}

func (p *Portal) clusterList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	deleted := r.URL.Query().Get("deleted") == "true"
	clusters, err := p.muster.Clusters(r.Context(), a, app.ClusterFilter{Deleted: deleted})
	if err != nil {
		return err
	}
	f := p.frame(r, "Clusters")
	f.At = "clusters"
	l := page.ClusterList{Now: p.now(), Clusters: clusters, Deleted: deleted, New: f.May("CreateCluster"), Month: p.monthCost(r, a)}
	if r.Header.Get("Muster-Part") == "list" {
		p.render(w, r, http.StatusOK, page.ClusterListPart(l))
		return nil
	}
	if l.Moving() {
		f.Refresh = 5
	}
	p.render(w, r, http.StatusOK, page.ClusterListPage(f, l))
	return nil
}
