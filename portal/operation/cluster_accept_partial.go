package operation

import (
	"net/http"

	"muster/app"
	"muster/app/operation"
	"muster/app/template"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// clusterAcceptPartialAsk previews accepting a partial result. What it shows is what runs.
func (p *Service) clusterAcceptPartialAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.askAcceptPartial(w, r, a, http.StatusOK, "", template.KeepTime(r.URL.Query().Get("keep_failed")))
}

func (p *Service) askAcceptPartial(w http.ResponseWriter, r *http.Request, a app.Actor, status int, notice string, keep template.KeepTime) error {
	view, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	preview, err := p.Partials.PreviewAcceptPartial(r.Context(), a, view.ID, 0, keep)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Accept partial result · "+view.Name)
	f.At = "clusters"
	p.Render(w, r, status, AcceptPartialPage(f, AcceptPartial{Now: p.Now(), View: view, Preview: preview, Notice: notice}))
	return nil
}

func (p *Service) clusterAcceptPartial(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	how := template.PartialOverride{NoBackfill: r.PostForm.Get("backfill") == "", KeepFailed: template.KeepTime(r.PostForm.Get("keep_failed"))}
	view, err := p.Partials.AcceptPartial(r.Context(), a, chi.URLParam(r, "id"), 0, r.PostForm.Get("plan_hash"), how)
	if e := app.AsError(err); err != nil && e.Reason == "plan_changed" {
		return p.askAcceptPartial(w, r, a, http.StatusConflict, "The cluster has changed since you opened this page, and nothing was done. This is the current plan.", how.KeepFailed)
	}
	return p.ToCluster(w, r)(view, err)
}

// clusterBackfill starts, stops or resumes the backfill of missing nodes.
func (p *Service) clusterBackfill(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	var o operation.BackfillOrder
	switch r.PostForm.Get("do") {
	case "now":
		o.Now = true
	case "off":
		o.Off = true
	case "on":
	default:
		return &app.Error{Code: app.EInvalid, Field: "do", Message: "Unknown action.", Hint: "Go back and choose again."}
	}
	return p.ToCluster(w, r)(p.Backfills.SetBackfill(r.Context(), a, chi.URLParam(r, "id"), o))
}
