package portal

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"muster/app"
	clusterpage "muster/portal/cluster"
	operationpage "muster/portal/operation"
	"muster/portal/page"
)

// amendShow shows what an amendment would do that an address asks for, or the form to ask for one.
func (p *Portal) amendShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
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
func (p *Portal) amendPreview(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.postedAmendForm(r, a)
	if err != nil {
		return err
	}
	return p.showAmend(w, r, a, f, http.StatusOK)
}

// amendBack leads to where amendments are asked for.
func (p *Portal) amendBack(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.muster.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+v.ID+"#change", http.StatusSeeOther)
	return nil
}

// amend does what was shown.
func (p *Portal) amend(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	f, err := p.postedAmendForm(r, a)
	if err != nil {
		return err
	}
	if !f.whole || f.page.Wrong() {
		return p.showAmend(w, r, a, f, http.StatusUnprocessableEntity)
	}
	if f.ask.PlanHash == "" {
		// Nothing is done that nobody has seen.
		f.page.Notice = "Have a look at what it would do first."
		return p.showAmend(w, r, a, f, http.StatusUnprocessableEntity)
	}
	answer, err := p.amending().Amend(r.Context(), a, f.page.View.ID, f.ask)
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
		return p.showAmend(w, r, a, f, statusOf(err))
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
func (p *Portal) showAmend(w http.ResponseWriter, r *http.Request, a app.Actor, f *amendForm, status int) error {
	if f.whole && !f.page.Wrong() {
		ask := f.ask
		ask.PlanHash = "" // a preview finds the hash; it does not keep to one
		v, err := p.amending().PreviewAmend(r.Context(), a, f.page.View.ID, ask)
		e := app.AsError(err)
		switch {
		case err == nil:
			f.page.Preview = operationpage.NewAmendPreview(v, ask, f.page.View, f.page.Now, f.title)
		case refusal(e):
			f.refused(e)
			status = max(status, statusOf(err))
		default:
			return err
		}
	} else if f.page.Wrong() {
		status = max(status, http.StatusUnprocessableEntity)
	}
	if r.Header.Get("HX-Request") != "" {
		p.render(w, r, status, operationpage.AmendPreviewPart(f.page))
		return nil
	}
	frame := p.frame(r, operationpage.AmendKindTitle(f.page.Form.Kind)+" · "+f.page.View.Name)
	frame.At, frame.Htmx, frame.Styles = "clusters", true, []string{"plan.css"}
	p.render(w, r, status, operationpage.AmendPage(frame, f.page))
	return nil
}

// How long is looked for what a cluster's page suggests, and how big a cluster may be for that.
const (
	suggestTime = 2 * time.Second
	suggestSize = 200
)

// changePanel gives what can be asked of a cluster; nil for nothing.
func (p *Portal) changePanel(ctx context.Context, a app.Actor, v app.ClusterView) (*clusterpage.ChangePanel, error) {
	if p.amending() == nil || v.Status == app.ClusterDeleted || !a.MayIn("AmendServices", v.Cluster) {
		return nil, nil
	}
	c, err := p.muster.Catalog(ctx, a)
	if err != nil {
		return nil, err
	}
	n := &clusterForm{catalog: c}
	panel := clusterpage.NewChangePanel(v, c.Templates[v.Template], addable(n, v, nil))
	panel.Use = !a.MayIn("Amend", v.Cluster)
	op := (*app.Operation)(nil)
	if len(v.Operations) > 0 {
		op = &v.Operations[0]
	}
	switch {
	case v.Status == app.ClusterPending || op != nil && !op.Status.Ended():
		panel.Busy = true
		return panel, nil
	case v.Status != app.ClusterActive && v.Status != app.ClusterFailed:
		return nil, nil
	}
	if v.Size > suggestSize || panel.Use {
		return panel, nil
	}
	// Suggestions are worth a moment, and no error.
	ctx, cancel := context.WithTimeout(ctx, suggestTime)
	defer cancel()
	if u, err := p.amending().PreviewAmend(ctx, a, v.ID, app.Amendment{Kind: app.OperationUpgrade}); err == nil && !u.Nothing {
		panel.Newer = page.Count(len(u.Changes), "change") + ", " + page.Count(u.Plan.Acts(), "step") + "."
	}
	if u, err := p.amending().PreviewAmend(ctx, a, v.ID, app.Amendment{Kind: app.OperationRepair}); err == nil && !u.Nothing {
		for _, n := range u.Nodes {
			if n.Change == app.NodeReplaced {
				panel.Sick = append(panel.Sick, n.Name)
			}
		}
	}
	return panel, nil
}
