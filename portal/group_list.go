package portal

import (
	"net/http"
	"slices"
	"strings"

	"muster/app"
	"muster/app/identity"
	identitypage "muster/portal/identity"
	"muster/portal/page"
)

func (p *Portal) groupList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showGroups(w, r, http.StatusOK, a, identitypage.GroupList{})
}

func (p *Portal) showGroups(w http.ResponseWriter, r *http.Request, status int, a app.Actor, l identitypage.GroupList) error {
	var err error
	if l.Groups, err = p.people().Groups(r.Context(), a); err != nil {
		return err
	}
	l.Done = p.sessions.PopString(r.Context(), keyDone)
	f := p.adminFrame(r, "Groups")
	p.render(w, r, status, identitypage.GroupListPage(f, l))
	return nil
}

func (p *Portal) groupSave(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	typed := identitypage.GroupForm{Name: strings.TrimSpace(r.PostForm.Get("name")), About: strings.TrimSpace(r.PostForm.Get("about")), Members: r.PostForm.Get("members")}
	fresh := r.PostForm.Get("new") == "yes"
	members := strings.FieldsFunc(typed.Members, func(c rune) bool { return strings.ContainsRune(" ,;\r\n\t", c) })
	if members == nil {
		members = []string{}
	}
	err := p.groupTaken(r, a, typed.Name, fresh)
	if err == nil {
		_, err = p.people().SaveGroup(r.Context(), a, identity.GroupChange{Name: typed.Name, About: &typed.About, Members: &members})
	}
	if err == nil {
		return p.peopleDone(w, r, "The group "+typed.Name+" was saved.", "/admin/groups")
	}
	known, ok := mendable(err)
	if !ok {
		return err
	}
	typed.Wrong = page.Complaint{Message: known.Message, Hint: known.Hint}
	if slices.Contains([]string{"name", "about", "members"}, known.Field) {
		typed.Field = known.Field
	}
	l := identitypage.GroupList{Open: typed.Name, Form: typed}
	if fresh {
		l.Open = "+"
	}
	return p.showGroups(w, r, statusOf(err), a, l)
}

// groupTaken keeps the form for a new group from changing one that is there.
func (p *Portal) groupTaken(r *http.Request, a app.Actor, name string, fresh bool) error {
	if !fresh {
		return nil
	}
	all, err := p.people().Groups(r.Context(), a)
	if err != nil {
		return err
	}
	for _, g := range all {
		if g.Name == name && !g.CreatedAt.IsZero() {
			return &app.Error{Code: app.EConflict, Field: "name", Message: "There is already a group of that name.", Hint: "Change that one, or choose another name."}
		}
	}
	return nil
}

func (p *Portal) groupDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	name := r.PostForm.Get("name")
	if err := p.people().DeleteGroup(r.Context(), a, name); err != nil {
		return err
	}
	return p.peopleDone(w, r, "The group "+name+" was deleted.", "/admin/groups")
}
