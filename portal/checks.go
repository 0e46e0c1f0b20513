package portal

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
	healthpage "muster/portal/health"
)

// Checking is a power that a Muster may have: to tell what nodes were found to be. A portal without it has no page of checks.
type Checking interface {
	// NodeReports tells of all nodes of a cluster that were bootstrapped, or of the named one.
	NodeReports(ctx context.Context, a app.Actor, cluster, node string) ([]app.NodeReport, error)
}

// checking gives the power; nil where there is none.
func (p *Portal) checking() Checking {
	c, _ := p.muster.(Checking)
	return c
}

func (p *Portal) clusterChecks(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	reports, err := p.checking().NodeReports(r.Context(), a, v.ID, "")
	if err != nil {
		return err
	}
	f := p.clusterFrame(r, "Nodes of "+v.Name)
	p.render(w, r, http.StatusOK, healthpage.ChecksPage(f, healthpage.Checks{Tabs: p.clusterTabs(a, v, "health"), Cluster: v.Cluster, Now: p.now(), Reports: reports, Nodes: len(v.Nodes)}))
	return nil
}

// ChecksInput names a cluster and perhaps a node.
type ChecksInput struct {
	IDInput
	Node string `query:"node" maxLength:"64" doc:"Only this node"`
}

func (p *Portal) apiChecks(ctx context.Context, in *ChecksInput) (*body[[]app.NodeReport], error) {
	reports, err := p.checking().NodeReports(ctx, caller(ctx), in.ID, in.Node)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[[]app.NodeReport]{orEmpty(reports)}, nil
}
