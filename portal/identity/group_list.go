package identity

import (
	"net/http"
	"slices"
	"strings"

	"muster/app"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// groups are the groups of a tenant.
type groups struct {
	*site.Site
}

func (p *groups) routes() []site.Route {
	return []site.Route{
		site.Show("/admin/groups", p.List),
		site.Submit("/admin/groups", p.Save),
		site.Submit("/admin/groups/delete", p.Delete),
	}
}

func (p *groups) operations() []site.Operation {
	return []site.Operation{
		site.Get("/groups", p.APIList, site.About("List the tenant's groups, for admins")),
		site.Put("/groups", p.APISave, site.About("Create or change a group")),
		site.Delete("/groups", p.APIDelete, site.About("Delete a group")),
	}
}

func (p *groups) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.show(w, r, http.StatusOK, a, GroupList{})
}

func (p *groups) show(w http.ResponseWriter, r *http.Request, status int, a app.Actor, l GroupList) error {
	var err error
	if l.Groups, err = p.Groups.Groups(r.Context(), a); err != nil {
		return err
	}
	l.Done = p.Sessions.PopString(r.Context(), site.KeyDone)
	f := p.AdminFrame(r, "Groups")
	p.Render(w, r, status, GroupListPage(f, l))
	return nil
}

func (p *groups) Save(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	typed := GroupForm{Name: strings.TrimSpace(r.PostForm.Get("name")), About: strings.TrimSpace(r.PostForm.Get("about")), Members: r.PostForm.Get("members")}
	fresh := r.PostForm.Get("new") == "yes"
	members := strings.FieldsFunc(typed.Members, func(c rune) bool { return strings.ContainsRune(" ,;\r\n\t", c) })
	if members == nil {
		members = []string{}
	}
	err := p.taken(r, a, typed.Name, fresh)
	if err == nil {
		_, err = p.Groups.SaveGroup(r.Context(), a, identity.GroupChange{Name: typed.Name, About: &typed.About, Members: &members})
	}
	if err == nil {
		return p.PeopleDone(w, r, "Group "+typed.Name+" saved.", "/admin/groups")
	}
	known, ok := Correctable(err)
	if !ok {
		return err
	}
	typed.Wrong = page.Complaint{Message: known.Message, Hint: known.Hint}
	if slices.Contains([]string{"name", "about", "members"}, known.Field) {
		typed.Field = known.Field
	}
	l := GroupList{Open: typed.Name, Form: typed}
	if fresh {
		l.Open = "+"
	}
	return p.show(w, r, site.StatusOf(err), a, l)
}

// taken keeps the form for a new group from changing an existing one.
func (p *groups) taken(r *http.Request, a app.Actor, name string, fresh bool) error {
	if !fresh {
		return nil
	}
	all, err := p.Groups.Groups(r.Context(), a)
	if err != nil {
		return err
	}
	for _, g := range all {
		if g.Name == name && !g.CreatedAt.IsZero() {
			return &app.Error{Code: app.EConflict, Field: "name", Message: "Group " + name + " already exists.", Hint: "Edit that group, or choose another name."}
		}
	}
	return nil
}

func (p *groups) Delete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	name := r.PostForm.Get("name")
	if err := p.Groups.DeleteGroup(r.Context(), a, name); err != nil {
		return err
	}
	return p.PeopleDone(w, r, "Group "+name+" deleted.", "/admin/groups")
}
