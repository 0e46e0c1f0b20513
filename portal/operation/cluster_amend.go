package operation

import (
	"net/http"
	"slices"
	"strconv"

	"muster/app"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// amendShow shows the form for a change, with the preview if the address says enough.
func (p *Service) amendShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !slices.Contains(app.Amendments, app.OperationKind(r.URL.Query().Get("kind"))) {
		return p.amendBack(w, r, a)
	}
	f, err := p.newAmendForm(r.Context(), a, chi.URLParam(r, "id"), r.URL.Query())
	if err != nil {
		return err
	}
	return p.showAmend(w, r, a, f, http.StatusOK)
}

// amendPreview is amendShow for values that don't belong in an address.
func (p *Service) amendPreview(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.postedAmendForm(r, a)
	if err != nil {
		return err
	}
	return p.showAmend(w, r, a, f, http.StatusOK)
}

// amendBack redirects to the section with the possible changes.
func (p *Service) amendBack(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+v.ID+"#change", http.StatusSeeOther)
	return nil
}

// amend applies the previewed change.
func (p *Service) amend(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.postedAmendForm(r, a)
	if err != nil {
		return err
	}
	if !f.whole || f.page.Wrong() {
		return p.showAmend(w, r, a, f, http.StatusUnprocessableEntity)
	}
	if f.ask.PlanHash == "" {
		// Nothing is changed without a preview.
		f.page.Notice = "Review the preview first."
		return p.showAmend(w, r, a, f, http.StatusUnprocessableEntity)
	}
	answer, err := p.Amendments.Amend(r.Context(), a, f.page.View.ID, f.ask)
	e := app.AsError(err)
	switch {
	case err == nil && answer.Operation == 0 && answer.Request != nil:
		http.Redirect(w, r, "/requests/"+strconv.FormatInt(answer.Request.ID, 10), http.StatusSeeOther)
		return nil
	case err == nil:
		http.Redirect(w, r, "/clusters/"+f.page.View.ID, http.StatusSeeOther)
		return nil
	case e.Reason == app.StepUpReason:
		return err // the portal has the actor re-authenticate and come back
	case e.Reason == "plan_changed":
		f.page.Notice = "The cluster has changed since your preview, and nothing was done. This is the current plan."
		return p.showAmend(w, r, a, f, http.StatusConflict)
	case refusal(e):
		f.refused(e)
		return p.showAmend(w, r, a, f, site.StatusOf(err))
	}
	return err
}

// refusal tells whether an error is about the request, and not an internal one.
func refusal(e *app.Error) bool {
	switch e.Code {
	case app.EInvalid, app.EConflict, app.ENoLayout, app.ETooLarge, app.EForbidden, app.EQuota, app.ECapacity, app.ENotFound:
		return true
	}
	return false
}

// showAmend shows the page, with a preview if the form is complete.
func (p *Service) showAmend(w http.ResponseWriter, r *http.Request, a app.Actor, f *changeForm, status int) error {
	if f.whole && !f.page.Wrong() {
		ask := f.ask
		ask.PlanHash = "" // a preview computes the hash
		v, err := p.Amendments.PreviewAmend(r.Context(), a, f.page.View.ID, ask)
		e := app.AsError(err)
		switch {
		case err == nil:
			f.page.Preview = newAmendPreview(v, ask, f.page.View, f.page.Now, f.title)
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
		p.Render(w, r, status, AmendPreviewPart(f.page))
		return nil
	}
	frame := p.Frame(r, AmendKindTitle(f.page.Form.Kind)+" · "+f.page.View.Name)
	frame.At, frame.Htmx, frame.Styles = "clusters", true, []string{"plan.css"}
	p.Render(w, r, status, AmendPage(frame, f.page))
	return nil
}
