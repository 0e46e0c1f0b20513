package cluster

import (
	"net/http"
	"strconv"

	"muster/app"
	"muster/app/catalog"
	"muster/portal/site"
)

func (p *creates) Create(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	held := catalog.HoldCatalog(r.Context()) // until it's refused: then the catalog may have changed
	c, err := p.Catalogs.Catalog(held, a)
	if err != nil {
		return err
	}
	n := NewClusterForm(c, r.PostForm, a.Groups)
	n.providerValues(p.Values, r.PostForm, false)
	again := func(status int, notice string) error {
		n.View.Notice = notice
		if n.View.Preview == nil {
			if err := n.Preview(r.Context(), p.Creates, a); err != nil {
				return err
			}
		}
		p.show(w, r, status, n)
		return nil
	}
	if len(n.View.Errors) > 0 || n.View.Template == nil {
		return again(http.StatusUnprocessableEntity, "")
	}
	if n.hash == "" {
		// Nothing is created without a preview.
		return again(http.StatusUnprocessableEntity, "Review the plan first, then choose Create cluster.")
	}
	answer, err := p.policy.Submit(held, a, n.request)
	if err == nil {
		to := "/requests/" + strconv.FormatInt(answer.Request.ID, 10)
		if id := answer.Request.Cluster; id != "" && len(answer.Request.Decision.Changes) == 0 {
			to = "/clusters/" + id
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	}
	if app.AsError(err).Reason == "plan_changed" {
		if err := n.Preview(r.Context(), p.Creates, a); err != nil {
			return err
		}
		// A catalog that changed in between has the same reason, but may leave the plan unchanged.
		if v := n.View.Preview; v != nil && v.PlanHash != n.hash {
			return again(http.StatusConflict, "The form or the catalog has changed since your preview, so nothing was created. This is the current plan.")
		}
	}
	status := site.StatusOf(err)
	if err := n.refused(r.Context(), p.Creates, a, err); err != nil {
		return err
	}
	return again(status, "")
}
