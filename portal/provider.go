package portal

import (
	"context"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/fleet"
	fleetpage "muster/portal/fleet"
)

// Accounting is a power that a Muster may have: to ask accounts of providers what they would do. A portal without it has no pages of it.
type Accounting interface {
	CheckProvider(ctx context.Context, a app.Actor, name string) (fleet.ProviderCheck, error)
	ProviderOffers(ctx context.Context, a app.Actor, name string) (app.Offers, error)
}

func (p *Portal) accounting() Accounting {
	m, _ := p.muster.(Accounting)
	return m
}

// surveyTime is how long a cloud may take to tell about an account.
const surveyTime = 2 * time.Minute

// providerCheck looks at an account now, and says what it found.
func (p *Portal) providerCheck(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(surveyTime + requestTime))
	name := chi.URLParam(r, "name")
	found, err := p.accounting().CheckProvider(r.Context(), a, name)
	if err != nil {
		return err
	}
	p.render(w, r, http.StatusOK, fleetpage.ProviderCheckPage(p.catalogFrame(r, "Check of "+name), found))
	return nil
}

// providerOffers tells what an account can make.
func (p *Portal) providerOffers(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(surveyTime + requestTime))
	name := chi.URLParam(r, "name")
	offers, err := p.accounting().ProviderOffers(r.Context(), a, name)
	if err != nil {
		return err
	}
	p.render(w, r, http.StatusOK, fleetpage.ProviderOffersPage(p.catalogFrame(r, "Offers of "+name), name, offers))
	return nil
}

type providerName struct {
	Name string `path:"name" maxLength:"255" doc:"The provider, by its name in the catalog"`
}

func (p *Portal) apiProviderCheck(ctx context.Context, in *providerName) (*body[fleet.ProviderCheck], error) {
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	found, err := p.accounting().CheckProvider(ctx, caller(ctx), in.Name)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	found.Findings = orEmpty(found.Findings)
	return &body[fleet.ProviderCheck]{found}, nil
}

func (p *Portal) apiProviderOffers(ctx context.Context, in *providerName) (*body[app.Offers], error) {
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	offers, err := p.accounting().ProviderOffers(ctx, caller(ctx), in.Name)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.Offers]{offers}, nil
}
