package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"

	"github.com/spf13/cobra"
)

// checkAddress refuses what is not HOST:PORT, before anything is opened.
func checkAddress(flag, address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil && port == "" {
		err = fmt.Errorf("address %s: missing port in address", address)
	}
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err == nil && strings.ContainsAny(host, " /") {
		err = fmt.Errorf("%q is not the name or address of a host", host)
	}
	if err != nil {
		return cli.Usagef("--%s: %s", flag, humanize.GoWords(err)).Hint("An address looks like 127.0.0.1:8080; :8080 listens on every address of this machine.")
	}
	return nil
}

// DefaultListen is where a server listens unless told otherwise: for this machine only.
const DefaultListen = "127.0.0.1:8420"

// adminPasswordEnv returns the password of the first account.
const adminPasswordEnv = "MUSTER_ADMIN_PASSWORD"

// DefaultWorkers is how many steps a server carries out at the same time by itself.
const DefaultWorkers = 16

// defaultAPIRate is far above what people and builds send, and low enough that one of them cannot keep all others waiting.
const defaultAPIRate = 3000

// ServeFlags are the flags of `muster serve`, as they were given.
type ServeFlags struct {
	catalogs families.CatalogFlag
	listen   string
	workers  int
	verbose  bool
	tags     cli.TagFlag
	most     int
	access   bool
	secure   TLSConfig
	mode     string
	upkeep   upkeepConfig
	hooks    HookFlags
	signIn   signInFlags
	security securityFlags
	rate     int
	settled  bool
	observe  ObserveConfig

	resources resourceConfig
	plugins   families.PluginConfig
	tooling   families.AutomatorConfig
}

func (f *ServeFlags) Declare(cmd *cobra.Command) {
	f.catalogs.Declare(cmd)
	cmd.Flags().StringVar(&f.listen, "listen", DefaultListen, "`address` to listen on; when it is not given and taken, another port is picked")
	cmd.Flags().IntVar(&f.workers, "workers", DefaultWorkers, "`steps` that this process carries out at the same time; 0 leaves them to others")
	cmd.Flags().Var(&f.tags, "tag", "`NAME=VALUE` that providers may ask of who carries out their steps; may be repeated")
	cmd.Flags().IntVar(&f.most, "tenant-slots", 0, "most `steps` of one tenant at the same time, all provisioners together; 0: no limit")
	cmd.Flags().IntVar(&f.rate, "api-rate", defaultAPIRate, "how many `requests` of the REST API a user may send in a minute; 0: no limit")
	cmd.Flags().BoolVar(&f.settled, "no-migrate", false, "refuse a database whose tables are not up to date, rather than change them; see muster migrate")
	cmd.Flags().BoolVar(&f.access, "tenant-host-access", false, "let admins of tenants write providers and scripts that run on this host, and several tenants have sandbox machines that are processes of it: they then are what its user is")
	f.upkeep.declare(cmd)
	f.observe.declare(cmd.Flags(), true)
	f.resources.declare(cmd)
	f.signIn.declare(cmd)
	f.security.declare(cmd)
	f.plugins.Declare(cmd.Flags())
	f.tooling.Declare(cmd.Flags())
	cmd.Flags().StringVar(&f.mode, "tls", "", "`self` serves over TLS with a certificate of a CA that is made in the data directory")
	cmd.Flags().StringVar(&f.secure.Cert, "tls-cert", "", "`file` with a certificate to serve over TLS with, and its chain; read again when it changes")
	cmd.Flags().StringVar(&f.secure.Key, "tls-key", "", "`file` with its key")
	cmd.Flags().StringArrayVar(&f.secure.Names, "tls-name", nil, "one more `name` or address for the certificate of --tls self; may be repeated")
	cmd.Flags().StringSliceVar(&f.hooks.Allow, "tenant-networks", nil, "`networks` that are not public and that tenants may reach all the same with hooks, resources, their own providers and the machines of these, with commas between")
	cmd.Flags().StringSliceVar(&f.hooks.before, "hooks-allow", nil, "the former name of --tenant-networks")
	_ = cmd.Flags().MarkDeprecated("hooks-allow", "use --tenant-networks")
	cmd.Flags().StringVar(&f.hooks.Proxy, "hooks-proxy", "", "`URL` of a proxy that notices go to hooks through; the environment names none")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "log every step")
}

// check refuses flags that cannot be obeyed.
func (f *ServeFlags) check() error {
	if err := checkAddress("listen", f.listen); err != nil {
		return err
	}
	if f.workers < 0 || f.workers > 1000 {
		return cli.Usagef("--workers must be from 0 to 1000, not %d", f.workers)
	}
	switch f.mode {
	case "", "off":
	case "self":
		f.secure.Self = true
	default:
		return cli.Usagef("--tls must be self or off, not %q", f.mode).Hint("A certificate of your own is named with --tls-cert and --tls-key.")
	}
	if err := f.secure.check(); err != nil {
		return err
	}
	if f.rate < 0 {
		return cli.Usagef("--api-rate must not be negative")
	}
	if f.most < 0 {
		return cli.Usagef("--tenant-slots must not be negative")
	}
	if err := f.upkeep.check(); err != nil {
		return err
	}
	return f.resources.check()
}

// Config returns what a server is told, by flags and by the environment. With an error it is as much of it as can be read: enough to look at the rest.
// It takes the first admin's password out of the environment, so that no child inherits it and no catalog can name it.
func (f *ServeFlags) Config(cmd *cobra.Command, c *cli.Context) (s Config, wrong error) {
	s.Settings, s.Password = settingsOf(cmd, os.LookupEnv), os.Getenv(adminPasswordEnv)
	if err := os.Unsetenv(adminPasswordEnv); err != nil {
		return s, err
	}
	keep := func(err error) {
		if wrong == nil {
			wrong = err
		}
	}
	keep(f.check())
	var err error
	if s.Catalogs, err = f.catalogs.Directories(); err != nil {
		keep(err)
	}
	if s.SignIn, err = f.signIn.read(os.LookupEnv); err != nil {
		keep(err)
	}
	if s.Security, err = f.security.read(os.LookupEnv); err != nil {
		keep(err)
	}
	if s.Slack, err = readSlack(os.LookupEnv); err != nil {
		keep(err)
	}
	if s.Data, err = c.DataDir(); err != nil {
		keep(err)
	}
	s.Currency = families.Currency()
	if err := template.CheckCurrency(s.Currency); err != nil {
		keep(cli.Usagef("MUSTER_CURRENCY: %s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint))
	}
	if s.Hooks, err = f.hooks.Config(); err != nil {
		keep(err)
	}
	keep(f.observe.Check(os.LookupEnv))
	s.Log = f.observe.Logger(c.Stderr, f.verbose)
	if wrong == nil {
		keep(f.plugins.Plug(cmd.Context(), s.Log, nil))
		keep(f.tooling.Plug(cmd.Context(), s.Log, nil))
	}
	s.Listen, s.AnyPort, s.Workers, s.Tags, s.TenantSlots, s.HostAccess = f.listen, !cmd.Flags().Changed("listen"), f.workers, f.tags, f.most, f.access
	s.RedisURL, s.Database, s.Key = os.Getenv("REDIS_URL"), os.Getenv("DATABASE_URL"), os.Getenv("MUSTER_SECRET_KEY")
	s.TLS, s.Upkeep, s.NoMigrate, s.APIRate, s.Resources, s.Observe = f.secure, f.upkeep, f.settled, f.rate, f.resources, f.observe
	s.Env = os.LookupEnv
	return s, wrong
}

func ServeCommand(c *cli.Context) *cobra.Command {
	var f ServeFlags
	cmd := &cobra.Command{
		Use:   "serve --catalog DIR",
		Short: "Run the server: portal, REST API, dispatcher and, with --workers, workers",
		Long: "Run the server: portal, REST API, dispatcher and, with --workers, workers. Without any other part installed it keeps\n" +
			"its database in the data directory and its queue in the process.\n\n" +
			"Environment: DATABASE_URL (postgres://user:password@host/database of a PostgreSQL 13 or newer, which several servers may\n" +
			"share; default: SQLite in the data directory), REDIS_URL (a Redis to use as queue; needed with DATABASE_URL),\n" +
			"MUSTER_SECRET_KEY (the key that wraps those that secrets are sealed with, the same for all servers on a database: 64 hex\n" +
			"digits, file:///PATH, or a key service's awskms://, gcpkms://, azurekeyvault:// or hashivault:// URL; default: a key file in\n" +
			"the data directory), MUSTER_ADMIN_PASSWORD (of the first account; remove it afterwards), MUSTER_DATA, MUSTER_CATALOG. For Slack:\n" +
			"SLACK_SIGNING_SECRET (over https) or SLACK_APP_TOKEN (over a websocket), with SLACK_BOT_TOKEN and MUSTER_SLACK_TENANT (whose\n" +
			"workspace it is; default: default) for one workspace, or SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for many; SLACK_API_URL (for\n" +
			"GovSlack: https://slack-gov.com/api/), MUSTER_CURRENCY (of prices, such as EUR).",
		Example: "  muster serve --catalog examples/catalog",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := f.Config(cmd, c)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), c, config)
		},
	}
	f.Declare(cmd)
	return cmd
}

func serve(ctx context.Context, c *cli.Context, config Config) error {
	s, err := New(ctx, config)
	if err != nil {
		return err
	}
	greet(ctx, c, s)
	told := tellSystemd(ctx, "serves "+s.URL, s.Log)
	defer told()
	err = s.Run(ctx)
	if e := s.Close(); err == nil {
		err = e
	}
	return err
}

// greet says on the terminal where a server is, and what to know of it; what someone should change goes into the log, too.
func greet(ctx context.Context, c *cli.Context, s *Server) {
	fmt.Fprintf(c.Stdout, "Muster %s\n  portal    %s\n  data      %s\n  database  %s\n  queue     %s\n",
		cli.VersionName(), s.URL, s.Data, s.StoreNote, s.QueueNote)
	if s.Fingerprint != "" {
		fmt.Fprintf(c.Stdout, "  CA        %s\n", s.Fingerprint)
	}
	if s.Sides.Metrics != "" {
		fmt.Fprintf(c.Stdout, "  metrics   http://%s/metrics\n", s.Sides.Metrics)
	}
	if s.Sides.Pprof != "" {
		fmt.Fprintf(c.Stdout, "  profiles  http://%s/debug/pprof/\n", s.Sides.Pprof)
	}
	if s.AdminPassword != "" && s.AdminPassword == s.Password { // who gave it knows it, and this may go into a log
		fmt.Fprintln(c.Stdout, "  sign in   user admin, with the password that "+adminPasswordEnv+" gives; remove the variable now")
	} else if s.AdminPassword != "" {
		fmt.Fprintf(c.Stdout, "  sign in   user admin, password %s  (shown this once)\n", s.AdminPassword)
	}
	for _, note := range s.Notes(ctx) {
		fmt.Fprintf(c.Stdout, "  note      %s\n", note)
	}
	for _, w := range s.warnings() {
		s.Log.WarnContext(ctx, w)
		fmt.Fprintf(c.Stdout, "  warning   %s\n", w)
	}
	fmt.Fprintf(c.Stdout, "  stop      Ctrl-C; clusters stay\n")
}

// warnings are what whoever runs a server should change about how it was started.
func (s *Server) warnings() (all []string) {
	if s.PlainHTTP() {
		all = append(all, "The server listens on "+s.Listen+" without TLS: "+PlainRisk+" "+PlainAdvice)
	}
	if s.Password != "" && s.AdminPassword == "" {
		all = append(all, adminPasswordEnv+" is still set, although the first account exists and the variable is not used any more. Remove it from the server's environment.")
	}
	return all
}

const (
	PlainRisk   = "anyone on the network can read passwords and tokens."
	PlainAdvice = "Serve over TLS (--tls self, or --tls-cert and --tls-key), listen on 127.0.0.1 behind a proxy of this host, or name the proxies with --trusted-proxies."
)

// PlainHTTP tells whether other hosts reach the server without TLS, and not by a proxy that is known.
func (c *Config) PlainHTTP() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	return err == nil && !Loopback(host) && !c.TLS.On() && len(c.SignIn.Proxies) == 0
}
