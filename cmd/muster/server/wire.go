package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/file/catalog"
	"muster/app/file/catalog/form"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/observe"
	"muster/app/store"
	"muster/app/template"
	"muster/bot/slack"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/database"
	"muster/cmd/muster/families"
	"muster/cmd/muster/observe/metrics"
	"muster/cmd/muster/wiring"
	"muster/cmd/muster/wiring/faces"
	"muster/jobs/budget"
	"muster/jobs/email"
	"muster/jobs/prometheus"
	"muster/jobs/queue"
	"muster/jobs/reconcile"
	"muster/jobs/upkeep"
	"muster/portal"
	fleetpage "muster/portal/fleet"
	"muster/portal/site"
	"muster/providers"
)

// Config is all settings of a server, as plain values.
type Config struct {
	Data        string            // directory of database, keys and provider state
	Listen      string            // host:port; port 0 picks a free one
	AnyPort     bool              // if the port is in use, pick a free one
	Catalogs    []string          // directories
	RedisURL    string            // "" starts one inside the process
	NoMigrate   bool              // reject a database with pending migrations
	Database    string            // a postgres:// URL; "" keeps a SQLite file in the data directory
	Workers     int               // steps at a time in this process; 0 for none
	Tags        map[string]string // of the provisioner in this process
	TenantSlots int               // most slots of one tenant; 0: no limit
	Currency    string            // the installation's, by ISO 4217
	HostAccess  bool              // tenants' admins may run their code on this host
	TLS         TLSConfig
	SignIn      SignInConfig
	Security    securityConfig
	Email       *email.Server // nil: no email is sent
	Plugins     families.PluginConfig
	Automators  families.AutomatorConfig
	Settings    []fleet.Setting // without secrets
	Upkeep      upkeepConfig
	Hooks       hookConfig
	Slack       SlackConfig
	APIRate     int // REST API requests per user and minute; 0: no limit
	Resources   resourceConfig
	Observe     ObserveConfig
	Password    string // of the first admin; "": generated
	Key         string // hex; "": a file in the data directory
	Log         *slog.Logger
	Env         func(string) (string, bool) // looked up by ${env:NAME} in catalogs
}

// Server is Muster as one process. Create it with New, Run it, Close it (closing twice is fine).
type Server struct {
	Config
	URL           string // public URL
	AdminPassword string // set only if the first account was just created
	QueueNote     string // for people: which Redis
	StoreNote     string // for people: which database

	Services    *all.Services
	Store       *store.Store
	queue       *queue.Queue
	Providers   *ProviderSet
	HTTP        *http.Server
	probe       *Probe
	Portal      *portal.Portal
	workers     *fleetpage.WorkerAPI
	slack       *slack.Server // nil: there is none
	listener    net.Listener
	catalog     atomic.Pointer[template.Catalog]
	reader      *catalog.Reader
	metrics     *metrics.Metrics
	tracer      observe.Tracer // nil: no tracing
	Sides       *sideServers
	Fingerprint string // of our own CA; "" without one

	registered     chan struct{} // closed once the workers of this process are registered
	registeredOnce sync.Once
	began          time.Time
	id             string // of this server among those on the same database

	closers []func() error // in the order of opening
	once    sync.Once
	failed  error
}

// LocalWorkers is the name prefix of this server's own workers. A data directory has one server at a time, so claims of such workers in the
// ledger at start belong to a previous process.
func (s *Server) LocalWorkers() string { return "local:" + s.id + ":" }

// New opens everything and starts to listen, but doesn't serve yet. On an error it closes everything again.
func New(ctx context.Context, c Config) (*Server, error) {
	s := &Server{Config: c, registered: make(chan struct{}), began: time.Now()}
	if err := s.open(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) open(ctx context.Context) error {
	c := s.Config
	if c.Database != "" && c.RedisURL == "" {
		return &app.Error{Code: app.EInvalid, Field: "REDIS_URL", Message: "DATABASE_URL requires REDIS_URL.",
			Hint: "Servers that share a PostgreSQL database need a shared queue: set REDIS_URL to a Redis,\n" +
				"or unset DATABASE_URL to keep everything in this process."}
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	unlock, err := database.LockDirectory(c.Data)
	if err != nil {
		return err
	}
	s.onClose(unlock)
	// The last run's client settings are outdated.
	if err := os.Remove(filepath.Join(c.Data, cli.ClientFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := s.openStore(ctx); err != nil {
		return err
	}
	if err := s.plug(ctx); err != nil {
		return err
	}
	if err := s.loadCatalog(); err != nil {
		return err
	}
	installation, err := s.Store.Installation(ctx)
	if err != nil {
		return err
	}
	if err := s.openQueue(ctx, installation); err != nil {
		return err
	}
	blobs, err := s.openBlobs(ctx)
	if err != nil {
		return err
	}
	if err := s.observe(); err != nil {
		return err
	}
	calls := budget.New(s.queue, c.Log)
	calls.Meter = s.metrics
	s.Providers = &ProviderSet{Dir: filepath.Join(c.Data, "providers"), Installation: installation, Log: c.Log, budget: calls, meter: s.metrics,
		tracer: s.tracer, guard: s.guard()}
	s.onClose(s.Providers.Close)
	s.Services = wiring.UseCases(all.Config{Store: s.Store, Catalog: s.catalog.Load, Reader: s.reader, TenantHostAccess: c.HostAccess, Currency: c.Currency,
		SharesHost: s.sharesHost, Now: wallClock, Programs: s.programs,
		Budgets: calls, Calls: calls, Facts: s.facts, Provisioned: true, HookGuard: s.guard(),
		Prometheus:   prometheus.New(prometheus.Config{Guard: s.guard(), Proxy: s.Hooks.Proxy, Version: cli.VersionName()}),
		RequestHooks: s.asker(),
		Accounts:     AccountDesk{Providers: s.Providers, elsewhere: s.madeElsewhere},
		ListAccount:  AccountDesk{Providers: s.Providers, elsewhere: s.madeElsewhere}.List, CheckProvider: providers.Check,
		LeaseGrace: c.Upkeep.LeaseGrace, Blobs: blobs, ResourceLimits: c.Resources.limits(), Meter: s.metrics, Expose: s.metrics.Expose})
	if _, err := s.Services.Catalog.RecordCatalog(ctx, s.id); err != nil {
		return err
	}
	if s.AdminPassword, err = s.Services.Identity.Users.EnsureAdmin(ctx, c.Password); err != nil {
		return err
	}
	if err := s.listen(ctx); err != nil {
		return err
	}
	return s.showSides()
}

func (s *Server) onClose(f func() error) { s.closers = append(s.closers, f) }

func (s *Server) loadCatalog() error {
	o := families.CatalogOptions(s.Env)
	o.Warn = func(p form.Problem) { s.Log.Warn("catalog: " + p.String()) }
	o.HostAccess = s.HostAccess
	s.reader = catalog.NewReader(o, families.All())
	c, err := s.reader.Load(s.Catalogs...)
	if err != nil {
		return err
	}
	s.catalog.Store(c)
	return nil
}

func (s *Server) openQueue(ctx context.Context, installation string) error {
	url := s.RedisURL
	s.QueueNote = "Redis at REDIS_URL"
	if url == "" {
		password := identity.NewPassword()
		embedded, err := queue.StartEmbeddedRedis(password)
		if err != nil {
			return err
		}
		s.onClose(embedded.Close)
		url, s.QueueNote = embedded.URL(password), "inside this process"
	}
	q, err := queue.Open(url, installation)
	if err != nil {
		return err
	}
	s.queue = q
	s.onClose(q.Close)
	if err := q.Ping(ctx); err != nil {
		// The ledger accepts requests without a queue; they run when it's back.
		s.Log.Warn("Redis isn't responding yet; continuing without it", "error", err)
	}
	return nil
}

// listen opens the port and creates the portal.
func (s *Server) listen(ctx context.Context) (err error) {
	s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", s.Listen)
	if err != nil && s.AnyPort {
		host, _, _ := net.SplitHostPort(s.Listen)
		s.Log.Warn("the port is in use; picking another", "address", s.Listen)
		s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		e := &app.Error{Code: app.EConflict, Message: "can't listen on " + s.Listen, Err: err, Hint: "Choose an address of this host with --listen."}
		if errors.Is(err, syscall.EADDRINUSE) {
			e.Hint = "If another server is running, stop it, or choose another address with --listen."
		}
		return e
	}
	s.onClose(func() error { _ = s.listener.Close(); return nil })
	s.URL = "http://" + reachable(s.listener.Addr().String())
	secure, err := s.secure()
	if err != nil {
		return err
	}
	at := cmp.Or(s.SignIn.URL, s.URL)
	elsewhere, directories, err := s.SignIn.open(at)
	if err != nil {
		return err
	}
	s.slack = s.Slack.open(faces.Slack(s.Services), at, s.id, s.Log)
	s.Portal = wiring.Portal(s.Services, portal.Config{Chat: installer(s.slack), Sessions: s.Store.Sessions(), Logger: s.Log, Version: cli.VersionName(),
		CAFingerprint:   s.Fingerprint,
		SecurityContact: s.Security.Contact, SecurityPolicy: s.Security.Policy, Secure: secure ||
			strings.HasPrefix(at, "https://"), URL: at, AppsDomain: s.SignIn.Apps,
		Proxies: s.SignIn.Proxies, Providers: elsewhere, Directories: directories, APIRate: s.APIRate,
		Meter: s.metrics, Tracer: s.tracer})
	mux := http.NewServeMux()
	s.probe = &Probe{Database: s.Store.Ping, Queue: s.queue.Ping}
	s.probe.Serve(mux)
	mux.Handle("/", s.Portal)
	s.workers = fleetpage.NewWorkerAPI(s.Services.Fleet.Registries, s.Log, s.metrics)
	mux.Handle(fleetpage.WorkerPath, s.workers)
	if s.slack != nil {
		mux.Handle(slack.Path, site.Watched(s.metrics, s.tracer, patternOf(slack.Path), s.slack))
		mux.Handle("GET "+slack.InstallPath, s.Portal)
		mux.Handle("GET "+slack.OAuthPath, s.Portal)
		s.onClose(s.slack.Close)
	}
	s.HTTP = &http.Server{Handler: s.Portal.ByHost(mux), ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout: 40 * time.Second, WriteTimeout: 45 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug)}
	return nil
}

// reachable turns a wildcard address into one that a browser can open.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// Run serves until ctx ends, and keeps client settings in the data directory in the meantime.
func (s *Server) Run(ctx context.Context) error {
	if err := s.introduce(ctx); err != nil {
		return err
	}
	if n, err := s.Store.ReleaseClaims(ctx, s.LocalWorkers(), time.Now()); err != nil {
		return err
	} else if n > 0 {
		s.Log.Info("resuming steps of the last run", "steps", n)
	}
	var wg sync.WaitGroup
	loops, stop := context.WithCancel(context.WithoutCancel(ctx))
	workers := s.startWorkers(ctx)
	wg.Go(func() { s.balance(loops) })
	wg.Go(func() { s.followPlugins(loops) })
	// A server that can't reach Redis can't dispatch, and lets another one lead.
	s.Store.ReportHealthy()
	wg.Go(func() { s.queue.PingLoop(loops, s.Store.ReportHealthy) })
	wg.Go(func() {
		(&upkeep.HealthClock{Ring: s.Services.Execution.Coordinator.SignalCheckBatches, Feed: s.Store, Log: s.Log, Now: wallClock}).Run(loops)
	})
	wg.Go(func() { s.Store.Lead(loops, s.lead) })
	if s.slack != nil {
		wg.Go(func() { s.slack.Run(loops) })
	}
	served := make(chan error, 1)
	wg.Go(func() { served <- s.HTTP.Serve(s.listener) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
	case err = <-workers.failed:
	}
	s.shut(workers)
	stop()
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// lead does the work of the leader, while this server is the leader. All of it is harmless if two servers do it at once, as may happen for a
// moment at a handover.
func (s *Server) lead(ctx context.Context) {
	if s.Database != "" {
		s.Log.Info("this server is now the leader: it dispatches steps, requeues lost ones, expires leases and reconciles accounts")
		defer s.Log.Info("this server is no longer the leader")
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		(&queue.Dispatcher{Ledger: s.Store, Queue: s.queue, Expire: s.Services.Upkeep.Expire, Undo: s.Services.Place.Undo, Log: s.Log,
			Now: wallClock, Meter: s.metrics}).Run(ctx)
	})
	wg.Go(func() {
		// A killed server still holds accounts for a while; a database's only server takes them over at once.
		name := "local"
		if s.Database != "" {
			name = rand.Text()
		}
		(&reconcile.Reconciler{Name: name, Installation: s.Providers.Installation,
			Accounts: s.Store, Orphans: s.Store, Clusters: s.Store, Proofs: s.Store, Volumes: s.Store, Snapshots: s.Store, Images: s.Store, Interruptions: s.Store,
			Providers: TenantAccounts{s.Providers, s.Store.TenantNames, s.Services.Secret.SecretsOf},
			Catalog:   s.catalog.Load, Own: s.ownAccounts, Used: s.Store.AccountUsed,
			Log: s.Log, Tags: s.Tags, Meter: s.metrics,
			// The sandbox creates machines on the worker's host, which isn't this one without workers.
			Elsewhere: s.madeElsewhere}).Run(ctx)
	})
	wg.Go(func() { s.retention().Run(ctx) })
	wg.Go(func() {
		(&upkeep.BuildReconciler{Reconcile: s.Services.Build.Reconciler.ReconcileBuilds,
			Forget: s.Store.ForgetBuilds, Watch: s.Store.Watch, Log: s.Log, Now: wallClock}).Run(ctx)
	})
	wg.Go(func() {
		(&upkeep.Sweeper{Sweep: s.Services.Resource.SweepResources, Log: s.Log, Meter: s.metrics}).Run(ctx)
	})
	wg.Go(func() {
		(&upkeep.AutoRepairer{Repair: s.Services.Execution.Health.RepairUnhealthy, Log: s.Log, Meter: s.metrics}).Run(ctx)
	})
	wg.Go(func() {
		(&upkeep.Scaler{Scale: s.Services.Scaling.RunScaling, Every: queue.ExpireEvery, Log: s.Log}).Run(ctx)
	})
	wg.Go(func() { s.deliverer(rand.Text()).Run(ctx) })
	wg.Go(func() { s.callbacks(rand.Text()).Run(ctx) })
	wg.Go(func() { s.mailer(rand.Text()).Run(ctx) })
	if s.slack != nil {
		wg.Go(func() { s.slack.Maintain(ctx) })
	}
	wg.Wait()
}

// ownAccounts are those of tenants, and of single clusters whose users have set credentials.
func (s *Server) ownAccounts(ctx context.Context) ([]*template.ProviderSpec, error) {
	tenants, err := s.Services.Catalog.TenantProviders(ctx)
	if err != nil {
		return nil, err
	}
	clusters, err := s.Services.Values.Accounts(ctx)
	return append(slices.Clone(tenants), clusters...), err
}

// shut stops interfaces and workers concurrently: neither depends on the other.
func (s *Server) shut(workers *workforce) {
	s.probe.Leaving.Store(true)
	workers.stop()
	s.Portal.Close()
	s.workers.Close()
	s.Services.Terminal.Close()
	s.Services.Port.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if s.HTTP.Shutdown(ctx) != nil {
		_ = s.HTTP.Close()
	}
	if s.slack != nil {
		_ = s.slack.Close()
	}
	<-workers.done
}

// introduce writes a token for clients of the same user on the same host.
func (s *Server) introduce(ctx context.Context) error {
	token, err := s.Services.Identity.Tokens.LocalToken(ctx, "the host of server "+s.id)
	if err != nil {
		return err
	}
	return cli.WriteClientSettings(s.Data, cli.ClientSettings{URL: s.URL, Token: token, CA: s.Fingerprint})
}

// Close closes everything in reverse order of opening.
func (s *Server) Close() error {
	s.once.Do(func() {
		for i := len(s.closers) - 1; i >= 0; i-- {
			s.failed = errors.Join(s.failed, s.closers[i]())
		}
	})
	return s.failed
}
