package cluster

import (
	"net/http"
	"time"

	"muster/app"
	"muster/app/template"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// leasePages are the pages to extend leases.
type leasePages struct {
	*site.Site
}

func (p *leasePages) routes() []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/extend", p.AskExtend),
		site.Submit("/clusters/{id}/lease", p.Extend),
	}
}

func (p *leasePages) operations() []site.Operation { return nil } // see portal/quota

// Extend changes a lease's expiry.
func (p *leasePages) Extend(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	ask, err := leaseRequest(r)
	if err != nil {
		return err
	}
	o, err := p.Leases.ExtendLease(r.Context(), a, chi.URLParam(r, "id"), ask)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+o.Cluster+"#lease", http.StatusSeeOther)
	return nil
}

// leaseRequest reads the form.
func leaseRequest(r *http.Request) (ask template.LeaseRequest, err error) {
	f := r.PostForm
	ask.Reason = f.Get("reason")
	switch {
	case f.Get("forever") != "":
		ask.Forever = true
	case f.Get("by") != "":
		ask.By, err = template.ParseLength(f.Get("by"))
	default:
		var zone *time.Location
		if zone, err = template.ParseZone(f.Get("zone")); err == nil {
			ask.Until, err = template.ParseMomentIn(f.Get("until"), zone)
		}
	}
	return ask, err
}

// AskExtend is the page that a warning links to, with one button. Opening it changes nothing.
func (p *leasePages) AskExtend(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	o, moved, err := p.Leases.LeaseLink(r.Context(), a, chi.URLParam(r, "id"), q.Get("end"), q.Get("sig"))
	if err != nil {
		return err
	}
	f := p.Frame(r, "Extend lease of "+o.Name)
	f.At = "clusters"
	may := a.MayIn("ExtendLease", app.Cluster{ID: o.Cluster, Owner: o.Owner, Access: o.Access, Lock: o.Lock})
	p.Render(w, r, http.StatusOK, LeaseExtendPage(f, LeaseBox{Now: p.Now(), Outlook: o, May: may}, moved))
	return nil
}
