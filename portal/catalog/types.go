package catalog

import (
	"net/http"

	"muster/app"

	"github.com/go-chi/chi/v5"
)

func (p *Service) typeList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	all, err := p.Catalogs.CatalogFamilies(r.Context(), a)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, TypeListPage(p.AdminFrame(r, "Types"), all))
	return nil
}

func (p *Service) typeShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	of := chi.URLParam(r, "family")
	d, err := p.typeOf(r.Context(), a, of, chi.URLParam(r, "type"))
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, TypePage(p.AdminFrame(r, d.Name), TypeShow{Family: of, Descriptor: d}))
	return nil
}
