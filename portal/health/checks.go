package health

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/health"
	"muster/portal/site"
)

func (p *Service) clusterChecks(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	reports, err := p.Health.NodeReports(r.Context(), a, v.ID, "")
	if err != nil {
		return err
	}
	f := p.ClusterFrame(r, "Node checks of "+v.Name)
	p.Render(w, r, http.StatusOK, ChecksPage(f, Checks{Tabs: p.ClusterTabs(a, v, "health"), Cluster: v.Cluster, Now: p.Now(), Reports: reports, Nodes: len(v.Nodes)}))
	return nil
}

// checksInput is a cluster and optionally a node.
type checksInput struct {
	site.IDInput
	Node string `query:"node" maxLength:"64" doc:"Only this node"`
}

func (p *Service) apiChecks(ctx context.Context, in *checksInput) (*site.Body[[]health.NodeReport], error) {
	reports, err := p.Health.NodeReports(ctx, site.Caller(ctx), in.ID, in.Node)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[[]health.NodeReport]{Body: site.OrEmpty(reports)}, nil
}
