package operation

import (
	"net/http"
	"slices"
	"strconv"

	"muster/app"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// amendShow shows what an amendment would do that an address asks for, or the form to ask for one.
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

// amendPreview is amendShow for what does not belong into an address.
func (p *Service) amendPreview(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.postedAmendForm(r, a)
	if err != nil {
		return err
	}
	return p.showAmend(w, r, a, f, http.StatusOK)
}

// amendBack leads to where amendments are asked for.
func (p *Service) amendBack(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+v.ID+"#change", http.StatusSeeOther)
	return nil
}

// amend does what was shown.
func (p *Service) amend(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.postedAmendForm(r, a)
	if err != nil {
		return err
	}
	if !f.whole || f.page.Wrong() {
		return p.showAmend(w, r, a, f, http.StatusUnprocessableEntity)
	}
	if f.ask.PlanHash == "" {
		// Nothing is done that no one has seen.
		f.page.Notice = "Have a look at what it would do first."
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
		return err // the portal asks for the proof, and leads back
	case e.Reason == "plan_changed":
		f.page.Notice = "Something has changed since you looked, and nothing was done. This is what would be done now."
		return p.showAmend(w, r, a, f, http.StatusConflict)
	case refusal(e):
		f.refused(e)
		return p.showAmend(w, r, a, f, site.StatusOf(err))
	}
	return err
}

// refusal tells whether an error is an answer to what was asked, and not trouble of ours.
func refusal(e *app.Error) bool {
	switch e.Code {
	case app.EInvalid, app.EConflict, app.ENoLayout, app.ETooLarge, app.EForbidden, app.EQuota, app.ECapacity, app.ENotFound:
		return true
	}
	return false
}

// showAmend works out what is asked, where it is asked as a whole, and shows the page.
func (p *Service) showAmend(w http.ResponseWriter, r *http.Request, a app.Actor, f *changeForm, status int) error {
	if f.whole && !f.page.Wrong() {
		ask := f.ask
		ask.PlanHash = "" // a preview finds the hash; it does not keep to one
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
