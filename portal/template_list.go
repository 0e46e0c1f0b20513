package portal

import (
	"context"
	"net/http"

	"muster/app"
	templatepage "muster/portal/template"
)

// Pricing is a power that a Muster may have: to say what the smallest cluster of each template costs per hour. Those of which that is
// not known are left out.
type Pricing interface {
	TemplatePrices(ctx context.Context, a app.Actor) (map[string]float64, error)
}

// prices are worth less than the page that they stand on, so a failure is only logged.
func (p *Portal) prices(r *http.Request, a app.Actor) map[string]float64 {
	m, ok := p.muster.(Pricing)
	if !ok {
		return nil
	}
	known, err := m.TemplatePrices(r.Context(), a)
	if err != nil {
		p.logError(r, err, http.StatusInternalServerError)
	}
	return known
}

// templateList shows the templates that fit what is looked for; while somebody types, only those.
func (p *Portal) templateList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	c, err := p.muster.Catalog(r.Context(), a)
	if err != nil {
		return err
	}
	l := templatepage.NewList(c, r.URL.Query(), p.prices(r, a), a.May("CreateCluster"))
	if r.Header.Get("HX-Request") != "" {
		p.render(w, r, http.StatusOK, templatepage.ListPart(l))
		return nil
	}
	f := p.frame(r, "Templates")
	f.At, f.Htmx, f.Styles = "templates", true, userStyles
	p.render(w, r, http.StatusOK, templatepage.ListPage(f, l))
	return nil
}

// userStyles are for the pages on which people choose what to create.
var userStyles = []string{"user.css"}
