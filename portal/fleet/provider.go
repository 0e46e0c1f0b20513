package fleet

import (
	"context"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/portal/site"
)

// surveyTime limits an account check.
const surveyTime = 2 * time.Minute

// ProviderCheck checks an account now.
func (p *Service) ProviderCheck(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(surveyTime + site.RequestTime))
	name := chi.URLParam(r, "name")
	found, err := p.Installation.CheckProvider(r.Context(), a, name)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, ProviderCheckPage(p.catalog.CatalogFrame(r, "Account check of "+name), found))
	return nil
}

// providerOffers lists the zones, flavors and images of an account.
func (p *Service) providerOffers(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(surveyTime + site.RequestTime))
	name := chi.URLParam(r, "name")
	offers, err := p.Installation.ProviderOffers(r.Context(), a, name)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, ProviderOffersPage(p.catalog.CatalogFrame(r, "Offers of "+name), name, offers))
	return nil
}

type providerName struct {
	Name string `path:"name" maxLength:"255" doc:"Name of the provider in the catalog"`
}

func (p *Service) apiProviderCheck(ctx context.Context, in *providerName) (*site.Body[fleet.ProviderCheck], error) {
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	found, err := p.Installation.CheckProvider(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	found.Findings = site.OrEmpty(found.Findings)
	return &site.Body[fleet.ProviderCheck]{Body: found}, nil
}

func (p *Service) apiProviderOffers(ctx context.Context, in *providerName) (*site.Body[family.Offers], error) {
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	offers, err := p.Installation.ProviderOffers(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[family.Offers]{Body: offers}, nil
}
