package portal

import (
	"bytes"
	"net/http"

	"github.com/a-h/templ"

	"muster/app"
	"muster/portal/page"
)

// frame is what stands around a page.
func (p *Portal) frame(r *http.Request, title string) page.Frame {
	f := page.Frame{Title: title, Note: p.note, All: p.sections(), Account: p.accounts() != nil, Notices: p.noticing() != nil,
		Catalog: p.templating() != nil, Usage: p.money() != nil, Search: true}
	if a, ok := p.actor(r); ok {
		f.Actor, f.Version, f.Asks, f.Inbox = &a, p.version, p.requesting() != nil, p.inbox(r.Context(), a)
		f.Questions, f.Asked = p.questioning() != nil, p.asking(r.Context(), a)
		f.Tenants = p.tenantsFor(r.Context(), a)
	}
	return f
}

// render writes a page as a whole, so that a mistake in it can still become an error page.
func (p *Portal) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	var buf bytes.Buffer
	if err := c.Render(r.Context(), &buf); err != nil {
		p.log.ErrorContext(r.Context(), "render", "error", err, "path", r.URL.Path)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	writePage(w, r, status, buf.Bytes())
}

// form reads a posted form; too much of it is ETooLarge.
func form(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return malformed(err)
	}
	return nil
}

func malformed(err error) error {
	e := app.Errorf(app.EInvalid, "The request could not be read: %w", err)
	e.Reason = "malformed"
	return e
}
