package terminal

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/terminal"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// List is the page of terminals.
type List struct {
	Terminals []terminal.Terminal
	Cluster   string
	Actor     app.Actor
	Settings  terminal.Settings
	Now       time.Time
	Form      Form
}

// Form is the form of the tenant's settings.
type Form struct {
	Record, StepUp bool
	Days           string
	Bad            page.Complaint
	Saved          bool
}

func (l List) admin() bool { return l.Actor.May("SetTerminalSettings") }

func (l List) mayEnd(t terminal.Terminal) bool {
	return t.Open() && (t.User == l.Actor.Name() || l.admin())
}

// length is how long a recording is.
func length(t terminal.Terminal) string {
	return humanize.Duration(time.Duration(t.Seconds) * time.Second)
}

func (p *Service) list(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := r.URL.Query()
	return p.showList(w, r, a, http.StatusOK, List{Cluster: q.Get("cluster"), Form: Form{Saved: q.Has("saved")}})
}

func (p *Service) showList(w http.ResponseWriter, r *http.Request, a app.Actor, status int, l List) error {
	var err error
	if l.Terminals, err = p.Terminals.Terminals(r.Context(), a, terminal.Filter{Cluster: l.Cluster}); err != nil {
		return err
	}
	if l.Settings, err = p.Terminals.TerminalSettings(r.Context(), a); err != nil {
		return err
	}
	if l.Form.Bad.Message == "" {
		l.Form.Record, l.Form.StepUp, l.Form.Days = l.Settings.Record, l.Settings.StepUp, strconv.Itoa(l.Settings.KeepDays)
	}
	l.Actor, l.Now = a, p.Now()
	f := p.Frame(r, "Terminals")
	p.Render(w, r, status, ListPage(f, l))
	return nil
}

func (p *Service) save(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	f := Form{Record: r.PostForm.Get("record") != "", StepUp: r.PostForm.Get("step_up") != "", Days: strings.TrimSpace(r.PostForm.Get("keep_days"))}
	days, err := strconv.Atoi(f.Days)
	if err != nil || days < 1 {
		err = &app.Error{Code: app.EInvalid, Field: "keep_days", Message: "Enter a number of days, such as 90."}
	} else {
		_, err = p.Terminals.SetTerminalSettings(r.Context(), a, terminal.Settings{Record: f.Record, StepUp: f.StepUp, KeepDays: days})
	}
	if e := app.AsError(err); err != nil && e.Code == app.EInvalid {
		f.Bad = page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.showList(w, r, a, http.StatusUnprocessableEntity, List{Form: f})
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/terminals?saved", http.StatusSeeOther)
	return nil
}

func (p *Service) end(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	if err := p.Terminals.EndTerminal(r.Context(), a, chi.URLParam(r, "terminal")); err != nil {
		return err
	}
	to := "/terminals"
	if c := r.PostForm.Get("cluster"); c != "" {
		to += "?cluster=" + url.QueryEscape(c)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// play is the page that plays a recording.
func (p *Service) play(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	t, err := p.Terminals.RecordedTerminal(r.Context(), a, chi.URLParam(r, "terminal"))
	if err != nil {
		return err
	}
	nonce := newNonce()
	f := p.Frame(r, "Recording of "+t.User+" on "+t.Node)
	f.Styles, f.Scripts = []string{"xterm.css", "terminal.css"}, []string{"xterm.js", "terminal-style.js", "terminal-play.js"}
	w.Header().Set("Content-Security-Policy", site.ContentPolicy("'nonce-"+nonce+"'"))
	p.Render(w, r, http.StatusOK, PlayPage(f, t, nonce))
	return nil
}

// cast is a recording as a file. It begins only once it's known that there is one, and is cut off where it can't be read to its end.
func (p *Service) cast(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id := chi.URLParam(r, "terminal")
	out := &castWriter{w: w, id: id, download: r.URL.Query().Has("download")}
	err := p.Terminals.Recording(r.Context(), a, id, out)
	if err != nil && out.begun {
		panic(http.ErrAbortHandler)
	}
	return err
}

type castWriter struct {
	w        http.ResponseWriter
	id       string
	download bool
	begun    bool
}

func (c *castWriter) Write(b []byte) (int, error) {
	if !c.begun {
		c.begun = true
		h := c.w.Header()
		h.Set("Content-Type", "application/x-asciicast")
		if c.download {
			h.Set("Content-Disposition", `attachment; filename="`+c.id+`.cast"`)
		}
	}
	return c.w.Write(b)
}
