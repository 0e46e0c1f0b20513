package node

import (
	"net/http"
	"net/url"

	"muster/app"
	"muster/app/node"
	"muster/portal/page"
)

// shown is how many nodes one page has.
const shown = 100

func (p *Service) list(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	l := List{Query: q, Actor: a, Filter: node.Filter{Text: q.Get("q"), State: q.Get("state"), Cluster: q.Get("cluster"), Owner: q.Get("owner"),
		Template: q.Get("template"), Provider: q.Get("provider"), Hardware: q.Get("hardware"), Image: q.Get("image"), Zone: q.Get("zone"),
		Service: q.Get("service"), After: q.Get("after"), Limit: shown}}
	var err error
	l.Page, err = p.Nodes.Nodes(r.Context(), a, mine(l.Filter, a))
	status := http.StatusOK
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid {
		// An invalid filter is an error above the unfiltered list.
		status, l.Error, l.Query = http.StatusUnprocessableEntity, page.Complaint{Message: e.Message, Hint: e.Hint}, url.Values{}
		l.Filter = node.Filter{Limit: shown}
		l.Page, err = p.Nodes.Nodes(r.Context(), a, l.Filter)
	}
	if err != nil {
		return err
	}
	if c, err := p.Catalogs.Catalog(r.Context(), a); err == nil { // without it, only the choices in use are missing
		l.offer(c)
	}
	f := p.Frame(r, "Nodes")
	f.At = "clusters"
	p.Render(w, r, status, ListPage(f, l))
	return nil
}
