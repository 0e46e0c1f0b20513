package providervalue

import (
	"net/http"
	"net/url"
	"slices"

	"muster/app"
	"muster/app/providervalue"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Show is the page of a cluster's provider values.
type Show struct {
	Cluster app.Cluster
	View    providervalue.View
	Inputs  []Input
	Bad     page.Complaint
	May     bool // change them
}

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.render(w, r, a, http.StatusOK, nil, page.Complaint{})
}

func (p *Service) render(w http.ResponseWriter, r *http.Request, a app.Actor, status int, typed url.Values, bad page.Complaint) error {
	c, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	v, err := p.Values.ClusterProviderValues(r.Context(), a, c.ID)
	if err != nil {
		return err
	}
	s := Show{Cluster: c.Cluster, View: v, Bad: bad, May: a.MayIn("SetClusterProviderValues", c.Cluster)}
	for _, x := range v.Values {
		in := Input{Field: x.Field, Name: "value." + x.Name, Value: x.Value, Kept: x.Sensitive && x.Set}
		if typed != nil && !x.Sensitive {
			in.Value = typed.Get(in.Name)
		}
		s.Inputs = append(s.Inputs, in)
	}
	f := p.Frame(r, "Provider values of "+c.Name)
	f.At = "clusters"
	p.Render(w, r, status, ShowPage(f, s))
	return nil
}

func (p *Service) set(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id := chi.URLParam(r, "id")
	v, err := p.Values.ClusterProviderValues(r.Context(), a, id)
	if err != nil {
		return err
	}
	change := providervalue.Values{}
	for _, x := range v.Values {
		name := "value." + x.Name
		text := r.PostForm.Get(name)
		if !r.PostForm.Has(name) || x.Sensitive && text == "" || !x.Sensitive && text == x.Value {
			continue // kept as it is
		}
		change[x.Name] = text
	}
	if len(change) == 0 {
		return p.render(w, r, a, http.StatusUnprocessableEntity, r.PostForm,
			page.Complaint{Message: "Nothing was changed.", Hint: "Enter the values to replace."})
	}
	_, err = p.Values.SetClusterProviderValues(r.Context(), a, id, change)
	if e := app.AsError(err); err != nil && (slices.Contains([]app.Code{app.EInvalid, app.ETooLarge, app.EConflict}, e.Code) || e.Reason == "own_credentials") {
		return p.render(w, r, a, site.StatusOf(err), r.PostForm, page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+url.PathEscape(id)+"/provider-values", http.StatusSeeOther)
	return nil
}
