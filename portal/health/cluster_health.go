package health

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/execution"
	"muster/app/health"
	appoperation "muster/app/operation"
	"muster/portal/site"
)

// clusterHealth shows a cluster's health and, to people who can change it, its drift.
func (p *Service) clusterHealth(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	c := Health{Tabs: p.ClusterTabs(a, view, "health"), Now: p.Now(), View: view, Updates: a.MayIn("Update", view.Cluster)}
	if c.Health, err = p.Health.Health(r.Context(), a, view.ID); err != nil {
		return err
	}
	c.Started = r.URL.Query().Has("started")
	c.CanCheck = view.CanCheckHealth() && a.MayIn("CheckHealth", view.Cluster)
	if a.MayIn("Drift", view.Cluster) {
		d, err := p.Drifts.Drift(r.Context(), a, view.ID)
		if err != nil {
			return err
		}
		c.Drift = &d
	}
	f := p.ClusterFrame(r, "Health of "+view.Name)
	p.Render(w, r, http.StatusOK, HealthPage(f, c))
	return nil
}

// clusterHealthCheck starts the next check now.
func (p *Service) clusterHealthCheck(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id := chi.URLParam(r, "id")
	if _, err := p.Health.CheckHealth(r.Context(), a, id); err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+url.PathEscape(id)+"/health?started", http.StatusSeeOther)
	return nil
}

func (p *Service) apiCheck(ctx context.Context, in *site.IDInput) (*site.Body[health.ClusterHealth], error) {
	h, err := p.Health.CheckHealth(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[health.ClusterHealth]{Body: h}, nil
}

func (p *Service) apiClusterHealth(ctx context.Context, in *site.IDInput) (*site.Body[health.ClusterHealth], error) {
	h, err := p.Health.Health(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[health.ClusterHealth]{Body: h}, nil
}

func (p *Service) apiClusterDrift(ctx context.Context, in *site.IDInput) (*site.Body[appoperation.Drift], error) {
	d, err := p.Drifts.Drift(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[appoperation.Drift]{Body: d}, nil
}

func (p *Service) apiClusterFacts(ctx context.Context, in *site.IDInput) (*site.Body[[]execution.NodeFact], error) {
	list, err := p.Health.ClusterFacts(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[[]execution.NodeFact]{Body: list}, nil
}
