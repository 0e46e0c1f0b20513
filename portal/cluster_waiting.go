package portal

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/execution"
	clusterpage "muster/portal/cluster"
	executionpage "muster/portal/execution"
)

// clusterWaiting lists, page by page, why each step waits.
func (p *Portal) clusterWaiting(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	filter := execution.WaitingFilter{Node: q.Get("node"), Limit: 100}
	filter.From, _ = strconv.Atoi(q.Get("from"))
	filter.From = max(filter.From, 0)
	waiting, err := p.muster.Waiting(r.Context(), a, view.ID, filter)
	if err != nil {
		return err
	}
	f := p.frame(r, "Why "+view.Name+" waits")
	f.At = "clusters"
	p.render(w, r, http.StatusOK, clusterpage.WaitingPage(f, clusterpage.Waiting{Now: p.now(), View: view, Waiting: waiting, Node: filter.Node, From: filter.From}))
	return nil
}

// queueShow tells admins what waits in their tenant.
func (p *Portal) queueShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, err := p.queue(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Queue")
	f.Live = true
	if q.Moving() {
		f.Refresh = 5
	}
	p.render(w, r, http.StatusOK, executionpage.QueuePage(f, q))
	return nil
}

func (p *Portal) queue(ctx context.Context, a app.Actor) (executionpage.QueueShow, error) {
	q, err := p.muster.Queue(ctx, a)
	return executionpage.QueueShow{Now: p.now(), Queue: q}, err
}

func (p *Portal) queueLive(ctx context.Context, a app.Actor, _ *url.URL) ([]liveOne, error) {
	q, err := p.queue(ctx, a)
	return []liveOne{{ID: "list", HTML: executionpage.QueuePart(q)}}, err
}

// queuesShow tells superadmins what waits in which tenant.
func (p *Portal) queuesShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, err := p.installation().Queues(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "All queues")
	f.Live = true
	if len(q.Tenants) > 0 {
		f.Refresh = 5
	}
	p.render(w, r, http.StatusOK, executionpage.QueuesPage(f, executionpage.QueuesShow{Now: p.now(), Queues: q}))
	return nil
}

func (p *Portal) queuesLive(ctx context.Context, a app.Actor, _ *url.URL) ([]liveOne, error) {
	q, err := p.installation().Queues(ctx, a)
	return []liveOne{{ID: "queues", HTML: executionpage.QueuesPart(executionpage.QueuesShow{Now: p.now(), Queues: q})}}, err
}
