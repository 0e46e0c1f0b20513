package port

import (
	"net/http"
	"net/url"
	"strings"

	"muster/app"
	"muster/app/port"
	"muster/portal/site"
)

// Service leads to ports, and serves them.
type Service struct {
	*site.Site
	proxy *proxy
}

// New returns the service.
func New(s *site.Site) *Service {
	p := &Service{Site: s}
	p.proxy = newProxy(p)
	return p
}

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{site.Show("/ports/{label}", p.open)}
}

// open leads a signed-in person to a port's own name, with a ticket.
func (p *Service) open(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	at, err := port.ParseLabel(strings.TrimPrefix(r.URL.Path, "/ports/"))
	if err != nil {
		return err
	}
	if p.AppsDomain == "" {
		return &app.Error{Code: app.EConflict, Reason: "no_apps_domain",
			Message: "This server has no domain for apps, so ports of nodes can't be opened in the browser.",
			Hint:    "Use `muster cluster forward " + at.Cluster + " " + at.Node + ":" + label(at) + "`, or ask an admin to set --apps-domain."}
	}
	ticket, at, err := p.Ports.OpenPort(r.Context(), a, p.SignInOf(r), at)
	if err != nil {
		return err
	}
	q := url.Values{"ticket": {ticket}, "path": {localPath(r.URL.Query().Get("path"))}}
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, p.origin(at.Label())+signInPath+"?"+q.Encode(), http.StatusSeeOther)
	return nil
}

func label(a port.Address) string {
	first, _, _ := strings.Cut(a.Label(), "--")
	return strings.TrimSuffix(first, "s")
}

// origin is the address of a port's own name. It's reached as the portal is.
func (p *Service) origin(label string) string {
	scheme, host := "http", p.AppsDomain
	if u, err := url.Parse(p.URL); err == nil {
		scheme = u.Scheme
		if u.Port() != "" && !strings.Contains(host, ":") {
			host += ":" + u.Port()
		}
	}
	return scheme + "://" + label + "." + host
}

// localPath is a path of an app; "/" for anything that could lead to another name.
func localPath(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '\\' }) ||
		strings.HasPrefix(path, reserved) {
		return "/"
	}
	if u, err := url.Parse(path); err != nil || u.IsAbs() || u.Host != "" {
		return "/"
	}
	return path
}

// Close closes connections to apps that no request uses.
func (p *Service) Close() { p.proxy.transport.CloseIdleConnections() }
