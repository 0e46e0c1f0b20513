package lock

import (
	"net/http"

	"muster/app"
	"muster/app/cluster"
	"muster/app/lock"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Show is the page of the locks of a cluster.
type Show struct {
	Tabs  page.ClusterTabs
	View  cluster.View
	Form  lock.Ask
	Wrong page.Complaint
	Saved string
}

func (s Show) path(rest string) string { return "/clusters/" + s.View.ID + rest }

// items are what is locked.
func (s Show) items() (list []lock.Item) {
	if s.View.Lock != nil {
		list = append(list, lock.Item{Cluster: s.View.ID, Name: s.View.Name, Lock: *s.View.Lock})
	}
	for _, n := range s.View.Nodes {
		if n.Lock != nil {
			list = append(list, lock.Item{Cluster: s.View.ID, Name: s.View.Name, Node: n.Name, Lock: *n.Lock})
		}
	}
	return list
}

// what names what is locked.
func what(i lock.Item) string {
	if i.Node == "" {
		return "Whole cluster"
	}
	return "Node " + i.Node
}

func unlockLabel(i lock.Item) string {
	if i.Node == "" {
		return "Unlock cluster"
	}
	return "Unlock " + i.Node
}

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.render(w, r, a, http.StatusOK, Show{Saved: p.Sessions.PopString(r.Context(), site.KeyDone)})
}

func (p *Service) render(w http.ResponseWriter, r *http.Request, a app.Actor, status int, s Show) (err error) {
	if err := a.Authorize("LockCluster"); err != nil {
		return err
	}
	if s.View, err = p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id")); err != nil {
		return err
	}
	s.Tabs = p.ClusterTabs(a, s.View, "manage")
	p.Render(w, r, status, ShowPage(p.ClusterFrame(r, "Locks of "+s.View.Name), s))
	return nil
}

func (p *Service) lock(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id, ask := chi.URLParam(r, "id"), lock.Ask{Node: r.PostForm.Get("node"), Reason: r.PostForm.Get("reason")}
	err := p.Locks.LockCluster(r.Context(), a, id, ask)
	if app.CodeOf(err) == app.EInvalid {
		e := app.AsError(err)
		return p.render(w, r, a, http.StatusUnprocessableEntity, Show{Form: ask, Wrong: page.Complaint{Message: e.Message, Hint: e.Hint}})
	}
	if err != nil {
		return err
	}
	return p.PeopleDone(w, r, "Locked. Open connections of others end within 10 s.", "/clusters/"+id+"/locks")
}

func (p *Service) unlock(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id := chi.URLParam(r, "id")
	if err := p.Locks.UnlockCluster(r.Context(), a, id, r.PostForm.Get("node")); err != nil {
		return err
	}
	return p.PeopleDone(w, r, "Unlocked.", "/clusters/"+id+"/locks")
}

func (p *Service) showAll(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	list, err := p.Locks.Locks(r.Context(), a)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, ListPage(p.AdminFrame(r, "Locks"), list))
	return nil
}
