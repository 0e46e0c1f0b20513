package cluster

import (
	"net/http"

	"muster/app"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// managePages are the pages to rename, transfer and delete a cluster.
type managePages struct {
	*site.Site
}

func (p *managePages) routes() []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/manage", p.Show),
		site.Submit("/clusters/{id}/rename", p.Rename),
		site.Submit("/clusters/{id}/transfer", p.Transfer),
	}
}

func (p *managePages) operations() []site.Operation {
	return []site.Operation{
		site.Delete("/clusters/{id}", p.APIDelete, site.About("Delete a cluster"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/resume", p.APIResume, site.About("Resume a failed operation"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/rename", p.APIRename, site.About("Rename a cluster"), site.Answers(http.StatusOK)),
		site.Post("/clusters/{id}/transfer", p.APITransfer, site.About("Transfer ownership of a cluster"), site.Answers(http.StatusOK)),
	}
}

// Show is the page of a cluster's settings.
func (p *managePages) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	return p.show(w, r, a, http.StatusOK, Manage{View: v})
}

func (p *managePages) show(w http.ResponseWriter, r *http.Request, a app.Actor, status int, m Manage) error {
	m.Tabs, m.Now, m.Actor = p.ClusterTabs(a, m.View, "manage"), p.Now(), a
	if err := p.read(r.Context(), a, &m); err != nil {
		return err
	}
	f := p.ClusterFrame(r, "Manage "+m.View.Name)
	p.Render(w, r, status, ManagePage(f, m))
	return nil
}

func (p *managePages) Rename(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	return p.ToCluster(w, r)(p.Ownership.RenameCluster(r.Context(), a, chi.URLParam(r, "id"), r.PostForm.Get("name")))
}

func (p *managePages) Transfer(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	v, err := p.Ownership.TransferCluster(r.Context(), a, chi.URLParam(r, "id"), r.PostForm.Get("to"))
	if err == nil && !a.MayIn("Cluster", v.Cluster) { // it's private, and now someone else's
		http.Redirect(w, r, "/clusters", http.StatusSeeOther)
		return nil
	}
	return p.ToCluster(w, r)(v, err)
}
