package identity

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// tenants are the tenants of the installation, and the switch between them for superadmins.
type tenants struct {
	*site.Site
}

func (p *tenants) routes() []site.Route {
	return []site.Route{
		site.Submit("/tenant", p.Switch),
		site.Show("/admin/tenants", p.List),
		site.Submit("/admin/tenants", p.Save),
		site.Submit("/admin/tenants/delete", p.Delete),
	}
}

func (p *tenants) operations() []site.Operation {
	return []site.Operation{
		site.Get("/tenants", p.APIList, site.About("List tenants, for superadmins")),
		site.Post("/tenants", p.APICreate, site.About("Create a tenant"), site.Answers(http.StatusCreated)),
		site.Get("/tenants/{name}", p.APIShow, site.About("Show a tenant")),
		site.Patch("/tenants/{name}", p.APIChange, site.About("Change a tenant")),
		site.Delete("/tenants/{name}", p.APIDelete, site.About("Delete a tenant that has nothing left in any cloud")),
	}
}

func (p *tenants) Switch(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	there, err := p.Tenants.ActIn(r.Context(), a, r.PostForm.Get("tenant"))
	if err != nil {
		return err
	}
	if there.Home == "" {
		p.Sessions.Remove(r.Context(), site.KeyActIn)
	} else {
		p.Sessions.Put(r.Context(), site.KeyActIn, there.Tenant)
	}
	http.Redirect(w, r, "/clusters", http.StatusSeeOther)
	return nil
}

func (p *tenants) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.show(w, r, http.StatusOK, a, TenantList{})
}

func (p *tenants) show(w http.ResponseWriter, r *http.Request, status int, a app.Actor, l TenantList) error {
	var err error
	if l.Tenants, err = p.Tenants.Tenants(r.Context(), a); err != nil {
		return err
	}
	l.Now, l.Here, l.Home, l.Done = p.Now(), a.Tenant, cmp.Or(a.Home, a.Tenant), p.Sessions.PopString(r.Context(), site.KeyDone)
	f := p.AdminFrame(r, "Tenants")
	p.Render(w, r, status, TenantListPage(f, l))
	return nil
}

func (p *tenants) Save(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	get := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	typed := TenantForm{Name: get("name"), About: get("about"), Slots: get("slots"), From: get("from"), Admin: get("admin"), Currency: get("currency"), Rate: get("exchange_rate")}
	fresh := r.PostForm.Get("new") == "yes"
	slots, err := 0, error(nil)
	if typed.Slots != "" {
		if slots, err = strconv.Atoi(typed.Slots); err != nil {
			err = &app.Error{Code: app.EInvalid, Field: "slots", Message: "Worker slots must be a whole number.", Hint: "Enter a number such as 16, or leave the field empty."}
		}
	}
	rate := 0.0
	if typed.Rate != "" && err == nil {
		if rate, err = strconv.ParseFloat(typed.Rate, 64); err != nil {
			err = &app.Error{Code: app.EInvalid, Field: "exchange_rate", Message: "The exchange rate must be a number.", Hint: "Enter a number such as 0.92."}
		}
	}
	password := ""
	switch {
	case err != nil:
	case fresh:
		n := identity.NewTenant{Name: typed.Name, About: typed.About, Slots: slots, From: typed.From, Currency: typed.Currency, ExchangeRate: rate}
		if typed.Admin != "" {
			n.Admin = &identity.NewUser{Name: typed.Admin, Role: app.RoleAdmin}
		}
		_, password, err = p.Tenants.CreateTenant(r.Context(), a, n)
	default:
		_, err = p.Tenants.ChangeTenant(r.Context(), a, typed.Name, identity.TenantChange{About: &typed.About, Slots: &slots, Currency: &typed.Currency, ExchangeRate: &rate})
	}
	switch {
	case err != nil:
		return p.again(w, r, a, typed, fresh, err)
	case password != "":
		return showOnce(p.Site, w, r, Once{Title: "Tenant " + typed.Name + " created",
			Text:  "Share this one-time password with " + typed.Admin + ", who must change it at first sign-in.",
			Label: "One-time password", Secret: password, Back: "/admin/tenants", Called: "Done"})
	case fresh:
		return p.PeopleDone(w, r, "Tenant "+typed.Name+" created. Switch to it to create its first admin.", "/admin/tenants")
	}
	return p.PeopleDone(w, r, "Tenant "+typed.Name+" saved.", "/admin/tenants")
}

func (p *tenants) again(w http.ResponseWriter, r *http.Request, a app.Actor, typed TenantForm, fresh bool, err error) error {
	known, ok := Correctable(err)
	if !ok {
		return err
	}
	typed.Wrong = page.Complaint{Message: known.Message, Hint: known.Hint}
	if slices.Contains([]string{"name", "about", "slots", "from", "admin.name", "currency", "exchange_rate"}, known.Field) {
		typed.Field = known.Field
	}
	l := TenantList{Open: typed.Name, Form: typed}
	if fresh {
		l.Open = "+"
	}
	return p.show(w, r, site.StatusOf(err), a, l)
}

func (p *tenants) Delete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	name := r.PostForm.Get("name")
	if r.PostForm.Get("sure") != "yes" {
		return errNotSure
	}
	if err := p.Tenants.DeleteTenant(r.Context(), a, name); err != nil {
		return err
	}
	return p.PeopleDone(w, r, "Tenant "+name+" deleted.", "/admin/tenants")
}
