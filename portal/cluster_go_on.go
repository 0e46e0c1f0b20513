package portal

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"muster/app"
	operationpage "muster/portal/operation"
)

// clusterGoOnAsk shows what it would be to go on with the machines that came; what is shown is what runs.
func (p *Portal) clusterGoOnAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.askGoOn(w, r, a, http.StatusOK, "")
}

func (p *Portal) askGoOn(w http.ResponseWriter, r *http.Request, a app.Actor, status int, notice string) error {
	view, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	preview, err := p.goingOn().PreviewGoOn(r.Context(), a, view.ID, 0)
	if err != nil {
		return err
	}
	f := p.frame(r, "Accept fewer nodes · "+view.Name)
	f.At = "clusters"
	p.render(w, r, status, operationpage.GoOnPage(f, operationpage.GoOn{Now: p.now(), View: view, Preview: preview, Notice: notice}))
	return nil
}

func (p *Portal) clusterGoOn(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	view, err := p.goingOn().GoOn(r.Context(), a, chi.URLParam(r, "id"), 0, r.PostForm.Get("plan_hash"), r.PostForm.Get("top_up") == "")
	if e := app.AsError(err); err != nil && e.Reason == "plan_changed" {
		return p.askGoOn(w, r, a, http.StatusConflict, "The cluster has changed since you opened this page, and nothing was done. This is the current plan.")
	}
	return p.toCluster(w, r)(view, err)
}

// clusterTopUp says whether the nodes that a cluster lacks are asked for again, and when.
func (p *Portal) clusterTopUp(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	var o app.TopUpOrder
	switch r.PostForm.Get("do") {
	case "now":
		o.Now = true
	case "off":
		o.Off = true
	case "on":
	default:
		return &app.Error{Code: app.EInvalid, Field: "do", Message: "What is to be done is not known.", Hint: "Go back and choose again."}
	}
	return p.toCluster(w, r)(p.goingOn().SetTopUp(r.Context(), a, chi.URLParam(r, "id"), o))
}
