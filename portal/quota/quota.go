package quota

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"muster/app"
	apppolicy "muster/app/policy"
	"muster/portal/page"
	"muster/portal/site"
)

func (p *Service) Page(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showQuotas(w, r, a, http.StatusOK, Form{})
}

func (p *Service) showQuotas(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form Form) error {
	later := p.Later(r, a)
	all, err := p.quotas(r, a, later)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Quotas")
	l := List{Now: p.Now(), Quotas: all, Later: later, Form: form, May: a.May("SetQuota"), MayTenant: a.May("SetTenantQuota")}
	if later {
		f.Scripts = []string{"home.js"}
	}
	if r.Header.Get("Muster-Part") != "" {
		p.Render(w, r, status, Cards(l))
		return nil
	}
	if form.Scope == "" && form.Error.Message == "" {
		l.Form = editedQuota(all, r.URL.Query())
	}
	p.Render(w, r, status, ListPage(f, l))
	return nil
}

// quotas are those of the tenant, or only their limits.
func (p *Service) quotas(r *http.Request, a app.Actor, limits bool) (all []apppolicy.QuotaUse, err error) {
	if !limits {
		return p.Quotas.Quotas(r.Context(), a)
	}
	list, err := p.Quotas.QuotaLimits(r.Context(), a)
	for _, q := range list {
		all = append(all, apppolicy.QuotaUse{Quota: q})
	}
	return all, err
}

// Later reports whether a page comes before the usage of quotas, which takes time to add up for many machines: a script, or without
// scripts a link, loads it then.
func (p *Service) Later(r *http.Request, a app.Actor) bool {
	if r.Header.Get("Muster-Part") != "" || r.URL.Query().Get("whole") == "true" {
		return false
	}
	later, err := p.Quotas.QuotasTakeTime(r.Context(), a)
	if err != nil {
		p.LogError(r, err, http.StatusInternalServerError)
	}
	return later
}

// editedQuota is the form of the quota that a link names, or an empty one.
func editedQuota(all []apppolicy.QuotaUse, q url.Values) Form {
	form := Form{Scope: string(apppolicy.QuotaUser), Values: map[apppolicy.Measure]string{}}
	for _, u := range all {
		if string(u.Scope) != q.Get("scope") || u.Name != q.Get("name") {
			continue
		}
		form.Scope, form.Name, form.Edits = string(u.Scope), u.Name, true
		for _, m := range apppolicy.Measures {
			if limit, is := u.Limits.Of(m); is {
				form.Values[m] = strconv.FormatFloat(limit, 'f', -1, 64)
			}
		}
	}
	return form
}

func (p *Service) Save(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	in := Form{Scope: r.PostForm.Get("scope"), Name: strings.TrimSpace(r.PostForm.Get("name")), Values: map[apppolicy.Measure]string{}}
	q := apppolicy.Quota{Scope: apppolicy.QuotaScope(in.Scope), Name: in.Name}
	if q.Scope == apppolicy.QuotaTenant || q.Scope == apppolicy.QuotaEachUser {
		q.Name = ""
	}
	var err error
	for _, m := range apppolicy.Measures {
		in.Values[m] = strings.TrimSpace(r.PostForm.Get(string(m)))
		if in.Values[m] == "" {
			continue
		}
		limit, bad := strconv.ParseFloat(strings.ReplaceAll(in.Values[m], ",", "."), 64)
		if bad != nil && err == nil {
			err = &app.Error{Code: app.EInvalid, Field: string(m), Message: MeasureWords(m) + " must be a number.", Hint: "Leave the field empty for no limit."}
		}
		q.Limits = q.Limits.With(m, limit)
	}
	if err == nil {
		_, err = p.setQuota(r.Context(), a, q)
	}
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid {
		in.Error = page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.showQuotas(w, r, a, http.StatusUnprocessableEntity, in)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/quotas", http.StatusSeeOther)
	return nil
}

func (p *Service) Delete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	if err := p.deleteQuota(r.Context(), a, apppolicy.QuotaScope(r.PostForm.Get("scope")), r.PostForm.Get("name")); err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/quotas", http.StatusSeeOther)
	return nil
}

// Left is the quota that the actor has left. The page of a new cluster works without, so errors are only logged.
func (p *Service) Left(r *http.Request, a app.Actor) []apppolicy.QuotaLine {
	if !a.May("CreateCluster") {
		return nil
	}
	left, err := p.Quotas.QuotaLeft(r.Context(), a)
	if err != nil {
		p.LogError(r, err, http.StatusInternalServerError)
		return nil
	}
	return left.Tightest
}
