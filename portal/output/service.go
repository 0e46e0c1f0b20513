package output

import (
	"context"
	"mime"
	"net/http"
	"slices"

	"muster/app"
	"muster/app/output"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Service serves the pages and REST operations of outputs.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/outputs", p.show),
		site.Submit("/clusters/{id}/outputs", p.reveal),
		site.Submit("/clusters/{id}/outputs/download", p.download),
	}
}

// Operations are the REST operations.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/outputs", p.apiList, site.About("List a cluster's outputs, without secret values")),
		site.Post("/clusters/{id}/outputs/reveal", p.apiReveal, site.Answers(http.StatusOK), site.Unkept,
			site.About("Get a cluster's outputs with secret values; the audit log says which")),
	}
}

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	list, err := p.Outputs.ClusterOutputs(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	return p.page(w, r, a, list, "")
}

// reveal shows one secret value. It isn't kept by browsers, and gone with the next page.
func (p *Service) reveal(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	shown, err := p.named(r, a)
	if err != nil {
		return err
	}
	list, err := p.Outputs.ClusterOutputs(r.Context(), a, shown.Cluster)
	if err != nil {
		return err
	}
	for i, o := range list.Outputs {
		if o.Name == shown.Outputs[0].Name {
			list.Outputs[i] = shown.Outputs[0]
		}
	}
	return p.page(w, r, a, list, shown.Outputs[0].Name)
}

// named returns the output that a form names, with its value.
func (p *Service) named(r *http.Request, a app.Actor) (output.List, error) {
	if err := site.Form(r); err != nil {
		return output.List{}, err
	}
	return p.Outputs.RevealOutputs(r.Context(), a, chi.URLParam(r, "id"), []string{r.PostForm.Get("name")})
}

func (p *Service) page(w http.ResponseWriter, r *http.Request, a app.Actor, list output.List, revealed string) error {
	view, err := p.Clusters.Cluster(r.Context(), a, list.Cluster)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	s := Page{List: list, Cluster: view.Cluster, Tabs: p.ClusterTabs(a, view, "overview"), Revealed: revealed}
	p.Render(w, r, http.StatusOK, ShowPage(p.ClusterFrame(r, "Outputs of "+view.Name), s))
	return nil
}

// file returns the output to download, by the rule by which the page shows it: a secret one to those who can use the cluster, others to all who
// see it.
func (p *Service) file(r *http.Request, a app.Actor) (output.Output, error) {
	if err := site.Form(r); err != nil {
		return output.Output{}, err
	}
	list, err := p.Outputs.ClusterOutputs(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return output.Output{}, err
	}
	name := r.PostForm.Get("name")
	if i := slices.IndexFunc(list.Outputs, func(o output.Output) bool { return o.Name == name }); i >= 0 && !list.Outputs[i].Secret {
		return list.Outputs[i], nil
	}
	if list, err = p.named(r, a); err != nil {
		return output.Output{}, err
	}
	return list.Outputs[0], nil
}

func (p *Service) download(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	o, err := p.file(r, a)
	if err != nil {
		return err
	}
	if o.Missing != "" {
		return &app.Error{Code: app.EConflict, Message: "Output " + o.Name + " has no value yet.", Hint: o.Missing}
	}
	name := o.File
	if name == "" {
		name = o.Name + ".txt"
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	_, err = w.Write([]byte(o.Value))
	return err
}

func (p *Service) apiList(ctx context.Context, in *site.IDInput) (*site.Body[output.List], error) {
	list, err := p.Outputs.ClusterOutputs(ctx, site.Caller(ctx), in.ID)
	return p.answer(ctx, list, err)
}

type revealInput struct {
	site.IDInput
	Body struct {
		Names []string `json:"names,omitempty" maxItems:"50" maxLength:"64" doc:"Names of outputs; all by default"`
	}
}

func (p *Service) apiReveal(ctx context.Context, in *revealInput) (*site.Body[output.List], error) {
	list, err := p.Outputs.RevealOutputs(ctx, site.Caller(ctx), in.ID, in.Body.Names)
	return p.answer(ctx, list, err)
}

func (p *Service) answer(ctx context.Context, list output.List, err error) (*site.Body[output.List], error) {
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[output.List]{Body: list}, nil
}
