package portal

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
	"muster/portal/page"
)

func (p *Portal) provisionerList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	all, err := p.provisioning().Provisioners(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.frame(r, "Provisioners")
	f.At, f.Refresh = "admin", 5
	l := page.ProvisionerList{Now: p.now(), Provisioners: all}
	if r.Header.Get("Muster-Part") == "list" {
		p.render(w, r, http.StatusOK, page.ProvisionerListPart(l))
		return nil
	}
	p.render(w, r, http.StatusOK, page.ProvisionerListPage(f, l))
	return nil
}

func (p *Portal) provisionerDrain(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if _, err := p.provisioning().DrainProvisioner(r.Context(), a, chi.URLParam(r, "provisioner")); err != nil {
		return err
	}
	http.Redirect(w, r, "/provisioners", http.StatusSeeOther)
	return nil
}
