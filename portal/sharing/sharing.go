package sharing

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/sharing"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Show is the page of who has access to a cluster.
type Show struct {
	Tabs    page.ClusterTabs
	Now     time.Time
	View    cluster.View
	Sharing sharing.ClusterSharing
	Form    form
	Wrong   page.Complaint
}

// form is the form to share a cluster as it was typed.
type form struct {
	Who    string
	Access app.Access
	End    string // "", "8h", "1d", "1w" or "date"
	Until  time.Time
}

// ends are the ends that the form offers.
var ends = []page.Choice{{Label: "No end"}, {Value: "8h", Label: "8 hours"},
	{Value: "1d", Label: "1 day"}, {Value: "1w", Label: "1 week"}, {Value: "date", Label: "At a time"}}

// dateField is a time as the form has it: in UTC, which a script turns into the reader's zone.
func dateField(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04")
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return page.Machine(t)
}

// edit fills in the form to change a share.
func (s *Show) edit(who string) {
	for _, one := range s.Sharing.Shares {
		if one.Name() == who {
			s.Form = form{Who: who, Access: one.Access, Until: one.Until}
			if !one.Until.IsZero() {
				s.Form.End = "date"
			}
		}
	}
}

// changes is the address of the page with a share filled in.
func (s Show) changes(one sharing.Share) string {
	return s.path() + "?who=" + url.QueryEscape(one.Name()) + "#share"
}

func (s Show) path() string { return "/clusters/" + s.View.ID + "/sharing" }

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.render(w, r, a, http.StatusOK, Show{})
}

func (p *Service) render(w http.ResponseWriter, r *http.Request, a app.Actor, status int, s Show) (err error) {
	id := chi.URLParam(r, "id")
	if s.View, err = p.Clusters.Cluster(r.Context(), a, id); err != nil {
		return err
	}
	if s.Sharing, err = p.Sharing.ClusterSharing(r.Context(), a, id); err != nil {
		return err
	}
	if s.Wrong.Message == "" {
		s.edit(r.URL.Query().Get("who"))
	}
	s.Tabs, s.Now = p.ClusterTabs(a, s.View, "sharing"), p.Now()
	p.Render(w, r, status, ShowPage(p.ClusterFrame(r, "Share "+s.View.Name), s))
	return nil
}

// share adds, changes or removes a share, or sets the visibility of a cluster.
func (p *Service) share(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	change := sharing.SharingChange{Visibility: app.Visibility(r.PostForm.Get("visibility"))}
	s := Show{Form: form{Who: strings.TrimSpace(r.PostForm.Get("who"))}}
	if s.Form.Who != "" {
		if err := s.Form.Access.UnmarshalText([]byte(r.PostForm.Get("access"))); err != nil {
			return err
		}
		share, err := s.Form.read(r.PostForm)
		if err != nil {
			return p.wrong(w, r, a, s, err)
		}
		change.Add = []sharing.Share{share}
	}
	if who := r.PostForm.Get("remove"); who != "" {
		change.Remove = []sharing.Share{sharing.With(who)}
	}
	id := chi.URLParam(r, "id")
	_, err := p.Sharing.ShareCluster(r.Context(), a, id, change)
	if app.CodeOf(err) == app.EInvalid {
		return p.wrong(w, r, a, s, err)
	}
	if err != nil {
		return err
	}
	// People who remove themselves may not see the cluster any more.
	http.Redirect(w, r, p.IfSeen(r, a, id, "/clusters/"+id+"/sharing", "/clusters"), http.StatusSeeOther)
	return nil
}

// read reads the share that the form asks for.
func (f *form) read(in url.Values) (share sharing.Share, err error) {
	share = sharing.With(f.Who)
	share.Access = f.Access
	switch f.End = in.Get("end"); f.End {
	case "":
	case "date":
		zone, err := template.ParseZone(in.Get("zone"))
		if err != nil {
			return share, err
		}
		if share.Until, err = template.ParseMomentIn(in.Get("until"), zone); err != nil {
			return share, err
		}
		f.Until = share.Until
	default:
		share.For = f.End
	}
	return share, nil
}

// wrong shows the page with what is wrong with the form.
func (p *Service) wrong(w http.ResponseWriter, r *http.Request, a app.Actor, s Show, err error) error {
	e := app.AsError(err)
	s.Wrong = page.Complaint{Message: e.Message, Hint: e.Hint}
	return p.render(w, r, a, http.StatusUnprocessableEntity, s)
}

func (p *Service) showDefault(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !a.May("SetDefaultVisibility") {
		return p.Sharing.SetDefaultVisibility(r.Context(), a, "") // for its error, which names the roles
	}
	v, err := p.Sharing.DefaultVisibility(r.Context(), a)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, DefaultPage(p.AdminFrame(r, "Sharing"), v, p.Sessions.PopString(r.Context(), site.KeyDone)))
	return nil
}

func (p *Service) setDefault(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	if err := p.Sharing.SetDefaultVisibility(r.Context(), a, app.Visibility(r.PostForm.Get("visibility"))); err != nil {
		return err
	}
	return p.PeopleDone(w, r, "Saved.", "/admin/sharing")
}
