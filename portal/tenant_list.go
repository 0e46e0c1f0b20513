package portal

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/identity"
	identitypage "muster/portal/identity"
	"muster/portal/page"
)

// keyActIn is the tenant in which a superadmin acts, in the session.
const keyActIn = "act_in"

// actingBySession gives the actor in the tenant that its session names. Where that is gone, or the actor may not any more, it is
// at home again.
func (p *Portal) actingBySession(ctx context.Context, a app.Actor) (app.Actor, error) {
	tenant := p.sessions.GetString(ctx, keyActIn)
	if tenant == "" {
		return a, nil
	}
	there, err := p.actingIn(ctx, a, tenant)
	switch app.CodeOf(err) {
	case "":
		return there, nil
	case app.EForbidden, app.ENotFound:
		p.sessions.Remove(ctx, keyActIn)
		return a, nil
	}
	return a, err
}

// tenantsFor are the tenants between which the actor may switch; none for most people.
func (p *Portal) tenantsFor(ctx context.Context, a app.Actor) []string {
	if p.tenancy() == nil || !a.May("TenantNames") {
		return nil
	}
	names, err := p.tenancy().TenantNames(ctx, a)
	if err != nil {
		return nil // the page itself can do without
	}
	return names
}

func (p *Portal) tenantSwitch(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	there, err := p.tenancy().ActIn(r.Context(), a, r.PostForm.Get("tenant"))
	if err != nil {
		return err
	}
	if there.Home == "" {
		p.sessions.Remove(r.Context(), keyActIn)
	} else {
		p.sessions.Put(r.Context(), keyActIn, there.Tenant)
	}
	http.Redirect(w, r, "/clusters", http.StatusSeeOther)
	return nil
}

func (p *Portal) tenantList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showTenants(w, r, http.StatusOK, a, identitypage.TenantList{})
}

func (p *Portal) showTenants(w http.ResponseWriter, r *http.Request, status int, a app.Actor, l identitypage.TenantList) error {
	var err error
	if l.Tenants, err = p.tenancy().Tenants(r.Context(), a); err != nil {
		return err
	}
	l.Now, l.Here, l.Home, l.Done = p.now(), a.Tenant, cmp.Or(a.Home, a.Tenant), p.sessions.PopString(r.Context(), keyDone)
	f := p.adminFrame(r, "Tenants")
	p.render(w, r, status, identitypage.TenantListPage(f, l))
	return nil
}

func (p *Portal) tenantSave(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	get := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	typed := identitypage.TenantForm{Name: get("name"), About: get("about"), Slots: get("slots"), From: get("from"), Admin: get("admin")}
	fresh := r.PostForm.Get("new") == "yes"
	slots, err := 0, error(nil)
	if typed.Slots != "" {
		if slots, err = strconv.Atoi(typed.Slots); err != nil {
			err = &app.Error{Code: app.EInvalid, Field: "slots", Message: "This is not a number of slots.", Hint: "For example 16; or leave it empty."}
		}
	}
	password := ""
	switch {
	case err != nil:
	case fresh:
		n := identity.NewTenant{Name: typed.Name, About: typed.About, Slots: slots, From: typed.From}
		if typed.Admin != "" {
			n.Admin = &identity.NewUser{Name: typed.Admin, Role: app.RoleAdmin}
		}
		_, password, err = p.tenancy().CreateTenant(r.Context(), a, n)
	default:
		_, err = p.tenancy().ChangeTenant(r.Context(), a, typed.Name, app.TenantChange{About: &typed.About, Slots: &slots})
	}
	switch {
	case err != nil:
		return p.tenantAgain(w, r, a, typed, fresh, err)
	case password != "":
		return p.showOnce(w, r, identitypage.Once{Title: typed.Name + " is there", Text: "Give " + typed.Admin + " this password. It must be changed at the first sign-in to " + typed.Name + ".",
			Label: "One-time password", Secret: password, Back: "/admin/tenants", Called: "Back to the tenants"})
	case fresh:
		return p.peopleDone(w, r, "The tenant "+typed.Name+" is there. Act in it to make its first admin.", "/admin/tenants")
	}
	return p.peopleDone(w, r, "The tenant "+typed.Name+" was changed.", "/admin/tenants")
}

func (p *Portal) tenantAgain(w http.ResponseWriter, r *http.Request, a app.Actor, typed identitypage.TenantForm, fresh bool, err error) error {
	known, ok := mendable(err)
	if !ok {
		return err
	}
	typed.Wrong = page.Complaint{Message: known.Message, Hint: known.Hint}
	if slices.Contains([]string{"name", "about", "slots", "from", "admin.name"}, known.Field) {
		typed.Field = known.Field
	}
	l := identitypage.TenantList{Open: typed.Name, Form: typed}
	if fresh {
		l.Open = "+"
	}
	return p.showTenants(w, r, statusOf(err), a, l)
}

func (p *Portal) tenantDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	name := r.PostForm.Get("name")
	if r.PostForm.Get("sure") != "yes" {
		return errNotSure
	}
	if err := p.tenancy().DeleteTenant(r.Context(), a, name); err != nil {
		return err
	}
	return p.peopleDone(w, r, "The tenant "+name+" was deleted.", "/admin/tenants")
}
