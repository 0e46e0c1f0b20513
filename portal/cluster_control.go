package portal

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
	clusterpage "muster/portal/cluster"
	operationpage "muster/portal/operation"
)

func (p *Portal) clusterPause(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.toCluster(w, r)(p.muster.PauseOperation(r.Context(), a, chi.URLParam(r, "id"), 0))
}

func (p *Portal) clusterResume(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.toCluster(w, r)(p.muster.ResumeOperation(r.Context(), a, chi.URLParam(r, "id"), 0))
}

func (p *Portal) nodeRetry(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.toCluster(w, r)(p.muster.RetryNode(r.Context(), a, chi.URLParam(r, "id"), chi.URLParam(r, "node")))
}

// clusterCancelAsk asks what shall become of what was made.
func (p *Portal) clusterCancelAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	c, err := p.readCluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	if !c.Can(app.ActCancel) {
		http.Redirect(w, r, "/clusters/"+c.View.ID, http.StatusSeeOther)
		return nil
	}
	f := p.frame(r, "Cancel the "+c.Operation().Kind.Words()+" of "+c.View.Name)
	f.At = "clusters"
	p.render(w, r, http.StatusOK, operationpage.CancelPage(f, c))
	return nil
}

func (p *Portal) clusterCancel(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	then := r.PostForm.Get("then")
	if then != "" && then != string(app.FailureRollBack) {
		return &app.Error{Code: app.EInvalid, Field: "then", Message: "What is to become of what was made is not known.", Hint: "Go back and choose again."}
	}
	return p.toCluster(w, r)(p.muster.CancelOperation(r.Context(), a, chi.URLParam(r, "id"), 0, then != ""))
}

// clusterRollBackAsk shows the plan of a roll-back; what is shown is what runs.
func (p *Portal) clusterRollBackAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.askRollBack(w, r, a, http.StatusOK, "")
}

func (p *Portal) askRollBack(w http.ResponseWriter, r *http.Request, a app.Actor, status int, notice string) error {
	id := chi.URLParam(r, "id")
	view, err := p.muster.Cluster(r.Context(), a, id)
	if err != nil {
		return err
	}
	c := clusterpage.Show{Now: p.now(), Actor: a, View: view}
	if !c.Can(app.ActRollBack) {
		http.Redirect(w, r, "/clusters/"+view.ID, http.StatusSeeOther)
		return nil
	}
	preview, err := p.muster.PreviewRollBack(r.Context(), a, view.ID, 0)
	if err != nil {
		return err
	}
	f := p.frame(r, "Roll back "+view.Name)
	f.At = "clusters"
	p.render(w, r, status, operationpage.RollBackPage(f, operationpage.RollBack{View: view, Preview: preview, Notice: notice}))
	return nil
}

func (p *Portal) clusterRollBack(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	view, err := p.muster.RollBack(r.Context(), a, chi.URLParam(r, "id"), 0, r.PostForm.Get("plan_hash"))
	if e := app.AsError(err); err != nil && e.Reason == "plan_changed" {
		return p.askRollBack(w, r, a, http.StatusConflict, "The cluster has changed since you opened this page, and nothing was done. This is the current plan.")
	}
	return p.toCluster(w, r)(view, err)
}

// toCluster goes back to the cluster that a use case has changed.
func (p *Portal) toCluster(w http.ResponseWriter, r *http.Request) func(app.ClusterView, error) error {
	return func(v app.ClusterView, err error) error {
		if err != nil {
			return err
		}
		http.Redirect(w, r, "/clusters/"+v.ID, http.StatusSeeOther)
		return nil
	}
}
