package cluster

import (
	"net/http"
	"strings"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Share adds or removes a share, or sets the visibility of a cluster.
func (p *managePages) Share(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	change := appcluster.SharingChange{Visibility: app.Visibility(r.PostForm.Get("visibility"))}
	m := Manage{Who: strings.TrimSpace(r.PostForm.Get("who"))}
	if m.Who != "" {
		if err := m.Access.UnmarshalText([]byte(r.PostForm.Get("access"))); err != nil {
			return err
		}
		share := appcluster.ShareWith(m.Who)
		share.Access = m.Access
		change.Add = []appcluster.Share{share}
	}
	if who := r.PostForm.Get("remove"); who != "" {
		change.Remove = []appcluster.Share{appcluster.ShareWith(who)}
	}
	id := chi.URLParam(r, "id")
	_, err := p.Sharing.ShareCluster(r.Context(), a, id, change)
	if app.CodeOf(err) == app.EInvalid {
		e := app.AsError(err)
		m.Wrong = page.Complaint{Message: e.Message, Hint: e.Hint}
		if m.View, err = p.Clusters.Cluster(r.Context(), a, id); err != nil {
			return err
		}
		return p.show(w, r, a, http.StatusUnprocessableEntity, m)
	}
	if err != nil {
		return err
	}
	// People who remove themselves may not see the cluster any more.
	http.Redirect(w, r, ifSeen(p.Site, r, a, id, "/clusters/"+id+"/manage#sharing", "/clusters"), http.StatusSeeOther)
	return nil
}

// ifSeen is where to redirect after an act that may have removed the actor's own access to a cluster.
func ifSeen(p *site.Site, r *http.Request, a app.Actor, cluster, to, otherwise string) string {
	if _, err := p.Clusters.Cluster(r.Context(), a, cluster); app.CodeOf(err) == app.ENotFound {
		return otherwise
	}
	return to
}

// sharing are the pages for a cluster's shares, and for the tenant's default visibility.
type sharing struct {
	*site.Site
}

func (p *sharing) routes() []site.Route {
	return []site.Route{
		site.Show("/admin/sharing", p.ShowDefault),
		site.Submit("/admin/sharing", p.SetDefault),
	}
}

func (p *sharing) operations() []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/sharing", p.APIShow, site.About("Show who has access to a cluster")),
		site.Put("/clusters/{id}/sharing", p.APIChange, site.About("Share a cluster with users and groups, or set its visibility")),
		site.Get("/cluster-defaults", p.APIDefaults, site.About("Show the default visibility of new clusters")),
		site.Put("/cluster-defaults", p.APISetDefaults, site.About("Set the default visibility of new clusters (admins)")),
	}
}

func (p *sharing) ShowDefault(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !a.May("SetDefaultVisibility") {
		return p.Sharing.SetDefaultVisibility(r.Context(), a, "") // for its error, which names the roles
	}
	v, err := p.Sharing.DefaultVisibility(r.Context(), a)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, SharingDefaultPage(p.AdminFrame(r, "Sharing"), v, p.Sessions.PopString(r.Context(), site.KeyDone)))
	return nil
}

func (p *sharing) SetDefault(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	if err := p.Sharing.SetDefaultVisibility(r.Context(), a, app.Visibility(r.PostForm.Get("visibility"))); err != nil {
		return err
	}
	return p.PeopleDone(w, r, "Saved.", "/admin/sharing")
}
