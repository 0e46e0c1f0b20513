package portal

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	appcluster "muster/app/cluster"
	clusterpage "muster/portal/cluster"
	"muster/portal/page"
)

// clusterShare adds or removes a share, or sets who may see a cluster.
func (p *Portal) clusterShare(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	change := appcluster.SharingChange{Visibility: app.Visibility(r.PostForm.Get("visibility"))}
	m := clusterpage.Manage{Who: strings.TrimSpace(r.PostForm.Get("who"))}
	if m.Who != "" {
		if err := m.Access.UnmarshalText([]byte(r.PostForm.Get("access"))); err != nil {
			return err
		}
		share := appcluster.ShareWith(m.Who)
		share.Access = m.Access
		change.Add = []appcluster.ClusterShare{share}
	}
	if who := r.PostForm.Get("remove"); who != "" {
		change.Remove = []appcluster.ClusterShare{appcluster.ShareWith(who)}
	}
	id := chi.URLParam(r, "id")
	_, err := p.sharing().ShareCluster(r.Context(), a, id, change)
	if app.CodeOf(err) == app.EInvalid {
		e := app.AsError(err)
		m.Wrong = page.Complaint{Message: e.Message, Hint: e.Hint}
		if m.View, err = p.muster.Cluster(r.Context(), a, id); err != nil {
			return err
		}
		return p.showManage(w, r, a, http.StatusUnprocessableEntity, m)
	}
	if err != nil {
		return err
	}
	// Whoever removes itself may see the cluster no more.
	http.Redirect(w, r, p.ifSeen(r, a, id, "/clusters/"+id+"/manage#sharing", "/clusters"), http.StatusSeeOther)
	return nil
}

// ifSeen is where to go after an act that may have ended the access to a cluster.
func (p *Portal) ifSeen(r *http.Request, a app.Actor, cluster, to, otherwise string) string {
	if _, err := p.muster.Cluster(r.Context(), a, cluster); app.CodeOf(err) == app.ENotFound {
		return otherwise
	}
	return to
}

func (p *Portal) sharingDefault(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !a.May("SetDefaultVisibility") {
		return p.sharing().SetDefaultVisibility(r.Context(), a, "") // which says who may
	}
	v, err := p.sharing().DefaultVisibility(r.Context(), a)
	if err != nil {
		return err
	}
	p.render(w, r, http.StatusOK, clusterpage.SharingDefaultPage(p.adminFrame(r, "Sharing"), v, p.sessions.PopString(r.Context(), keyDone)))
	return nil
}

func (p *Portal) sharingDefaultSet(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	if err := p.sharing().SetDefaultVisibility(r.Context(), a, app.Visibility(r.PostForm.Get("visibility"))); err != nil {
		return err
	}
	return p.peopleDone(w, r, "Saved.", "/admin/sharing")
}
