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

// queues are what waits, and why: of a cluster, a tenant, the installation.
type queues struct {
	*site.Site
}

func (p *queues) routes() []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/waiting", p.Waiting),
		site.Show("/queue", p.Show),
		site.Show("/admin/queues", p.ShowAll),
	}
}

// Waiting lists, page by page, why each step waits.
func (p *queues) Waiting(w http.ResponseWriter, r *http.Request, a app.Actor) error {
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

// Show tells admins what waits in their tenant.
func (p *queues) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, err := p.read(r.Context(), a)
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

func (p *queues) read(ctx context.Context, a app.Actor) (executionpage.QueueShow, error) {
	q, err := p.Queues.Queue(ctx, a)
	return executionpage.QueueShow{Now: p.Now(), Queue: q}, err
}

func (p *queues) Live(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	q, err := p.read(ctx, a)
	return []site.LiveOne{{ID: "list", HTML: executionpage.QueuePart(q)}}, err
}

// ShowAll tells superadmins what waits in which tenant.
func (p *queues) ShowAll(w http.ResponseWriter, r *http.Request, a app.Actor) error {
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

func (p *queues) LiveAll(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	q, err := p.Queues.Queues(ctx, a)
	return []site.LiveOne{{ID: "queues", HTML: executionpage.QueuesPart(executionpage.QueuesShow{Now: p.Now(), Queues: q})}}, err
}
