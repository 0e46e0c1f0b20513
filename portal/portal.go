package portal

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/alexedwards/scs/v2"
	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/httprate"
	"muster/app"
	"muster/app/catalog"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	appoperation "muster/app/operation"
	clusterpage "muster/portal/cluster"
)

// Muster is what the portal asks for. Every method may be called from several goroutines; errors are *app.Error where
// they mean something to the person who asked.
type Muster interface {
	Identity
	Clusters
	Controls
	Ledger
}

// Identity tells who somebody is.
type Identity interface {
	// SignIn checks a password and begins a sign-in. EUnauthorized says that user and password do not fit together.
	SignIn(ctx context.Context, tenant, user, password string, v app.Visit) (app.Session, error)
	// ActorOfSession gives who a sign-in stands for now; EUnauthorized where it does not count any more, saying why.
	ActorOfSession(ctx context.Context, id int64, v app.Visit) (app.Actor, error)
	// SignOut ends a sign-in; one that is over is success.
	SignOut(ctx context.Context, id int64) error
	// ActorOfToken gives whom a bearer token stands for; EUnauthorized for a token that nobody has. From is where it came from.
	ActorOfToken(ctx context.Context, token, from string) (app.Actor, error)
}

// Clusters are the use cases about clusters as a whole.
type Clusters interface {
	Catalog(ctx context.Context, a app.Actor) (*app.Catalog, error)
	Preview(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Preview, error)
	CreateCluster(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.ClusterView, error)
	Clusters(ctx context.Context, a app.Actor, f app.ClusterFilter) ([]app.ClusterSummary, error)
	// ClusterPage gives those that a filter lets through, a page of them at a time; ClusterCounts how many there are by status.
	ClusterPage(ctx context.Context, a app.Actor, f app.ClusterFilter) (appcluster.ClusterPage, error)
	ClusterCounts(ctx context.Context, a app.Actor, f app.ClusterFilter) (app.ClusterCounts, error)
	Cluster(ctx context.Context, a app.Actor, id string) (app.ClusterView, error)
	DeleteCluster(ctx context.Context, a app.Actor, id string) (app.ClusterView, error)
	// ClusterKey gives the user and the private key (OpenSSH PEM) that open a shell on the cluster's nodes.
	ClusterKey(ctx context.Context, a app.Actor, cluster string) (user string, pem []byte, err error)
	// ClusterCertificate lets the holder of a public key into the cluster's nodes for a while; ttl 0 is the usual time.
	ClusterCertificate(ctx context.Context, a app.Actor, cluster, publicKey string, ttl time.Duration) (appcluster.Certificate, error)
}

// Controls are what a person can do about an operation of a cluster; operation 0 is the one under way, or else the latest.
// What its state does not allow is EConflict, with a hint that says what it does.
type Controls interface {
	// CancelOperation stops it; with rollBack it is undone by itself once it has stopped.
	CancelOperation(ctx context.Context, a app.Actor, cluster string, operation int64, rollBack bool) (app.ClusterView, error)
	PauseOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (app.ClusterView, error)
	ResumeOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (app.ClusterView, error)
	// RetryNode tries again what failed on one node.
	RetryNode(ctx context.Context, a app.Actor, cluster, node string) (app.ClusterView, error)
	PreviewRollBack(ctx context.Context, a app.Actor, cluster string, operation int64) (appoperation.RollBackPreview, error)
	// RollBack undoes what it has done. A planHash that is not that of the plan made now is EConflict, reason plan_changed.
	RollBack(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string) (app.ClusterView, error)
	// Waiting says why the steps of the operation under way wait.
	Waiting(ctx context.Context, a app.Actor, cluster string, f execution.WaitingFilter) (execution.Waiting, error)
	// Queue tells admins what waits in their tenant.
	Queue(ctx context.Context, a app.Actor) (execution.Queue, error)
}

// Ledger is what happens inside a cluster.
type Ledger interface {
	// Steps gives the steps of an operation in the order of the plan; operation 0 is the latest.
	Steps(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
	// Events gives at most limit entries of the feed after a number, oldest first.
	Events(ctx context.Context, a app.Actor, cluster string, after int64, limit int) ([]app.Event, error)
	Logs(ctx context.Context, a app.Actor, cluster string, f app.LogFilter) ([]app.LogLine, error)
	// Watch wakes the reader of changed whenever the topic wakes, such as when events or log lines of a cluster were written; several may come as one.
	// Stop ends it and may be called twice.
	Watch(a app.Actor, topic app.Topic) (changed <-chan struct{}, stop func())
}

// Explainer is a power that a Muster may have: to say why a request has no layout, and what would make one possible. A
// portal without it shows only the refusal.
type Explainer interface {
	// Explain gives an empty explanation for a request that has a layout.
	Explain(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Explanation, error)
}

// Config is what a portal is made of. Only Muster must be set.
type Config struct {
	Muster   Muster
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
	Providers []IdentityProvider
	// Keys checks security keys; nil: only codes are second factors.
	Keys SecurityKeys
	// Texts reads and changes texts of the catalog; nil: there are no pages of the catalog.
	Texts catalog.CatalogTexts
	// Rules reads and writes rules of build hooks; nil: there are no pages of them.
	Rules RuleTexts
	// Chat is the chat into whose workspaces Muster can be installed; nil: there is none.
	Chat Chat
	// APIRate is how many requests of the REST API a user may send in a minute; 0: as many as there are.
	APIRate int
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Meter counts requests and streams, and Tracer follows requests; nil: nobody does.
	Meter  app.Meter
	Tracer app.Tracer
}

// Portal is the web face as an http.Handler. Make it with New, and Close it before the HTTP server is shut down, since
// event streams would otherwise keep the server waiting.
type Portal struct {
	muster     Muster
	log        *slog.Logger
	sessions   *scs.SessionManager
	attempts   *attempts
	streams    *streams
	rooms      rooms                // clusters whose pages are open
	looks      joint[*sharedLook]   // at clusters, by person
	facts      joint[clusterFacts]  // of clusters, by role
	logs       joint[[]app.LogLine] // that pages follow, by role
	drawn      joint[*drawnPage]    // of other pages, by sign-in and address
	live       map[string]livePage
	attendance attendance // of the sign-ins that opened pages which are kept up to date
	version    string
	note       string
	ca         string
	secure     bool
	url        string
	proxies    proxies
	elsewhere  []IdentityProvider
	keys       SecurityKeys
	chat       Chat
	security   struct{ contact, policy string } // for security.txt
	limiter    *httprate.RateLimiter            // nil: no limit
	perMinute  int
	changing   *turns
	api        http.Handler // the REST API, without its prefix
	document   *huma.OpenAPI
	// hooksDocument describes what is below /hooks; nil where there are no builds.
	hooksDocument *huma.OpenAPI
	texts         catalog.CatalogTexts
	rules         RuleTexts
	schema        entrySchema
	attend        time.Duration // between two looks whether a stream's sign-in still counts
	now           func() time.Time
	meter         app.Meter
	tracer        app.Tracer
	handler       http.Handler
	served        http.Handler // handler, or what a test sees of it
	// notice shows an error in the place of the part of a page that was asked for.
	notice func(message string) templ.Component

	closing chan struct{}
	once    sync.Once
}

var _ http.Handler = (*Portal)(nil)

// New makes a portal. It panics without a Muster, which is a mistake in wiring.
func New(c Config) *Portal {
	if c.Muster == nil {
		panic("portal: Config.Muster is not set")
	}
	p := &Portal{}
	p.muster, p.log, p.version, p.note, p.ca, p.secure, p.now = c.Muster, c.Logger, c.Version, c.SandboxNote, c.CAFingerprint, c.Secure, c.Now
	p.url, p.proxies, p.elsewhere, p.keys, p.chat = strings.TrimRight(c.URL, "/"), c.Proxies, c.Providers, c.Keys, c.Chat
	p.texts, p.rules = c.Texts, c.Rules
	p.attend, p.closing, p.streams, p.meter, p.tracer = attendEvery, make(chan struct{}), newStreams(), app.MeterOf(c.Meter), c.Tracer
	p.limiter, p.perMinute, p.changing = newLimiter(c.APIRate), c.APIRate, newTurns()
	p.notice = func(message string) templ.Component {
		return clusterpage.PreviewPart(clusterpage.Create{Notice: message})
	}
	p.security.contact, p.security.policy = c.SecurityContact, c.SecurityPolicy
	if p.log == nil {
		p.log = slog.Default()
	}
	if p.now == nil {
		p.now = time.Now
	}
	if c.Sessions == nil {
		c.Sessions = newMemory()
	}
	p.streams.meter = p.meter
	p.attempts = newAttempts(p.now)
	p.sessions = newSessions(c.Sessions, c.Secure, p.sessionTrouble)
	p.live = p.livePages()
	p.handler = p.routes()
	p.served = inspected(p.document, p.handler)
	if p.hooksDocument != nil {
		p.served = inspected(p.hooksDocument, p.served)
	}
	return p
}

// ServeHTTP serves one request.
func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.served.ServeHTTP(w, r) }

// Close ends all event streams and long polls; readers come back by themselves to the next process. Calling it twice
// does no harm. Pages are served as before.
func (p *Portal) Close() error {
	p.once.Do(func() { close(p.closing) })
	return nil
}
