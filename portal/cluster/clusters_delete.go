package cluster

import (
	"context"
	"net/http"
	"slices"

	"muster/app"
	"muster/portal/site"
)

// AskDelete shows what deleting the selected clusters would delete.
func (p *lists) AskDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !r.URL.Query().Has("id") {
		http.Redirect(w, r, "/clusters", http.StatusSeeOther)
		return nil
	}
	d, err := p.chosen(r.Context(), a, r.URL.Query()["id"])
	if err != nil {
		return err
	}
	p.showDelete(w, r, d)
	return nil
}

// Delete deletes the clusters one by one; an error of one doesn't stop the others.
func (p *lists) Delete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	d, err := p.chosen(r.Context(), a, r.PostForm["id"])
	if err != nil {
		return err
	}
	d.Done = true
	all := d.Clusters
	d.Clusters = nil
	for _, c := range all {
		if _, err := p.Deletes.DeleteCluster(r.Context(), a, c.ID); err != nil {
			e, _ := site.Known(err)
			if e.Code == app.EInternal {
				p.LogError(r, err, http.StatusInternalServerError)
			}
			d.Not = append(d.Not, Undeletable{ID: c.ID, Name: c.Name, Why: e.Message})
			continue
		}
		d.Clusters = append(d.Clusters, c)
	}
	p.showDelete(w, r, d)
	return nil
}

// chosen finds the clusters by id, and says which can't be deleted and why.
func (p *lists) chosen(ctx context.Context, a app.Actor, ids []string) (DeleteMany, error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	d := DeleteMany{Now: p.Now()}
	found, err := p.Clusters.ClusterPage(ctx, a, app.ClusterFilter{IDs: ids, Deleted: true})
	if err != nil {
		return d, err
	}
	l := List{Actor: a}
	for _, c := range found.Clusters {
		switch {
		case l.MayDelete(c):
			d.Clusters = append(d.Clusters, c)
		case c.Status == app.ClusterDeleted:
			d.Not = append(d.Not, Undeletable{ID: c.ID, Name: c.Name, Why: "Already deleted."})
		case !a.MayIn("DeleteCluster", c.Cluster):
			d.Not = append(d.Not, Undeletable{ID: c.ID, Name: c.Name, Why: "Only " + c.Owner + " and admins can delete this cluster."})
		default:
			d.Not = append(d.Not, Undeletable{ID: c.ID, Name: c.Name, Why: "Already being deleted."})
		}
	}
	return d, nil
}

func (p *lists) showDelete(w http.ResponseWriter, r *http.Request, d DeleteMany) {
	f := p.Frame(r, "Delete clusters")
	f.At = "clusters"
	p.Render(w, r, http.StatusOK, DeleteManyPage(f, d))
}
