package fleet

import (
	"net/http"

	"muster/app"

	"github.com/go-chi/chi/v5"
)

func (p *Service) provisionerShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	d, err := p.Provisioners.Provisioner(r.Context(), a, chi.URLParam(r, "provisioner"))
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, d.Name)
	f.Refresh = 10
	p.Render(w, r, http.StatusOK, ProvisionerPage(f, ProvisionerShow{Now: p.Now(), ProvisionerDetail: d}))
	return nil
}
