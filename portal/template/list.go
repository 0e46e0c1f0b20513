package template

import (
	"net/http"

	"muster/app"
)

// The page works without prices, so an error is only logged.
func (p *Service) Prices(r *http.Request, a app.Actor) map[string]float64 {
	known, err := p.Templates.TemplatePrices(r.Context(), a)
	if err != nil {
		p.LogError(r, err, http.StatusInternalServerError)
	}
	return known
}

// List shows templates; while someone types a search, only the results.
func (p *Service) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	c, err := p.Catalogs.Catalog(r.Context(), a)
	if err != nil {
		return err
	}
	l := newList(c, r.URL.Query(), p.Prices(r, a), a.May("CreateCluster"))
	if r.Header.Get("HX-Request") != "" {
		p.Render(w, r, http.StatusOK, ListPart(l))
		return nil
	}
	f := p.Frame(r, "Templates")
	f.At, f.Htmx, f.Styles = "templates", true, UserStyles
	p.Render(w, r, http.StatusOK, ListPage(f, l))
	return nil
}

// UserStyles are for pages where people choose what to create.
var UserStyles = []string{"user.css"}
