package portal

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
	fleetpage "muster/portal/fleet"
)

// Installation is a power that a Muster may have: to tell superadmins how the installation is. A portal without it has no pages of it.
type Installation interface {
	// Settings never holds a secret.
	Settings(ctx context.Context, a app.Actor) (fleet.ServerFacts, error)
	ProviderHealth(ctx context.Context, a app.Actor) ([]fleet.ProviderHealth, error)
	// Queues gives all tenants in which something is under way.
	Queues(ctx context.Context, a app.Actor) (execution.Queues, error)
}

func (p *Portal) installation() Installation {
	m, _ := p.muster.(Installation)
	return m
}

func (p *Portal) settingsShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.installation().Settings(r.Context(), a)
	if err != nil {
		return err
	}
	p.render(w, r, http.StatusOK, fleetpage.SettingsPage(p.adminFrame(r, "Settings"), fleetpage.Settings{Now: p.now(), Facts: f, Set: r.URL.Query().Get("set") == "true"}))
	return nil
}

func (p *Portal) providerHealthShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	all, err := p.installation().ProviderHealth(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Provider health")
	f.Live, f.Refresh = true, 30
	p.render(w, r, http.StatusOK, fleetpage.ProviderHealthPage(f, fleetpage.ProviderHealth{Now: p.now(), Accounts: all}))
	return nil
}

func (p *Portal) providerHealthLive(ctx context.Context, a app.Actor, _ *url.URL) ([]liveOne, error) {
	all, err := p.installation().ProviderHealth(ctx, a)
	return []liveOne{{ID: "accounts", HTML: fleetpage.ProviderHealthPart(fleetpage.ProviderHealth{Now: p.now(), Accounts: all})}}, err
}

func (p *Portal) apiSettings(ctx context.Context, _ *struct{}) (*body[fleet.ServerFacts], error) {
	f, err := p.installation().Settings(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[fleet.ServerFacts]{f}, nil
}

type providerHealthList struct {
	Providers []fleet.ProviderHealth `json:"providers" nullable:"false"`
}

func (p *Portal) apiProviderHealth(ctx context.Context, _ *struct{}) (*body[providerHealthList], error) {
	all, err := p.installation().ProviderHealth(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[providerHealthList]{providerHealthList{orEmpty(all)}}, nil
}
