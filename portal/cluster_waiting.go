package portal

import (
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"muster/app"
	"muster/portal/page"
)

// clusterWaiting lists, page by page, why each step waits.
func (p *Portal) clusterWaiting(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	filter := app.WaitingFilter{Node: q.Get("node"), Limit: 100}
	filter.From, _ = strconv.Atoi(q.Get("from"))
	filter.From = max(filter.From, 0)
	waiting, err := p.muster.Waiting(r.Context(), a, view.ID, filter)
	if err != nil {
		return err
	}
	f := p.frame(r, "Why "+view.Name+" waits")
	f.At = "clusters"
	p.render(w, r, http.StatusOK, page.ClusterWaitingPage(f, page.ClusterWaiting{Now: p.now(), View: view, Waiting: waiting, Node: filter.Node, From: filter.From}))
	return nil
}

// queueShow tells admins what waits in their tenant.
func (p *Portal) queueShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, err := p.muster.Queue(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.frame(r, "Queue")
	f.At = "admin"
	part := page.QueueShow{Now: p.now(), Queue: q}
	if r.Header.Get("Muster-Part") != "" {
		p.render(w, r, http.StatusOK, page.QueuePart(part))
		return nil
	}
	if part.Moving() {
		f.Refresh = 5
	}
	p.render(w, r, http.StatusOK, page.QueuePage(f, part))
	return nil
}
