package pool

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/pool"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
)

func poolPath(name string) string { return "/admin/pools/" + name }

func (p *Service) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showPools(w, r, a, http.StatusOK, Form{Count: "3", MaxAge: "24h"})
}

func (p *Service) showPools(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form Form) error {
	l := List{Now: p.Now(), Form: form}
	var err error
	if l.Pools, err = p.Pools.Pools(r.Context(), a); err != nil {
		return err
	}
	if l.Form.Catalog, err = p.Catalogs.Catalog(r.Context(), a); err != nil {
		return err
	}
	f := p.AdminFrame(r, "Pools")
	p.Render(w, r, status, ListPage(f, l))
	return nil
}

func (p *Service) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showPool(w, r, a, http.StatusOK, chi.URLParam(r, "pool"), nil)
}

func (p *Service) showPool(w http.ResponseWriter, r *http.Request, a app.Actor, status int, name string, form *Form) error {
	v, err := p.Pools.Pool(r.Context(), a, name)
	if err != nil {
		return err
	}
	receipt, err := p.Pools.PoolReceipt(r.Context(), a, name)
	if err != nil {
		return err
	}
	if form == nil {
		form = &Form{Count: strconv.Itoa(v.Count), MaxAge: AgeField(v.MaxAge)}
	}
	f := p.AdminFrame(r, v.Name)
	if v.Creating+v.Deleting+v.Reserved > 0 {
		f.Refresh = 5
	}
	p.Render(w, r, status, ShowPage(f, Show{Now: p.Now(), Pool: v, Receipt: receipt, Form: *form}))
	return nil
}

// poolRequest parses a pool form. Errors name the invalid field.
func poolRequest(r *http.Request) (q pool.Request, in Form, err error) {
	if err := site.Form(r); err != nil {
		return q, in, err
	}
	text := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	in = Form{Name: text("name"), Hardware: text("hardware"), Image: text("image"), Provider: text("provider"), Zone: text("zone"), Count: text("count"), MaxAge: text("max_age")}
	q = pool.Request{Name: in.Name, Hardware: in.Hardware, Image: in.Image, Provider: in.Provider, Zone: in.Zone, Mode: pool.Mode(text("mode"))}
	if in.Count != "" {
		n, err := strconv.Atoi(in.Count)
		if err != nil {
			return q, in, &app.Error{Code: app.EInvalid, Field: "count", Message: "Size must be a whole number.", Hint: "Enter a number such as 5."}
		}
		q.Count = &n
	}
	if in.MaxAge != "" {
		age, err := template.ParseLength(in.MaxAge)
		if err != nil {
			return q, in, &app.Error{Code: app.EInvalid, Field: "max_age", Message: app.AsError(err).Message, Hint: app.AsError(err).Hint}
		}
		q.MaxAge = &age
	}
	return q, in, nil
}

// poolComplaint shows an error about the input beside its field; it returns any other error.
func poolComplaint(in *Form, err error) (int, error) {
	e := app.AsError(err)
	if e.Code != app.EInvalid && e.Code != app.EConflict && e.Code != app.EQuota {
		return 0, err
	}
	if in.Field = e.Field; !slices.Contains([]string{"name", "hardware", "image", "provider", "zone", "count", "max_age"}, in.Field) {
		in.Field = ""
	}
	in.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
	if e.Code == app.EConflict {
		return http.StatusConflict, nil
	}
	return http.StatusUnprocessableEntity, nil
}

func (p *Service) create(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, in, err := poolRequest(r)
	if err == nil {
		_, err = p.Pools.CreatePool(r.Context(), a, q)
	}
	if err != nil {
		status, err := poolComplaint(&in, err)
		if err != nil {
			return err
		}
		return p.showPools(w, r, a, status, in)
	}
	http.Redirect(w, r, poolPath(q.Name), http.StatusSeeOther)
	return nil
}

func (p *Service) Change(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q, in, err := poolRequest(r)
	q.Name = chi.URLParam(r, "pool")
	if err == nil {
		_, err = p.Pools.ChangePool(r.Context(), a, q)
	}
	if err != nil {
		status, err := poolComplaint(&in, err)
		if err != nil {
			return err
		}
		return p.showPool(w, r, a, status, q.Name, &in)
	}
	http.Redirect(w, r, poolPath(q.Name), http.StatusSeeOther)
	return nil
}

func (p *Service) drain(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Pools.DrainPool(r.Context(), a, chi.URLParam(r, "pool"))
	if err != nil {
		return err
	}
	http.Redirect(w, r, poolPath(v.Name), http.StatusSeeOther)
	return nil
}

func (p *Service) deleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !a.May("DeletePool") {
		return &app.Error{Code: app.EForbidden, Message: "Only admins can delete pools."}
	}
	v, err := p.Pools.Pool(r.Context(), a, chi.URLParam(r, "pool"))
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Delete "+v.Name)
	p.Render(w, r, http.StatusOK, DeletePage(f, v))
	return nil
}

func (p *Service) Delete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if _, err := p.Pools.DeletePool(r.Context(), a, chi.URLParam(r, "pool")); err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/pools", http.StatusSeeOther)
	return nil
}
