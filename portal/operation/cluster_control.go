package operation

import (
	"net/http"

	"muster/app"
	"muster/app/template"
	clusterpage "muster/portal/cluster"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

func (p *Service) clusterPause(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.ToCluster(w, r)(p.Operations.PauseOperation(r.Context(), a, chi.URLParam(r, "id"), 0))
}

func (p *Service) clusterResume(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.ToCluster(w, r)(p.Operations.ResumeOperation(r.Context(), a, chi.URLParam(r, "id"), 0))
}

func (p *Service) nodeRetry(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.ToCluster(w, r)(p.Operations.RetryNode(r.Context(), a, chi.URLParam(r, "id"), chi.URLParam(r, "node")))
}

// clusterCancelAsk asks for confirmation, and whether to roll back.
func (p *Service) clusterCancelAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	c, err := p.cluster.Page.ReadCluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	if !c.Can(app.ActCancel) {
		http.Redirect(w, r, "/clusters/"+c.View.ID, http.StatusSeeOther)
		return nil
	}
	f := p.Frame(r, "Cancel operation on "+c.View.Name)
	f.At = "clusters"
	p.Render(w, r, http.StatusOK, CancelPage(f, c))
	return nil
}

func (p *Service) clusterCancel(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	then := r.PostForm.Get("then")
	if then != "" && then != string(app.FailureRollBack) {
		return &app.Error{Code: app.EInvalid, Field: "then", Message: "Unknown choice.", Hint: "Go back and choose again."}
	}
	return p.ToCluster(w, r)(p.Operations.CancelOperation(r.Context(), a, chi.URLParam(r, "id"), 0, then != ""))
}

// clusterRollBackAsk previews a rollback. What it shows is what runs.
func (p *Service) clusterRollBackAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.askRollBack(w, r, a, http.StatusOK, "", template.KeepTime(r.URL.Query().Get("keep_failed")))
}

func (p *Service) askRollBack(w http.ResponseWriter, r *http.Request, a app.Actor, status int, notice string, keep template.KeepTime) error {
	id := chi.URLParam(r, "id")
	view, err := p.Clusters.Cluster(r.Context(), a, id)
	if err != nil {
		return err
	}
	c := clusterpage.Show{Now: p.Now(), Actor: a, View: view}
	if !c.Can(app.ActRollBack) {
		http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
		return nil
	}
	preview, err := p.RollBacks.PreviewRollBack(r.Context(), a, view.ID, 0, keep)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Roll back "+view.Name)
	f.At = "clusters"
	p.Render(w, r, status, RollBackPage(f, RollBack{View: view, Preview: preview, Notice: notice}))
	return nil
}

func (p *Service) clusterRollBack(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	keep := template.KeepTime(r.PostForm.Get("keep_failed"))
	view, err := p.RollBacks.RollBack(r.Context(), a, chi.URLParam(r, "id"), 0, r.PostForm.Get("plan_hash"), keep)
	if e := app.AsError(err); err != nil && e.Reason == "plan_changed" {
		return p.askRollBack(w, r, a, http.StatusConflict, "The cluster has changed since you opened this page, and nothing was done. This is the current plan.", keep)
	}
	return p.ToCluster(w, r)(view, err)
}
