package cluster

import (
	"net/http"

	"muster/app"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Manage is the page of all that can be done with a cluster besides its plans.
func (p *Service) Manage(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	return p.showManage(w, r, a, http.StatusOK, Manage{View: v})
}

func (p *Service) showManage(w http.ResponseWriter, r *http.Request, a app.Actor, status int, m Manage) error {
	m.Tabs, m.Now, m.Actor = p.ClusterTabs(a, m.View, "manage"), p.Now(), a
	if err := p.manage(r.Context(), a, &m); err != nil {
		return err
	}
	f := p.ClusterFrame(r, "Manage "+m.View.Name)
	p.Render(w, r, status, ManagePage(f, m))
	return nil
}

func (p *Service) Rename(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	return p.ToCluster(w, r)(p.Ownership.RenameCluster(r.Context(), a, chi.URLParam(r, "id"), r.PostForm.Get("name")))
}

func (p *Service) Transfer(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	v, err := p.Ownership.TransferCluster(r.Context(), a, chi.URLParam(r, "id"), r.PostForm.Get("to"))
	if err == nil && !a.MayIn("Cluster", v.Cluster) { // it is private, and another person's now
		http.Redirect(w, r, "/clusters", http.StatusSeeOther)
		return nil
	}
	return p.ToCluster(w, r)(v, err)
}
