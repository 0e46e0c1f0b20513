package cluster

import (
	"net/http"
	"strconv"

	"muster/app"
	"muster/app/execution"

	"github.com/go-chi/chi/v5"
)

// Waiting lists, page by page, why steps wait.
func (p *clusterPage) Waiting(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	filter := execution.WaitingFilter{Node: q.Get("node"), Limit: 100}
	filter.From, _ = strconv.Atoi(q.Get("from"))
	filter.From = max(filter.From, 0)
	waiting, err := p.Queues.Waiting(r.Context(), a, view.ID, filter)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Why "+view.Name+" is waiting")
	f.At = "clusters"
	p.Render(w, r, http.StatusOK, WaitingPage(f, Waiting{Now: p.Now(), View: view, Waiting: waiting, Node: filter.Node, From: filter.From}))
	return nil
}
