package cluster

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"muster/app"
	"muster/app/execution"
	executionpage "muster/portal/execution"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Waiting lists, page by page, why each step waits.
func (p *Service) Waiting(w http.ResponseWriter, r *http.Request, a app.Actor) error {
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
	f := p.Frame(r, "Why "+view.Name+" waits")
	f.At = "clusters"
	p.Render(w, r, http.StatusOK, WaitingPage(f, Waiting{Now: p.Now(), View: view, Waiting: waiting, Node: filter.Node, From: filter.From}))
	return nil
}

// QueueShow tells admins what waits in their tenant.
func (p *Service) QueueShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, err := p.queue(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Queue")
	f.Live = true
	if q.Moving() {
		f.Refresh = 5
	}
	p.Render(w, r, http.StatusOK, executionpage.QueuePage(f, q))
	return nil
}

func (p *Service) queue(ctx context.Context, a app.Actor) (executionpage.QueueShow, error) {
	q, err := p.Queues.Queue(ctx, a)
	return executionpage.QueueShow{Now: p.Now(), Queue: q}, err
}

func (p *Service) QueueLive(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	q, err := p.queue(ctx, a)
	return []site.LiveOne{{ID: "list", HTML: executionpage.QueuePart(q)}}, err
}

// QueuesShow tells superadmins what waits in which tenant.
func (p *Service) QueuesShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, err := p.Queues.Queues(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "All queues")
	f.Live = true
	if len(q.Tenants) > 0 {
		f.Refresh = 5
	}
	p.Render(w, r, http.StatusOK, executionpage.QueuesPage(f, executionpage.QueuesShow{Now: p.Now(), Queues: q}))
	return nil
}

func (p *Service) QueuesLive(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	q, err := p.Queues.Queues(ctx, a)
	return []site.LiveOne{{ID: "queues", HTML: executionpage.QueuesPart(executionpage.QueuesShow{Now: p.Now(), Queues: q})}}, err
}
