package operation

import (
	"net/http"
	"strconv"

	"muster/app"
	clusterpage "muster/portal/cluster"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// clusterPlan is the page of the latest operation.
func (p *Service) clusterPlan(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.operationPage(w, r, a, 0)
}

// clusterOperation is the permanent page of one operation.
func (p *Service) clusterOperation(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	n, err := strconv.ParseInt(chi.URLParam(r, "operation"), 10, 64)
	if err != nil || n < 1 {
		return app.Errorf(app.ENotFound, "Operation %q doesn't exist.", chi.URLParam(r, "operation"))
	}
	return p.operationPage(w, r, a, n)
}

func (p *Service) operationPage(w http.ResponseWriter, r *http.Request, a app.Actor, operation int64) error {
	c, err := p.cluster.Page.ReadOperation(r.Context(), a, chi.URLParam(r, "id"), operation, site.DrawnBy(r.URL.Query()))
	if err != nil {
		return err
	}
	title := c.View.Name
	if c.Pinned == nil { // it has no operations
		http.Redirect(w, r, "/clusters/"+c.View.ID, http.StatusSeeOther)
		return nil
	}
	if c.Have, err = clusterpage.Digests(r.Context(), c); err != nil {
		return err
	}
	f := p.ClusterFrame(r, "Plan of "+title)
	if !c.Pinned.Status.Ended() {
		f.Refresh = 5
	}
	p.Render(w, r, http.StatusOK, OperationPage(f, c))
	return nil
}

// clusterHistory lists all operations of a cluster.
func (p *Service) clusterHistory(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	h := clusterpage.History{Now: p.Now(), View: v, Tabs: p.ClusterTabs(a, v, "history")}
	h.From, _ = strconv.Atoi(r.URL.Query().Get("from"))
	f := p.ClusterFrame(r, "History of "+v.Name)
	p.Render(w, r, http.StatusOK, HistoryPage(f, h))
	return nil
}
