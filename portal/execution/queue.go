package execution

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
	"muster/portal/site"
)

// queueShow shows admins their tenant's queue.
func (p *Service) queueShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, err := p.readQueue(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Queue")
	f.Live = true
	if q.moving() {
		f.Refresh = 5
	}
	p.Render(w, r, http.StatusOK, QueuePage(f, q))
	return nil
}

func (p *Service) readQueue(ctx context.Context, a app.Actor) (QueueShow, error) {
	q, err := p.Queues.Queue(ctx, a)
	return QueueShow{Now: p.Now(), Queue: q}, err
}

func (p *Service) QueueLive(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	q, err := p.readQueue(ctx, a)
	return []site.LiveOne{{ID: "list", HTML: QueuePart(q)}}, err
}

// queuesShow shows superadmins the queues of all tenants.
func (p *Service) queuesShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, err := p.Queues.Queues(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "All queues")
	f.Live = true
	if len(q.Tenants) > 0 {
		f.Refresh = 5
	}
	p.Render(w, r, http.StatusOK, QueuesPage(f, QueuesShow{Now: p.Now(), Queues: q}))
	return nil
}

func (p *Service) QueuesLive(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	q, err := p.Queues.Queues(ctx, a)
	return []site.LiveOne{{ID: "queues", HTML: QueuesPart(QueuesShow{Now: p.Now(), Queues: q})}}, err
}
