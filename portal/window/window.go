package window

import (
	"net/http"
	"net/url"

	"muster/app"
	"muster/app/window"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

func (p *Service) tenantShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showTenant(w, r, a, http.StatusOK, nil, page.Complaint{})
}

func (p *Service) showTenant(w http.ResponseWriter, r *http.Request, a app.Actor, status int, typed *window.Settings, bad page.Complaint) error {
	v, err := p.Windows.MaintenanceWindows(r.Context(), a)
	if err != nil {
		return err
	}
	s := newShow(p.Now(), v, typed, bad)
	s.May = a.May("SetMaintenanceWindows")
	p.Render(w, r, status, TenantPage(p.AdminFrame(r, "Maintenance windows"), s))
	return nil
}

func (p *Service) tenantSet(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	s := read(r.PostForm)
	s.Locked = r.PostForm.Get("locked") != ""
	_, err := p.Windows.SetMaintenanceWindows(r.Context(), a, s)
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid {
		return p.showTenant(w, r, a, http.StatusUnprocessableEntity, &s, page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/maintenance", http.StatusSeeOther)
	return nil
}

func (p *Service) clusterShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showCluster(w, r, a, http.StatusOK, nil, page.Complaint{})
}

func (p *Service) showCluster(w http.ResponseWriter, r *http.Request, a app.Actor, status int, typed *window.Settings, bad page.Complaint) error {
	c, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	v, err := p.Windows.ClusterMaintenance(r.Context(), a, c.ID)
	if err != nil {
		return err
	}
	s := newShow(p.Now(), v, typed, bad)
	s.Cluster = c.Cluster
	s.May = a.MayIn("SetClusterMaintenance", c.Cluster) && c.Status != app.ClusterDeleted && !v.TenantLocked
	f := p.Frame(r, "Maintenance windows of "+c.Name)
	f.At = "clusters"
	p.Render(w, r, status, ClusterPage(f, s))
	return nil
}

func (p *Service) clusterSet(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id := chi.URLParam(r, "id")
	s := read(r.PostForm)
	set := &s
	if r.PostForm.Get("inherit") != "" {
		set = nil
	}
	_, err := p.Windows.SetClusterMaintenance(r.Context(), a, id, set)
	if e := app.AsError(err); err != nil && (e.Code == app.EInvalid || e.Reason == "windows_locked") {
		return p.showCluster(w, r, a, site.StatusOf(err), &s, page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/clusters/"+url.PathEscape(id)+"/maintenance", http.StatusSeeOther)
	return nil
}

// read reads the form. Rows without a start and a length are left out.
func read(in url.Values) window.Settings {
	s := window.Settings{Overrun: window.Overrun(in.Get("overrun"))}
	at := func(name string, i int) string {
		if list := in[name]; i < len(list) {
			return list[i]
		}
		return ""
	}
	for i := range in["start"] {
		w := window.Window{Start: at("start", i), Length: at("length", i), Zone: at("zone", i)}
		if w.Start != "" || w.Length != "" {
			s.Windows = append(s.Windows, w)
		}
		if len(s.Windows) > window.MostWindows {
			break // as many as are refused
		}
	}
	for _, r := range in["applies_to"] {
		if len(s.AppliesTo) <= len(window.Reasons) {
			s.AppliesTo = append(s.AppliesTo, window.Reason(r))
		}
	}
	return s
}
