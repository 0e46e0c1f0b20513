package port

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/port"
	"muster/portal/page"
	"muster/portal/site"
)

const (
	// reserved are paths of Muster's own below a port's name.
	reserved   = "/.muster/"
	signInPath = reserved + "signin"
	// cookieName is that of the pass. Over TLS, browsers take one of this name only from this very name.
	cookieName   = "muster-port"
	secureCookie = "__Host-muster-port"

	headerTime = 60 * time.Second
)

// proxy passes requests on to ports.
type proxy struct {
	p         *Service
	reverse   *httputil.ReverseProxy
	transport *http.Transport
}

// visit is who asks for which port.
type visit struct {
	actor app.Actor
	at    port.Address
}

type visitKey struct{}

func newProxy(p *Service) *proxy {
	x := &proxy{p: p}
	x.transport = &http.Transport{
		// Connections are kept by the host of the URL, which holds who they are of.
		DialContext: x.dial, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, ResponseHeaderTimeout: headerTime,
		DialTLSContext: x.dialTLS,
	}
	x.reverse = &httputil.ReverseProxy{Rewrite: x.rewrite, ModifyResponse: modify, ErrorHandler: x.failed, FlushInterval: -1, Transport: x.transport}
	return x
}

// Labeled returns the label of a request's host below the domain for apps; "" where it's another host.
func (p *Service) Labeled(r *http.Request) string {
	if p.AppsDomain == "" {
		return ""
	}
	host, domain := hostOf(r.Host), hostOf(p.AppsDomain)
	if u, err := url.Parse(p.URL); err == nil && strings.EqualFold(u.Hostname(), host) {
		return "" // the portal's own
	}
	label, ok := strings.CutSuffix(strings.ToLower(host), "."+strings.ToLower(domain))
	if !ok || label == "" {
		return ""
	}
	return label
}

func hostOf(at string) string {
	if h, _, err := net.SplitHostPort(at); err == nil {
		return h
	}
	return at
}

// ServeHTTP serves a port's own name.
func (p *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, err := port.ParseLabel(p.Labeled(r))
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	if r.URL.Path == signInPath {
		p.signIn(w, r, at)
		return
	}
	if strings.HasPrefix(r.URL.Path, reserved) {
		p.refuse(w, r, app.Errorf(app.ENotFound, "There is no such page."))
		return
	}
	if !ownRequest(r, at) {
		p.refuse(w, r, &app.Error{Code: app.EForbidden, Reason: "foreign", Message: "Another site's page sent this request, so it was refused."})
		return
	}
	c, err := r.Cookie(p.cookie())
	if err != nil {
		p.toPortal(w, r, at)
		return
	}
	v := site.VisitOf(r)
	v.Looking = r.Header.Get("Sec-Fetch-Mode") != "navigate" // what an app's page asks for by itself keeps no one signed in
	actor, err := p.Ports.Enter(r.Context(), c.Value, at.Label(), v)
	if app.CodeOf(err) == app.EUnauthorized {
		p.toPortal(w, r, at)
		return
	}
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	ctl := http.NewResponseController(w) // apps stream
	_ = ctl.SetReadDeadline(time.Time{})
	_ = ctl.SetWriteDeadline(time.Time{})
	p.proxy.reverse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, visit{actor, at})))
}

func (p *Service) cookie() string {
	if p.Secure {
		return secureCookie
	}
	return cookieName
}

// ownRequest reports whether a request is the app's own, another's of the same cluster, or a person's who opens a page. Apps of others are on the same
// site to browsers, which send them the cookie too.
func ownRequest(r *http.Request, at port.Address) bool {
	switch from := r.Header.Get("Sec-Fetch-Site"); {
	case from == "same-origin" || from == "none":
		return true
	case r.Header.Get("Sec-Fetch-Mode") == "navigate" && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Dest") == "document":
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" { // a program, or a browser of before these headers whose request changes nothing
		return r.Header.Get("Sec-Fetch-Site") == "" || r.Method == http.MethodGet && sameCluster(r.Header.Get("Referer"), r.Host, at)
	}
	return sameCluster(origin, r.Host, at)
}

// sameCluster reports whether an address is of a port of the same cluster, below the same domain.
func sameCluster(address, host string, at port.Address) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	label, domain, _ := strings.Cut(u.Host, ".")
	_, own, _ := strings.Cut(host, ".")
	other, err := port.ParseLabel(label)
	return err == nil && strings.EqualFold(domain, own) && other.Cluster == at.Cluster
}

// toPortal leads to the portal, which signs in and leads back. Only pages can be led.
func (p *Service) toPortal(w http.ResponseWriter, r *http.Request, at port.Address) {
	if r.Method != http.MethodGet || r.Header.Get("Upgrade") != "" {
		p.refuse(w, r, &app.Error{Code: app.EUnauthorized, Message: "Sign in to Muster to use this page.", Hint: "Reload the page."})
		return
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, strings.TrimSuffix(p.URL, "/")+page.PortURL(at, localPath(r.URL.RequestURI())), http.StatusSeeOther)
}

// signIn takes a ticket, and keeps the pass as a cookie of this name alone.
func (p *Service) signIn(w http.ResponseWriter, r *http.Request, at port.Address) {
	q := r.URL.Query()
	pass, err := p.Ports.Redeem(r.Context(), q.Get("ticket"), at.Label())
	if err != nil {
		if app.CodeOf(err) == app.EUnauthorized {
			err = &app.Error{Code: app.EUnauthorized, Message: "This link was used or has expired.", Hint: "Open the port from its cluster's page."}
		}
		p.refuse(w, r, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: p.cookie(), Value: pass, Path: "/", HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteLaxMode,
		MaxAge: int(port.PassTime.Seconds())})
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, localPath(q.Get("path")), http.StatusSeeOther)
}

// rewrite makes the request to the port. Neither the pass nor what this server knows of the visitor goes there.
func (x *proxy) rewrite(r *httputil.ProxyRequest) {
	v, _ := r.In.Context().Value(visitKey{}).(visit)
	r.Out.URL.Scheme = "http"
	if v.at.TLS {
		r.Out.URL.Scheme = "https"
	}
	// The host keeps connections of different sign-ins and ports apart; what the app sees is its own name.
	r.Out.URL.Host = v.actor.Session + "." + v.at.Label() + ".invalid"
	r.Out.Host = r.In.Host
	r.SetXForwarded()
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "X-Client-Ip"} {
		r.Out.Header.Del(name) // the address of a person
	}
	proto := "http"
	if x.p.Secure {
		proto = "https"
	}
	r.Out.Header.Set("X-Forwarded-Proto", proto)
	r.Out.Header.Del("Cookie")
	for _, line := range r.In.Header.Values("Cookie") {
		if rest := withoutOurs(line); rest != "" {
			r.Out.Header.Add("Cookie", rest)
		}
	}
}

// withoutOurs leaves Muster's cookies out of a Cookie header, and the others as they are.
func withoutOurs(line string) string {
	var kept []string
	for pair := range strings.SplitSeq(line, ";") {
		name, _, _ := strings.Cut(pair, "=")
		if !ours(strings.TrimSpace(name)) && strings.TrimSpace(pair) != "" {
			kept = append(kept, strings.TrimSpace(pair))
		}
	}
	return strings.Join(kept, "; ")
}

// ours reports whether a cookie is Muster's, by the names of the portal's and of passes.
func ours(name string) bool {
	return slices.Contains([]string{cookieName, secureCookie, "muster", "__Host-muster"}, name)
}

// modify keeps an app's cookies to its own name, and away from Muster's.
func modify(r *http.Response) error {
	cookies := r.Header.Values("Set-Cookie")
	r.Header.Del("Set-Cookie")
	for _, line := range cookies {
		name, _, _ := strings.Cut(line, "=")
		if ours(strings.TrimSpace(name)) {
			continue
		}
		parts := slices.DeleteFunc(strings.Split(line, ";"), func(part string) bool {
			attribute, _, _ := strings.Cut(part, "=")
			return strings.EqualFold(strings.TrimSpace(attribute), "Domain")
		})
		r.Header.Add("Set-Cookie", strings.Join(parts, ";"))
	}
	return nil
}

func (x *proxy) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	v, ok := ctx.Value(visitKey{}).(visit)
	if !ok {
		return nil, errors.New("port: a connection without a visitor")
	}
	return x.p.Ports.DialPort(ctx, v.actor, v.at)
}

// dialTLS is dial for apps that speak TLS. They're reached through SSH, which has proved which machine it is; what listens there mostly signs its own
// certificate.
func (x *proxy) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := x.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	t := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // see above
	if err := t.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return t, nil
}

func (x *proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	var e *app.Error
	if !errors.As(err, &e) {
		e = &app.Error{Code: app.ETransient, Message: "The app didn't respond.", Hint: "Check that it runs, then reload the page.", Err: err}
	}
	x.p.refuse(w, r, e)
}

// refuse shows an error on a port's own name.
func (p *Service) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e, how := site.Known(err)
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/html; charset=utf-8")
	status := how.Status
	if e.Code == app.ETransient {
		status = http.StatusBadGateway
	}
	w.WriteHeader(status)
	_ = ErrorPage(*e, strings.TrimSuffix(p.URL, "/")).Render(r.Context(), w)
}
