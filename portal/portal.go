package portal

import (
	"log/slog"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/alexedwards/scs/v2"
	"github.com/danielgtaylor/huma/v2"
	"muster/app/catalog"
	"muster/app/identity"
	"muster/app/observe"
	"muster/portal/chat"
	clusterpage "muster/portal/cluster"
	"muster/portal/quota"
	"muster/portal/site"
)

// Config configures a portal. The use cases, Texts and Rules must be set.
type Config struct {
	site.UseCases
	Sessions scs.Store    // session store; nil: in memory
	Logger   *slog.Logger // nil: slog.Default()
	Version  string       // shown in the footer and by the API, to signed-in people
	Secure   bool         // the portal is reached over TLS: secure cookies and HSTS
	// CAFingerprint is the fingerprint of the server's own CA, "" without; provisioner tokens contain it.
	CAFingerprint string
	// SandboxNote is a notice at the top of every page.
	SandboxNote string
	// URL is the portal's public URL, such as https://muster.example.org; "" if not needed.
	URL string
	// AppsDomain is the domain below which ports of nodes have names of their own, such as apps.example.org; "" for none.
	AppsDomain string
	// SecurityContact, a mailto or https URI, is the contact for vulnerabilities; "" turns off security.txt. SecurityPolicy is the page of
	// the vulnerability policy; "" without.
	SecurityContact, SecurityPolicy string
	// Proxies are trusted proxies in front of the portal.
	Proxies []netip.Prefix
	// Providers are identity providers, in the order of the sign-in page.
	Providers []site.IdentityProvider
	// Directories know names and passwords of people without a password in Muster, in the order in which they're asked.
	Directories []identity.Directory
	// Keys checks security keys; nil: only codes are second factors.
	Keys site.SecurityKeys
	// Texts reads and changes YAML of the catalog.
	Texts catalog.Texts
	// Rules reads and writes rules of build hooks.
	Rules site.RuleTexts
	// Chat is the chat for installations into workspaces; nil: none.
	Chat chat.Chat
	// APIRate limits a user's API requests per minute; 0: unlimited.
	APIRate int
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Meter measures requests and streams, and Tracer traces requests; nil: off.
	Meter  observe.Meter
	Tracer observe.Tracer
}

// Portal is the web face as an http.Handler. Create it with New, and Close it before shutting down the HTTP server, which would otherwise
// wait for event streams.
type Portal struct {
	*site.Site
	services

	live     *liveUpdates
	proxies  proxies
	security struct{ contact, policy string } // for security.txt
	changing *turns
	api      http.Handler // the REST API, without its prefix
	document *huma.OpenAPI
	tracer   observe.Tracer
	handler  http.Handler
	served   http.Handler // handler, possibly wrapped by a test

	once sync.Once
}

var _ http.Handler = (*Portal)(nil)

// New makes a portal. It panics if a use case is missing, which is a wiring mistake.
func New(c Config) *Portal {
	c.UseCases.Check()
	p := &Portal{Site: &site.Site{UseCases: c.UseCases}}
	p.services = newServices(p.Site)
	p.Log, p.Version, p.Note, p.fleet.CA, p.Secure, p.Now = c.Logger, c.Version, c.SandboxNote, c.CAFingerprint, c.Secure, c.Now
	p.AppsDomain = c.AppsDomain
	p.URL, p.proxies, p.Elsewhere, p.Keys, p.chat.Chat = strings.TrimRight(c.URL, "/"), c.Proxies, c.Providers, c.Keys, c.Chat
	p.Texts, p.Rules, p.Directories = c.Texts, c.Rules, c.Directories
	p.Closing, p.Streams, p.Meter, p.tracer = make(chan struct{}), newStreams(), observe.MeterOf(c.Meter), c.Tracer
	p.quota.Limiter, p.quota.PerMinute, p.changing = quota.NewLimiter(c.APIRate), c.APIRate, newTurns()
	p.Notice = func(message string) templ.Component {
		return clusterpage.PreviewPart(clusterpage.Create{Notice: message})
	}
	p.security.contact, p.security.policy = c.SecurityContact, c.SecurityPolicy
	if p.Log == nil {
		p.Log = slog.Default()
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if c.Sessions == nil {
		c.Sessions = newMemory()
	}
	p.Streams.Meter = p.Meter
	p.Sessions = newSessions(c.Sessions, c.Secure, p.sessionTrouble)
	p.live = &liveUpdates{Site: p.Site, pages: p.livePages(), attend: attendEvery, turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	p.handler = p.routes()
	p.served = inspected(p.build.HooksDocument, inspected(p.document, p.handler))
	return p
}

// ServeHTTP serves one request.
func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.served.ServeHTTP(w, r) }

// ByHost serves requests for ports of nodes, which have hosts of their own, and leaves all others to next.
func (p *Portal) ByHost(next http.Handler) http.Handler {
	apps := p.rescue(p.access(p.port))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.port.Labeled(r) != "" {
			apps.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Close ends all event streams and long polls; readers reconnect to the next process. Calling it twice is harmless. Pages are served as
// before.
func (p *Portal) Close() error {
	p.once.Do(func() {
		close(p.Closing)
		p.port.Close()
	})
	return nil
}
