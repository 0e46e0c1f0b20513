package operation

import (
	"context"
	"net/http"
	"slices"

	"muster/app"
	"muster/app/template"
	"muster/app/volume"
	clusterpage "muster/portal/cluster"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

func (p *Service) clusterDeleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	view, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	c := clusterpage.Show{Now: p.Now(), Actor: a, View: view}
	if !c.CanDelete() {
		http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
		return nil
	}
	f := p.Frame(r, "Delete "+view.Name)
	f.At = "clusters"
	volumes, err := volumesOf(r.Context(), p.Volumes, a, view.ID)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, DeletePage(f, c, volumes))
	return nil
}

func (p *Service) clusterDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	choice := template.VolumeChoice(r.FormValue("volumes"))
	view, err := p.Deletes.DeleteClusterWith(r.Context(), a, chi.URLParam(r, "id"), choice)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
	return nil
}

// volumesOf returns the volumes that a cluster has now.
func volumesOf(ctx context.Context, all site.Volumes, a app.Actor, cluster string) ([]volume.Volume, error) {
	list, err := all.Volumes(ctx, a, volume.Filter{Cluster: cluster})
	return slices.DeleteFunc(list, func(v volume.Volume) bool { return v.Cluster == "" }), err
}

// keepsAll reports whether all of some volumes stay when their nodes are deleted.
func keepsAll(list []volume.Volume) bool {
	return !slices.ContainsFunc(list, func(v volume.Volume) bool { return v.OnDelete != template.VolumeKeep })
}
