package site

import (
	"bytes"
	"net/http"

	"muster/app"
	"muster/portal/page"

	"github.com/a-h/templ"
)

// Frame is the frame of a page.
func (p *Site) Frame(r *http.Request, title string) page.Frame {
	f := page.Frame{Title: title, Now: p.Now(), Note: p.Note, All: sections()}
	if a, ok := p.Actor(r); ok {
		f.Help = helpAt(r)
		f.Actor, f.Version, f.Inbox, f.Asked = &a, p.Version, p.Inbox(r.Context(), a), p.Asking(r.Context(), a)
		f.Unread = p.Unread(r.Context(), a)
		f.Tenants = p.tenantsFor(r.Context(), a)
	}
	return f
}

// Render renders a page completely before sending it, so that an error can still become an error page.
func (p *Site) Render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	var buf bytes.Buffer
	if err := c.Render(r.Context(), &buf); err != nil {
		p.Log.ErrorContext(r.Context(), "render", "error", err, "path", r.URL.Path)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	WritePage(w, r, status, buf.Bytes())
}

// Form reads a posted form; ETooLarge if it's too large.
func Form(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return Malformed(err)
	}
	return nil
}

func Malformed(err error) error {
	e := app.Errorf(app.EInvalid, "The request couldn't be read: %w", err)
	e.Reason = "malformed"
	return e
}
