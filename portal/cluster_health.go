package portal

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/execution"
	appoperation "muster/app/operation"
	healthpage "muster/portal/health"
)

// Watching is a power that a Muster may have: to tell how clusters are. A portal without it has no page about health.
type Watching interface {
	// Health tells how a cluster and its nodes are.
	Health(ctx context.Context, a app.Actor, cluster string) (app.ClusterHealth, error)
	// CheckHealth has the next check start at once.
	CheckHealth(ctx context.Context, a app.Actor, cluster string) (app.ClusterHealth, error)
	// Drift tells where a cluster is not what it should be.
	Drift(ctx context.Context, a app.Actor, cluster string) (appoperation.Drift, error)
	ClusterFacts(ctx context.Context, a app.Actor, cluster string) ([]execution.NodeFact, error)
}

// watching gives the power; nil where there is none.
func (p *Portal) watching() Watching {
	w, _ := p.muster.(Watching)
	return w
}

// clusterHealth tells how a cluster is, and to those who may change it where it is not what it should be.
func (p *Portal) clusterHealth(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	c := healthpage.Health{Tabs: p.clusterTabs(a, view, "health"), Checks: p.checking() != nil, Now: p.now(), View: view, Amends: p.amending() != nil && a.MayIn("Amend", view.Cluster)}
	if c.Health, err = p.watching().Health(r.Context(), a, view.ID); err != nil {
		return err
	}
	c.Started = r.URL.Query().Has("started")
	c.CanCheck = view.CanCheckHealth() && a.MayIn("CheckHealth", view.Cluster)
	if a.MayIn("Drift", view.Cluster) {
		d, err := p.watching().Drift(r.Context(), a, view.ID)
		if err != nil {
			return err
		}
		c.Drift = &d
	}
	f := p.clusterFrame(r, "Health of "+view.Name)
	p.render(w, r, http.StatusOK, healthpage.HealthPage(f, c))
	return nil
}

// clusterHealthCheck has the next check start at once.
func (p *Portal) clusterHealthCheck(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id := chi.URLParam(r, "id")
	if _, err := p.watching().CheckHealth(r.Context(), a, id); err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+url.PathEscape(id)+"/health?started", http.StatusSeeOther)
	return nil
}

func (p *Portal) apiHealthCheck(ctx context.Context, in *IDInput) (*body[app.ClusterHealth], error) {
	h, err := p.watching().CheckHealth(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.ClusterHealth]{h}, nil
}

func (p *Portal) apiClusterHealth(ctx context.Context, in *IDInput) (*body[app.ClusterHealth], error) {
	h, err := p.watching().Health(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.ClusterHealth]{h}, nil
}

func (p *Portal) apiClusterDrift(ctx context.Context, in *IDInput) (*body[appoperation.Drift], error) {
	d, err := p.watching().Drift(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[appoperation.Drift]{d}, nil
}

func (p *Portal) apiClusterFacts(ctx context.Context, in *IDInput) (*body[[]execution.NodeFact], error) {
	list, err := p.watching().ClusterFacts(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[[]execution.NodeFact]{list}, nil
}
