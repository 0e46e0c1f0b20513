package identity

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"muster/app"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// users are the accounts of a tenant, for admins.
type users struct {
	*site.Site
}

func (p *users) routes() []site.Route {
	return []site.Route{
		site.Show("/admin/users/{user}/sign-ins", p.ListSignIns),
		site.Submit("/admin/users/{user}/sign-ins", p.EndSignIn),
		site.Submit("/admin/users/{user}/identities", p.RemoveIdentity),
		site.Show("/admin/users", p.List),
		site.Submit("/admin/users", p.Create),
		site.Show("/admin/users/new", p.New),
		site.Show("/admin/users/{user}", p.Show),
		site.Submit("/admin/users/{user}", p.Change),
		site.Submit("/admin/users/{user}/reset-password", p.ResetPassword),
		site.Submit("/admin/users/{user}/delete", p.Delete),
	}
}

func (p *users) operations() []site.Operation {
	return []site.Operation{
		site.Get("/users", p.APIList, site.About("List the tenant's users by name, for admins")),
		site.Post("/users", p.APICreate, site.About("Create a user"), site.Answers(http.StatusCreated)),
		site.Get("/users/{name}", p.APIShow, site.About("Show a user")),
		site.Patch("/users/{name}", p.APIChange, site.About("Change a user")),
		site.Post("/users/{name}/reset-password", p.APIResetPassword, site.About("Reset a user's password to a one-time password, sign them out and revoke their API tokens")),
		site.Delete("/users/{name}", p.APIDelete, site.About("Delete a user")),
	}
}

func (p *users) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	l := UserList{Now: p.Now(), Search: strings.TrimSpace(q.Get("q")), Role: q.Get("role"), Done: p.Sessions.PopString(r.Context(), site.KeyDone)}
	if len(l.Search) > 100 {
		return &app.Error{Code: app.EInvalid, Field: "q", Message: "Search text must be at most 100 characters."}
	}
	var err error
	l.Users, l.More, err = p.Users.Users(r.Context(), a, identity.UserFilter{Search: l.Search, Role: app.Role(l.Role), After: q.Get("after"), Limit: 100})
	if err != nil {
		return err
	}
	t, err := p.Tenants.Tenant(r.Context(), a, a.Tenant)
	if err != nil {
		return err
	}
	l.Required = t.RequireSecondFactor
	f := p.AdminFrame(r, "Users")
	p.Render(w, r, http.StatusOK, UserListPage(f, l))
	return nil
}

func (p *users) New(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	e := UserEdit{New: true}
	if e.User.Role = app.Role(r.URL.Query().Get("role")); !e.User.Role.Known() {
		e.User.Role = app.RoleUser
	}
	if !a.May("CreateUser") {
		return &app.Error{Code: app.EForbidden, Message: "Your role doesn't allow this.", Hint: "Ask an admin of your tenant."}
	}
	return p.show(w, r, http.StatusOK, a, e)
}

func (p *users) Create(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	n := identity.NewUser{Name: strings.TrimSpace(r.PostForm.Get("name")), FullName: strings.TrimSpace(r.PostForm.Get("full_name")),
		Email: strings.TrimSpace(r.PostForm.Get("email")), Role: app.Role(r.PostForm.Get("role")), Groups: r.PostForm["group"]}
	v, password, err := p.Users.CreateUser(r.Context(), a, n)
	if err != nil {
		e := UserEdit{New: true, User: identity.UserView{User: identity.User{Name: n.Name, FullName: n.FullName, Email: n.Email, Role: n.Role}}, Checked: n.Groups}
		return p.again(w, r, a, e, err)
	}
	if password == "" {
		return p.PeopleDone(w, r, "Robot account "+v.Name+" created. Now create an API token for it.", "/admin/tokens#new")
	}
	return showOnce(p.Site, w, r, Once{Title: "User " + v.Name + " created",
		Text:  "Share this one-time password with " + v.Name + ", who must change it at first sign-in.",
		Label: "One-time password", Secret: password, Back: "/admin/users", Called: "Done"})
}

// showOnce shows a secret, once.
func showOnce(p *site.Site, w http.ResponseWriter, r *http.Request, o Once) error {
	f := p.AdminFrame(r, o.Title)
	p.Render(w, r, http.StatusOK, OncePage(f, o))
	return nil
}

// again shows the form again, with the error beside its field; errors that no form can fix get a page of their own.
func (p *users) again(w http.ResponseWriter, r *http.Request, a app.Actor, e UserEdit, err error) error {
	known, ok := Correctable(err)
	if !ok {
		return err
	}
	e.Wrong = page.Complaint{Message: known.Message, Hint: known.Hint}
	if fields := []string{"name", "full_name", "email", "role", "groups", "transfer_to"}; e.Field == "" && slices.Contains(fields, known.Field) {
		e.Field = known.Field
	}
	return p.show(w, r, site.StatusOf(err), a, e)
}

// Correctable reports whether the user can fix an error in the form: it is about the input or the current state, not about permissions.
func Correctable(err error) (*app.Error, bool) {
	e := app.AsError(err)
	switch e.Code {
	case app.EInvalid, app.EConflict, app.ETooLarge:
		return e, true
	case app.EForbidden:
		return e, e.Field != ""
	}
	return e, false
}

// show completes the form of an account with its options.
func (p *users) show(w http.ResponseWriter, r *http.Request, status int, a app.Actor, e UserEdit) error {
	groups, err := p.Groups.Groups(r.Context(), a)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if !g.CreatedAt.IsZero() {
			e.Groups = append(e.Groups, g.Name)
		}
	}
	e.Roles = rolesFor(a, e)
	e.Now, e.Done = p.Now(), p.Sessions.PopString(r.Context(), site.KeyDone)
	e.Self = e.User.Name == a.User && a.Home == ""
	e.Manage = a.May("ChangeUser") && e.User.MayManage(a) == nil
	title := "New user"
	if !e.New {
		title = e.User.Name
	}
	f := p.AdminFrame(r, title)
	p.Render(w, r, status, UserEditPage(f, e))
	return nil
}

// rolesFor are the roles that an actor can choose for an account; the use case enforces them.
func rolesFor(a app.Actor, e UserEdit) (roles []app.Role) {
	for i, r := range app.Roles {
		switch {
		case !e.New && r == e.User.Role: // the current role
		case i < slices.Index(app.Roles, a.Role), r == app.RoleSuperadmin && a.Tenant != app.DefaultTenant:
			continue
		case !e.New && (r == app.RoleRobot || e.User.Role == app.RoleRobot):
			continue
		}
		roles = append(roles, r)
	}
	return roles
}

func (p *users) Show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Users.User(r.Context(), a, chi.URLParam(r, "user"))
	if err != nil {
		return err
	}
	return p.show(w, r, http.StatusOK, a, UserEdit{User: v, Checked: v.Here, Disabled: v.Disabled()})
}

func (p *users) Change(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	v, err := p.Users.User(r.Context(), a, chi.URLParam(r, "user"))
	if err != nil {
		return err
	}
	fullName, email := strings.TrimSpace(r.PostForm.Get("full_name")), strings.TrimSpace(r.PostForm.Get("email"))
	role, groups, disabled := app.Role(r.PostForm.Get("role")), r.PostForm["group"], r.PostForm.Get("disabled") == "yes"
	if groups == nil {
		groups = []string{}
	}
	changed, err := p.Users.ChangeUser(r.Context(), a, v.Name, identity.UserChange{FullName: &fullName, Email: &email, Role: &role, Groups: &groups, Disabled: &disabled})
	if err != nil {
		v.FullName, v.Email = fullName, email
		if role.Known() {
			v.Role = role
		}
		return p.again(w, r, a, UserEdit{User: v, Checked: groups, Disabled: disabled}, err)
	}
	return p.PeopleDone(w, r, "User "+changed.Name+" saved.", "/admin/users/"+url.PathEscape(changed.Name))
}

func (p *users) ResetPassword(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name := chi.URLParam(r, "user")
	password, err := p.Users.ResetUserPassword(r.Context(), a, name)
	if err != nil {
		return err
	}
	return showOnce(p.Site, w, r, Once{Title: "One-time password for " + name,
		Text:  name + " is signed out everywhere and their API tokens are revoked. They must change this password at next sign-in.",
		Label: "One-time password", Secret: password, Back: "/admin/users/" + url.PathEscape(name), Called: "Done"})
}

func (p *users) Delete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	v, err := p.Users.User(r.Context(), a, chi.URLParam(r, "user"))
	if err != nil {
		return err
	}
	e := UserEdit{User: v, Checked: v.Here, Disabled: v.Disabled(), Field: "delete", Transfer: strings.TrimSpace(r.PostForm.Get("transfer_to"))}
	err = errNotSure
	if r.PostForm.Get("sure") == "yes" {
		err = p.Users.DeleteUser(r.Context(), a, v.Name, e.Transfer)
	}
	if err != nil {
		if app.AsError(err).Field == "transfer_to" {
			e.Field = "transfer_to"
		}
		return p.again(w, r, a, e, err)
	}
	return p.PeopleDone(w, r, "User "+v.Name+" deleted.", "/admin/users")
}

// errNotSure is for clients that don't check the required checkbox.
var errNotSure error = &app.Error{Code: app.EInvalid, Field: "sure", Message: "Nothing was deleted.", Hint: "Tick the checkbox to confirm."}
