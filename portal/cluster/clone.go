package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/cluster"
	"muster/portal/page"
	"muster/portal/policy"
	"muster/portal/site"
)

// clones are the pages to clone, export and compare clusters.
type clones struct {
	*site.Site
}

func (p *clones) routes() []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/clone", p.Ask),
		site.Submit("/clusters/{id}/clone", p.Clone),
		site.Show("/clusters/{id}/diff", p.Diff),
		site.Show("/clusters/{id}/spec", p.Spec),
	}
}

func (p *clones) operations() []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/spec", p.APISpec, site.About("Export a cluster's spec")),
		site.Get("/clusters/{id}/clone", p.APIPreview, site.About("Preview a clone of a cluster")),
		site.Post("/clusters/{id}/clone", p.APIClone, site.About("Clone a cluster, or request a clone if approval is required"), policy.EitherWay),
		site.Get("/diff", p.APIDiff, site.About("Compare two clusters, or two states of one")),
	}
}

func (p *clones) APISpec(ctx context.Context, in *site.IDInput) (*site.Body[cluster.SpecExport], error) {
	e, err := p.Specs.ExportCluster(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	e.Omitted, e.Groups = site.OrEmpty(e.Omitted), site.OrEmpty(e.Groups)
	return &site.Body[cluster.SpecExport]{Body: e}, nil
}

func (p *clones) APIPreview(ctx context.Context, in *cloneQuery) (*site.Body[cluster.Preview], error) {
	v, err := p.Creates.PreviewClone(ctx, site.Caller(ctx), in.ID, in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[cluster.Preview]{Body: v}, nil
}

func (p *clones) APIClone(ctx context.Context, in *cloneInput) (*policy.CreateAnswer, error) {
	answer, err := p.Creates.CloneCluster(ctx, site.Caller(ctx), in.ID, in.Body.Name, in.Body.PlanHash)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	if id := answer.Request.Cluster; id != "" {
		v, err := p.Clusters.Cluster(ctx, site.Caller(ctx), id)
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		v.Nodes, v.Operations, v.Links = site.OrEmpty(v.Nodes), site.OrEmpty(v.Operations), site.OrEmpty(v.Links)
		return &policy.CreateAnswer{Status: http.StatusCreated, Location: "/api/v1/clusters/" + v.ID, Body: &v}, nil
	}
	return &policy.CreateAnswer{Status: http.StatusAccepted, Location: fmt.Sprintf("/api/v1/requests/%d", answer.Request.ID), Body: answer.Request}, nil
}

func (p *clones) APIDiff(ctx context.Context, in *diffInput) (*site.Body[cluster.Diff], error) {
	d, err := p.Specs.DiffClusters(ctx, site.Caller(ctx), in.A, in.B)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[cluster.Diff]{Body: d}, nil
}

// Ask previews a clone.
func (p *clones) Ask(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.ask(w, r, a, http.StatusOK, r.URL.Query().Get("name"), "")
}

func (p *clones) ask(w http.ResponseWriter, r *http.Request, a app.Actor, status int, name, notice string) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	found, err := p.Creates.PreviewClone(r.Context(), a, v.ID, name)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Clone "+v.Name)
	f.At = "clusters"
	p.Render(w, r, status, ClonePage(f, Clone{View: v, Name: name, Preview: found, Notice: notice}))
	return nil
}

func (p *clones) Clone(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	name := r.PostForm.Get("name")
	answer, err := p.Creates.CloneCluster(r.Context(), a, chi.URLParam(r, "id"), name, r.PostForm.Get("plan_hash"))
	if e := app.AsError(err); err != nil && e.Reason == "plan_changed" {
		return p.ask(w, r, a, http.StatusConflict, name, "The catalog has changed since your preview, so nothing was created. This is the current plan.")
	}
	if err != nil {
		return err
	}
	to := fmt.Sprintf("/requests/%d", answer.Request.ID)
	if id := answer.Request.Cluster; id != "" {
		to = "/clusters/" + id
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// Diff compares a cluster with another, or with its own state after an operation. Without either, it shows the form.
func (p *clones) Diff(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	f := p.Frame(r, "Compare "+v.Name)
	f.At = "clusters"
	with := strings.TrimSpace(r.URL.Query().Get("with"))
	if with == "" {
		m, status := Manage{View: v, Now: p.Now(), Actor: a}, http.StatusOK
		if r.URL.Query().Has("with") {
			m.Wrong, status = page.Complaint{Message: "Enter the cluster to compare " + v.Name + " with."}, http.StatusUnprocessableEntity
		}
		p.Render(w, r, status, ComparePage(f, m))
		return nil
	}
	d, err := p.Specs.DiffClusters(r.Context(), a, with, v.ID)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, DiffPage(f, Diff{View: v, Diff: d}))
	return nil
}

// Spec sends the spec as a file for the create command.
func (p *clones) Spec(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	e, err := p.Specs.ExportCluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(e.Spec, "", "  ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(e.Spec.Name+".json"))
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(text, '\n'))
	return nil
}
