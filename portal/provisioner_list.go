package portal

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"muster/app"
	fleetpage "muster/portal/fleet"
)

func (p *Portal) provisionerList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	l, err := p.provisioners(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Provisioners")
	f.Refresh, f.Live = 10, true
	p.render(w, r, http.StatusOK, fleetpage.ProvisionerListPage(f, l))
	return nil
}

func (p *Portal) provisioners(ctx context.Context, a app.Actor) (fleetpage.ProvisionerList, error) {
	all, err := p.provisioning().Provisioners(ctx, a)
	return fleetpage.ProvisionerList{Now: p.now(), Provisioners: all}, err
}

func (p *Portal) provisionersLive(ctx context.Context, a app.Actor, _ *url.URL) ([]liveOne, error) {
	l, err := p.provisioners(ctx, a)
	return []liveOne{{ID: "summary", HTML: fleetpage.ProvisionerSummary(l)}, {ID: "list", HTML: fleetpage.ProvisionerListPart(l)}}, err
}

func (p *Portal) provisionerDrain(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if _, err := p.provisioning().DrainProvisioner(r.Context(), a, chi.URLParam(r, "provisioner")); err != nil {
		return err
	}
	http.Redirect(w, r, "/provisioners", http.StatusSeeOther)
	return nil
}
