package portal

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/alexedwards/scs/v2"
	"github.com/danielgtaylor/huma/v2"
	"muster/app/catalog"
	"muster/app/observe"
	"muster/portal/chat"
	clusterpage "muster/portal/cluster"
	"muster/portal/quota"
	"muster/portal/site"
)

// Config is what a portal is made of. The use cases, Texts and Rules must be set.
type Config struct {
	site.UseCases
	Sessions scs.Store    // where sessions are kept; nil: in memory, gone with the process
	Logger   *slog.Logger // nil: slog.Default()
	Version  string       // shown at the foot of pages and by the API, to those who are signed in
	Secure   bool         // people reach the portal over TLS: cookies say so, and browsers are told to stay with it
	// CAFingerprint is that of the server's own CA, "" without; tokens of provisioners carry it.
	CAFingerprint string
	// SandboxNote is shown on top of every page, to say what everyone should know about this installation.
	SandboxNote string
	// URL is where people reach the portal, such as https://muster.example.org; "" where nothing needs to know.
	URL string
	// SecurityContact, a mailto or https URI, is where vulnerabilities are reported; "" where security.txt is not served. SecurityPolicy is
	// the page that says how that is handled; "" where there is none.
	SecurityContact, SecurityPolicy string
	// Proxies stand before the portal, and are believed when they say whom they ask for.
	Proxies []netip.Prefix
	// Providers are where people may prove who they are instead of by a password, in the order in which they are offered.
	Providers []site.IdentityProvider
	// Keys checks security keys; nil: only codes are second factors.
	Keys site.SecurityKeys
	// Texts reads and changes texts of the catalog.
	Texts catalog.CatalogTexts
	// Rules reads and writes rules of build hooks.
	Rules site.RuleTexts
	// Chat is the chat into whose workspaces Muster can be installed; nil: there is none.
	Chat chat.Chat
	// APIRate is how many requests of the REST API a user may send in a minute; 0: as many as there are.
	APIRate int
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Meter counts requests and streams, and Tracer follows requests; nil: no one does.
	Meter  observe.Meter
	Tracer observe.Tracer
}

// Portal is the web face as an http.Handler. Make it with New, and Close it before the HTTP server is shut down, since
// event streams would otherwise keep the server waiting.
type Portal struct {
	*site.Site
	nouns

	live     *liveUpdates
	proxies  proxies
	security struct{ contact, policy string } // for security.txt
	changing *turns
	api      http.Handler // the REST API, without its prefix
	document *huma.OpenAPI
	tracer   observe.Tracer
	handler  http.Handler
	served   http.Handler // handler, or what a test sees of it

	once sync.Once
}

var _ http.Handler = (*Portal)(nil)

// New makes a portal. It panics without a use case, which is a mistake in wiring.
func New(c Config) *Portal {
	c.UseCases.Check()
	p := &Portal{Site: &site.Site{UseCases: c.UseCases}}
	p.nouns = newNouns(p.Site)
	p.Log, p.Version, p.Note, p.fleet.CA, p.Secure, p.Now = c.Logger, c.Version, c.SandboxNote, c.CAFingerprint, c.Secure, c.Now
	p.URL, p.proxies, p.Elsewhere, p.Keys, p.chat.Chat = strings.TrimRight(c.URL, "/"), c.Proxies, c.Providers, c.Keys, c.Chat
	p.Texts, p.Rules = c.Texts, c.Rules
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
	p.live = &liveUpdates{Site: p.Site, pages: p.livePages(), attend: attendEvery}
	p.handler = p.routes()
	p.served = inspected(p.build.HooksDocument, inspected(p.document, p.handler))
	return p
}

// ServeHTTP serves one request.
func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.served.ServeHTTP(w, r) }

// Close ends all event streams and long polls; readers come back by themselves to the next process. Calling it twice
// does no harm. Pages are served as before.
func (p *Portal) Close() error {
	p.once.Do(func() { close(p.Closing) })
	return nil
}
