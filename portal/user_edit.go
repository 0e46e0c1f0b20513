package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/identity"
	identitypage "muster/portal/identity"
	"muster/portal/page"
)

func (p *Portal) userList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	l := identitypage.UserList{Now: p.now(), Search: strings.TrimSpace(q.Get("q")), Role: q.Get("role"), Done: p.sessions.PopString(r.Context(), keyDone)}
	if len(l.Search) > 100 {
		return &app.Error{Code: app.EInvalid, Field: "q", Message: "That is too long to search for."}
	}
	var err error
	l.Users, l.More, err = p.people().Users(r.Context(), a, identity.UserFilter{Search: l.Search, Role: app.Role(l.Role), After: q.Get("after"), Limit: 100})
	if err != nil {
		return err
	}
	if p.accounts() != nil && p.tenancy() != nil {
		t, err := p.tenancy().Tenant(r.Context(), a, a.Tenant)
		if err != nil {
			return err
		}
		l.Required = t.RequireSecondFactor
	}
	f := p.adminFrame(r, "Users")
	p.render(w, r, http.StatusOK, identitypage.UserListPage(f, l))
	return nil
}

func (p *Portal) userNew(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	e := identitypage.UserEdit{New: true}
	if e.User.Role = app.Role(r.URL.Query().Get("role")); !e.User.Role.Known() {
		e.User.Role = app.RoleUser
	}
	if !a.May("CreateUser") {
		return &app.Error{Code: app.EForbidden, Message: "Your role does not allow that.", Hint: "Ask an admin of your tenant."}
	}
	return p.showUser(w, r, http.StatusOK, a, e)
}

func (p *Portal) userCreate(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	n := identity.NewUser{Name: strings.TrimSpace(r.PostForm.Get("name")), FullName: strings.TrimSpace(r.PostForm.Get("full_name")),
		Email: strings.TrimSpace(r.PostForm.Get("email")), Role: app.Role(r.PostForm.Get("role")), Groups: r.PostForm["group"]}
	v, password, err := p.people().CreateUser(r.Context(), a, n)
	if err != nil {
		e := identitypage.UserEdit{New: true, User: identity.UserView{User: app.User{Name: n.Name, FullName: n.FullName, Email: n.Email, Role: n.Role}}, Checked: n.Groups}
		return p.userAgain(w, r, a, e, err)
	}
	if password == "" {
		return p.peopleDone(w, r, "The robot "+v.Name+" is there. Make it a token.", "/admin/tokens#new")
	}
	return p.showOnce(w, r, identitypage.Once{Title: v.Name + " is there", Text: "Give " + v.Name + " this password. It must be changed at the first sign-in to " + v.Tenant + ".",
		Label: "One-time password", Secret: password, Back: "/admin/users", Called: "Back to the users"})
}

// showOnce shows a secret, this once.
func (p *Portal) showOnce(w http.ResponseWriter, r *http.Request, o identitypage.Once) error {
	f := p.adminFrame(r, o.Title)
	p.render(w, r, http.StatusOK, identitypage.OncePage(f, o))
	return nil
}

// peopleDone leads to a page that says once what was done.
func (p *Portal) peopleDone(w http.ResponseWriter, r *http.Request, text, to string) error {
	p.sessions.Put(r.Context(), keyDone, text)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// userAgain shows the form again, with what is wrong beside it; what no form can mend is a page of its own.
func (p *Portal) userAgain(w http.ResponseWriter, r *http.Request, a app.Actor, e identitypage.UserEdit, err error) error {
	known, ok := mendable(err)
	if !ok {
		return err
	}
	e.Wrong = page.Complaint{Message: known.Message, Hint: known.Hint}
	if fields := []string{"name", "full_name", "email", "role", "groups", "transfer_to"}; e.Field == "" && slices.Contains(fields, known.Field) {
		e.Field = known.Field
	}
	return p.showUser(w, r, statusOf(err), a, e)
}

// mendable tells whether an error is one about what was typed, or about the moment, rather than about who asks.
func mendable(err error) (*app.Error, bool) {
	e := app.AsError(err)
	switch e.Code {
	case app.EInvalid, app.EConflict, app.ETooLarge:
		return e, true
	case app.EForbidden:
		return e, e.Field != ""
	}
	return e, false
}

// showUser completes the form of an account with what can be chosen.
func (p *Portal) showUser(w http.ResponseWriter, r *http.Request, status int, a app.Actor, e identitypage.UserEdit) error {
	groups, err := p.people().Groups(r.Context(), a)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if !g.CreatedAt.IsZero() {
			e.Groups = append(e.Groups, g.Name)
		}
	}
	e.Roles = rolesFor(a, e)
	e.Now, e.Done = p.now(), p.sessions.PopString(r.Context(), keyDone)
	e.Self = e.User.Name == a.User && a.Home == ""
	e.Manage = a.May("ChangeUser") && e.User.MayManage(a) == nil
	title := "New user"
	if !e.New {
		title = e.User.Name
	}
	f := p.adminFrame(r, title)
	p.render(w, r, status, identitypage.UserEditPage(f, e))
	return nil
}

// rolesFor are the roles that an actor may choose for an account; the use case has the last word.
func rolesFor(a app.Actor, e identitypage.UserEdit) (roles []app.Role) {
	for i, r := range app.Roles {
		switch {
		case !e.New && r == e.User.Role: // it stays what it is
		case i < slices.Index(app.Roles, a.Role), r == app.RoleSuperadmin && a.Tenant != app.DefaultTenant:
			continue
		case !e.New && (r == app.RoleRobot || e.User.Role == app.RoleRobot):
			continue
		}
		roles = append(roles, r)
	}
	return roles
}

func (p *Portal) userShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.people().User(r.Context(), a, chi.URLParam(r, "user"))
	if err != nil {
		return err
	}
	return p.showUser(w, r, http.StatusOK, a, identitypage.UserEdit{User: v, Checked: v.Here, Disabled: v.Disabled()})
}

func (p *Portal) userChange(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	v, err := p.people().User(r.Context(), a, chi.URLParam(r, "user"))
	if err != nil {
		return err
	}
	fullName, email := strings.TrimSpace(r.PostForm.Get("full_name")), strings.TrimSpace(r.PostForm.Get("email"))
	role, groups, disabled := app.Role(r.PostForm.Get("role")), r.PostForm["group"], r.PostForm.Get("disabled") == "yes"
	if groups == nil {
		groups = []string{}
	}
	changed, err := p.people().ChangeUser(r.Context(), a, v.Name, identity.UserChange{FullName: &fullName, Email: &email, Role: &role, Groups: &groups, Disabled: &disabled})
	if err != nil {
		v.FullName, v.Email = fullName, email
		if role.Known() {
			v.Role = role
		}
		return p.userAgain(w, r, a, identitypage.UserEdit{User: v, Checked: groups, Disabled: disabled}, err)
	}
	return p.peopleDone(w, r, changed.Name+" was changed.", "/admin/users/"+url.PathEscape(changed.Name))
}

func (p *Portal) userReset(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name := chi.URLParam(r, "user")
	password, err := p.people().ResetUserPassword(r.Context(), a, name)
	if err != nil {
		return err
	}
	return p.showOnce(w, r, identitypage.Once{Title: "A new password for " + name, Text: "All sign-ins and API tokens of " + name + " have ended. This password must be changed at the next sign-in.",
		Label: "One-time password", Secret: password, Back: "/admin/users/" + url.PathEscape(name), Called: "Back to " + name})
}

func (p *Portal) userDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	v, err := p.people().User(r.Context(), a, chi.URLParam(r, "user"))
	if err != nil {
		return err
	}
	e := identitypage.UserEdit{User: v, Checked: v.Here, Disabled: v.Disabled(), Field: "delete", Transfer: strings.TrimSpace(r.PostForm.Get("transfer_to"))}
	err = errNotSure
	if r.PostForm.Get("sure") == "yes" {
		err = p.people().DeleteUser(r.Context(), a, v.Name, e.Transfer)
	}
	if err != nil {
		if app.AsError(err).Field == "transfer_to" {
			e.Field = "transfer_to"
		}
		return p.userAgain(w, r, a, e, err)
	}
	return p.peopleDone(w, r, v.Name+" was deleted.", "/admin/users")
}

// errNotSure asks for the tick that browsers ask for, too.
var errNotSure error = &app.Error{Code: app.EInvalid, Field: "sure", Message: "Nothing was deleted.", Hint: "Tick that you are sure."}
