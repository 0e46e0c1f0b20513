package home

import (
	"context"
	"net/http"
	"net/url"

	"muster/app"
	"muster/portal/site"
)

// adminHome says what wants attention, and leads to all of them.
func (p *Service) adminHome(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f := p.AdminFrame(r, "Admin")
	if len(f.Sections()) == 0 {
		return &app.Error{Code: app.EForbidden, Message: "There is nothing for you to look after here.", Hint: "Ask an admin of your tenant."}
	}
	f.Live = true
	p.Render(w, r, http.StatusOK, Admin(f, p.needs(r.Context(), a)))
	return nil
}

func (p *Service) AdminLive(ctx context.Context, a app.Actor, _ *url.URL) ([]site.LiveOne, error) {
	return []site.LiveOne{{ID: "needs", HTML: AdminNeeds(p.needs(ctx, a))}}, nil
}
