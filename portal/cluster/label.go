package cluster

import (
	"context"
	"net/http"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/label"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// labels changes the description and labels of clusters.
type labels struct {
	*site.Site
}

func (p *labels) routes() []site.Route {
	return []site.Route{site.Submit("/clusters/{id}/labels", p.Change)}
}

func (p *labels) operations() []site.Operation {
	return []site.Operation{
		site.Patch("/clusters/{id}/labels", p.APIChange, site.About("Change the description and labels of a cluster")),
	}
}

type labelInput struct {
	site.IDInput
	Body label.Change
}

func (p *labels) APIChange(ctx context.Context, in *labelInput) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.change(ctx, site.Caller(ctx), in.ID, in.Body))
}

func (p *labels) change(ctx context.Context, a app.Actor, id string, change label.Change) (cluster.View, error) {
	c, err := p.Labels.LabelCluster(ctx, a, id, change)
	if err != nil {
		return cluster.View{}, err
	}
	return p.Clusters.Cluster(ctx, a, c.ID)
}

// Change takes the form of a cluster's labels: a line for each, and those that are missing are removed.
func (p *labels) Change(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	set, err := label.Parse(strings.Split(r.PostForm.Get("labels"), "\n"))
	if err != nil {
		return err
	}
	about := oneLineEnd(r.PostForm.Get("description"))
	return p.ToCluster(w, r)(p.change(r.Context(), a, chi.URLParam(r, "id"), label.Change{Description: &about, Set: set, Replace: true}))
}

// oneLineEnd writes line ends as texts from elsewhere have them: forms send two characters.
func oneLineEnd(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// labelText writes labels as the form has them.
func labelText(l map[string]string) string { return strings.Join(label.Texts(l), "\n") }
