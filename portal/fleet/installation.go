package fleet

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
	"muster/app/fleet"
	"muster/portal/site"
)

func (p *Service) settingsShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.Installation.Settings(r.Context(), a)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, SettingsPage(p.AdminFrame(r, "Settings"), Settings{Now: p.Now(), Facts: f, Set: r.URL.Query().Get("set") == "true"}))
	return nil
}

func (p *Service) providerHealthShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	all, err := p.Installation.ProviderHealth(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Provider health")
	f.Live, f.Refresh = true, 30
	p.Render(w, r, http.StatusOK, ProviderHealthPage(f, ProviderHealth{Now: p.Now(), Accounts: all}))
	return nil
}

func (p *Service) ProviderHealthLive(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	all, err := p.Installation.ProviderHealth(ctx, a)
	return []site.LiveOne{{ID: "accounts", HTML: ProviderHealthPart(ProviderHealth{Now: p.Now(), Accounts: all})}}, err
}

func (p *Service) apiSettings(ctx context.Context, _ *struct{}) (*site.Body[fleet.ServerInfo], error) {
	f, err := p.Installation.Settings(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[fleet.ServerInfo]{Body: f}, nil
}

type providerHealthList struct {
	Providers []fleet.ProviderHealth `json:"providers" nullable:"false"`
}

func (p *Service) apiProviderHealth(ctx context.Context, _ *struct{}) (*site.Body[providerHealthList], error) {
	all, err := p.Installation.ProviderHealth(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[providerHealthList]{Body: providerHealthList{site.OrEmpty(all)}}, nil
}
