package operation

import (
	"net/http"
	"slices"
	"strconv"

	"muster/app"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// updateShow shows the form for a change, with the preview if the address says enough.
func (p *Service) updateShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !slices.Contains(app.Updates, app.OperationKind(r.URL.Query().Get("kind"))) {
		return p.updateBack(w, r, a)
	}
	f, err := p.newUpdateForm(r.Context(), a, chi.URLParam(r, "id"), r.URL.Query())
	if err != nil {
		return err
	}
	return p.showUpdate(w, r, a, f, http.StatusOK)
}

// updatePreview is updateShow for values that don't belong in an address.
func (p *Service) updatePreview(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.postedUpdateForm(r, a)
	if err != nil {
		return err
	}
	return p.showUpdate(w, r, a, f, http.StatusOK)
}

// updateBack redirects to the section with the possible changes.
func (p *Service) updateBack(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+v.ID+"#change", http.StatusSeeOther)
	return nil
}

// update applies the previewed change.
func (p *Service) update(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.postedUpdateForm(r, a)
	if err != nil {
		return err
	}
	if !f.whole || f.page.Wrong() {
		return p.showUpdate(w, r, a, f, http.StatusUnprocessableEntity)
	}
	if f.ask.PlanHash == "" {
		// Nothing is changed without a preview.
		f.page.Notice = "Review the preview first."
		return p.showUpdate(w, r, a, f, http.StatusUnprocessableEntity)
	}
	answer, err := p.Updates.Update(r.Context(), a, f.page.View.ID, f.ask)
	e := app.AsError(err)
	switch {
	case err == nil && answer.Operation == 0 && answer.Request != nil:
		http.Redirect(w, r, "/requests/"+strconv.FormatInt(answer.Request.ID, 10), http.StatusSeeOther)
		return nil
	case err == nil && f.ask.Kind == app.OperationRun:
		http.Redirect(w, r, "/clusters/"+f.page.View.ID+"/runs/"+strconv.FormatInt(answer.Operation, 10), http.StatusSeeOther)
		return nil
	case err == nil:
		http.Redirect(w, r, "/clusters/"+f.page.View.ID, http.StatusSeeOther)
		return nil
	case e.Reason == app.StepUpReason:
		return err // the portal has the actor re-authenticate and come back
	case e.Reason == "plan_changed":
		f.page.Notice = "The cluster has changed since your preview, and nothing was done. This is the current plan."
		return p.showUpdate(w, r, a, f, http.StatusConflict)
	case refusal(e):
		f.refused(e)
		return p.showUpdate(w, r, a, f, site.StatusOf(err))
	}
	return err
}

// refusal reports whether an error is about the request, and not an internal one.
func refusal(e *app.Error) bool {
	switch e.Code {
	case app.EInvalid, app.EConflict, app.ENoLayout, app.ETooLarge, app.EForbidden, app.EQuota, app.ECapacity, app.ENotFound:
		return true
	}
	return false
}

// showUpdate shows the page, with a preview if the form is complete.
func (p *Service) showUpdate(w http.ResponseWriter, r *http.Request, a app.Actor, f *changeForm, status int) error {
	if f.whole && !f.page.Wrong() {
		ask := f.ask
		ask.PlanHash = "" // a preview computes the hash
		v, err := p.Updates.PreviewUpdate(r.Context(), a, f.page.View.ID, ask)
		e := app.AsError(err)
		switch {
		case err == nil:
			f.page.Preview = newUpdatePreview(v, ask, f.page.View, f.page.Now, f.title)
		case refusal(e):
			f.refused(e)
			status = max(status, site.StatusOf(err))
		default:
			return err
		}
	} else if f.page.Wrong() {
		status = max(status, http.StatusUnprocessableEntity)
	}
	if r.Header.Get("HX-Request") != "" {
		p.Render(w, r, status, UpdatePreviewPart(f.page))
		return nil
	}
	frame := p.Frame(r, UpdateKindTitle(f.page.Form.Kind)+" · "+f.page.View.Name)
	frame.At, frame.Htmx, frame.Styles = "clusters", true, []string{"plan.css"}
	p.Render(w, r, status, UpdatePage(frame, f.page))
	return nil
}
