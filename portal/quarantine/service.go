package quarantine

import (
	"context"
	"net/http"

	"muster/app"
	"muster/app/quarantine"
	"muster/portal/site"
)

// Service serves the page and the REST operation of kept machines.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{site.Show("/kept-machines", p.list)}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/kept-machines", p.apiList, site.About("List failed machines that are kept for inspection")),
	}
}

type listInput struct {
	Cluster string `query:"cluster" maxLength:"128" doc:"Only machines of this cluster, by ID or name"`
}

type machineList struct {
	Machines []quarantine.Machine `json:"machines"`
}

func (p *Service) apiList(ctx context.Context, in *listInput) (*site.Body[machineList], error) {
	all, err := p.Kept.KeptMachines(ctx, site.Caller(ctx), in.Cluster)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[machineList]{Body: machineList{site.OrEmpty(all)}}, nil
}

func (p *Service) list(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	all, err := p.Kept.KeptMachines(r.Context(), a, "")
	if err != nil {
		return err
	}
	f := p.Frame(r, "Kept machines")
	f.At = "clusters"
	p.Render(w, r, http.StatusOK, ListPage(f, a, p.Now(), all))
	return nil
}
