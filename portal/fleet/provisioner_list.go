package fleet

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

func (p *Service) provisionerList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	l, err := p.provisioners(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Provisioners")
	f.Refresh, f.Live = 10, true
	p.Render(w, r, http.StatusOK, ProvisionerListPage(f, l))
	return nil
}

func (p *Service) provisioners(ctx context.Context, a app.Actor) (ProvisionerList, error) {
	all, err := p.Provisioners.Provisioners(ctx, a)
	return ProvisionerList{Now: p.Now(), Provisioners: all}, err
}

func (p *Service) ProvisionersLive(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	l, err := p.provisioners(ctx, a)
	return []site.LiveOne{{ID: "summary", HTML: ProvisionerSummary(l)}, {ID: "list", HTML: ProvisionerListPart(l)}}, err
}

func (p *Service) provisionerDrain(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if _, err := p.Provisioners.DrainProvisioner(r.Context(), a, chi.URLParam(r, "provisioner")); err != nil {
		return err
	}
	http.Redirect(w, r, "/provisioners", http.StatusSeeOther)
	return nil
}
