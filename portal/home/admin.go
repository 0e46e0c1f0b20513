package home

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
	"muster/portal/site"
)

// adminHome shows what needs attention, and links to all admin pages.
func (p *Service) adminHome(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f := p.AdminFrame(r, "Admin")
	if len(f.Sections()) == 0 {
		return &app.Error{Code: app.EForbidden, Message: "You don't have access to any admin pages.", Hint: "Ask an admin of your tenant for access."}
	}
	if r.Header.Get("Muster-Part") != "" {
		p.Render(w, r, http.StatusOK, AdminNeeds(p.needs(r.Context(), a, true), false))
		return nil
	}
	f.Live = true
	later := a.May("Quotas") && p.quota.Later(r, a)
	if later {
		f.Scripts = []string{"home.js"}
	}
	p.Render(w, r, http.StatusOK, Admin(f, p.needs(r.Context(), a, !later), later))
	return nil
}

func (p *Service) AdminLive(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	return []site.LiveOne{{ID: "needs", HTML: AdminNeeds(p.needs(ctx, a, true), false)}}, nil
}
