package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"muster/app/humanize"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"

	"github.com/spf13/cobra"
)

// checkAddress requires HOST:PORT, before anything is opened.
func checkAddress(flag, address string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil && port == "" {
		err = fmt.Errorf("address %s: missing port in address", address)
	}
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err == nil && strings.ContainsAny(host, " /") {
		err = fmt.Errorf("%q isn't a host name or address", host)
	}
	if err != nil {
		return cli.Usagef("--%s: %s", flag, humanize.PlainError(err)).Hint("For example: 127.0.0.1:8080, or :8080 for all addresses of this host.")
	}
	return nil
}

// DefaultListen is a server's default address, reachable from this host only.
const DefaultListen = "127.0.0.1:8420"

// adminPasswordEnv is the variable with the first account's password.
const adminPasswordEnv = "MUSTER_ADMIN_PASSWORD"

// DefaultWorkers is how many steps a server runs at a time by default.
const DefaultWorkers = 16

// defaultAPIRate is far above what people and builds send, and low enough that one client can't block all others.
const defaultAPIRate = 3000

// ServeFlags are the flags of `muster serve`.
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
	email    emailFlags
	rate     int
	settled  bool
	observe  ObserveConfig

	resources resourceConfig
	plugins   families.PluginConfig
	tooling   families.AutomatorConfig
}

func (f *ServeFlags) Declare(cmd *cobra.Command) {
	f.catalogs.Declare(cmd)
	cmd.Flags().StringVar(&f.listen, "listen", DefaultListen, "`address` to listen on; if the default port is in use, another one is picked")
	cmd.Flags().IntVar(&f.workers, "workers", DefaultWorkers, "number of `steps` that this process runs at a time; 0 runs none")
	cmd.Flags().Var(&f.tags, "tag", "tag as `NAME=VALUE`, which providers can require for their steps; may be repeated")
	cmd.Flags().IntVar(&f.most, "tenant-slots", 0, "maximum number of `steps` per tenant at a time, on all provisioners together; 0 is no limit")
	cmd.Flags().IntVar(&f.rate, "api-rate", defaultAPIRate, "maximum number of REST API `requests` per user and minute; 0 is no limit")
	cmd.Flags().BoolVar(&f.settled, "no-migrate", false, "don't migrate the database; fail if migrations are pending (see muster migrate)")
	cmd.Flags().BoolVar(&f.access, "tenant-host-access", false, "let tenants' admins run providers and scripts on this host, and let several tenants use sandbox machines that are processes of this host; all of them then have the server user's permissions")
	f.upkeep.declare(cmd)
	f.observe.declare(cmd.Flags(), true)
	f.resources.declare(cmd)
	f.signIn.declare(cmd)
	f.security.declare(cmd)
	f.email.declare(cmd)
	f.plugins.Declare(cmd.Flags())
	f.tooling.Declare(cmd.Flags())
	cmd.Flags().StringVar(&f.mode, "tls", "", "TLS `mode`: self (use a certificate from a CA created in the data directory) or off")
	cmd.Flags().StringVar(&f.secure.Cert, "tls-cert", "", "`file` with the TLS certificate and its chain; reloaded when it changes")
	cmd.Flags().StringVar(&f.secure.Key, "tls-key", "", "`file` with the certificate's key")
	cmd.Flags().StringArrayVar(&f.secure.Names, "tls-name", nil, "additional host `name` or address for the certificate of --tls self; may be repeated")
	cmd.Flags().StringSliceVar(&f.hooks.Allow, "tenant-networks", nil, "comma-separated private `networks` that tenants may reach with webhooks, resources, and their own providers and machines")
	cmd.Flags().StringSliceVar(&f.hooks.before, "hooks-allow", nil, "former name of --tenant-networks")
	_ = cmd.Flags().MarkDeprecated("hooks-allow", "use --tenant-networks")
	cmd.Flags().StringVar(&f.hooks.Proxy, "hooks-proxy", "", "`URL` of a proxy for webhooks; proxy environment variables are ignored")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "log every step")
}

// check validates the flags.
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
		return cli.Usagef("--tls must be self or off, not %q", f.mode).Hint("For your own certificate, use --tls-cert and --tls-key.")
	}
	if err := f.secure.check(); err != nil {
		return err
	}
	if f.rate < 0 {
		return cli.Usagef("--api-rate can't be negative")
	}
	if f.most < 0 {
		return cli.Usagef("--tenant-slots can't be negative")
	}
	if err := f.upkeep.check(); err != nil {
		return err
	}
	return f.resources.check()
}

// Config returns a server's settings from flags and environment. With an error, it returns the valid part, so that the rest can be checked.
// It removes the first admin's password from the environment, so that no child process inherits it and no catalog can refer to it.
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
	if s.Email, err = f.email.read(os.LookupEnv); err != nil {
		keep(err)
	}
	if s.Slack, err = readSlack(os.LookupEnv); err != nil {
		keep(err)
	}
	if s.Data, err = c.DataDir(); err != nil {
		keep(err)
	}
	s.Currency = families.Currency()
	if err := families.CheckCurrency(); err != nil {
		keep(err)
	}
	if s.Hooks, err = f.hooks.Config(); err != nil {
		keep(err)
	}
	keep(f.observe.Check(os.LookupEnv))
	s.Log = f.observe.Logger(c.Stderr, f.verbose)
	keep(f.plugins.Check())
	keep(f.tooling.Check())
	s.Plugins, s.Automators = f.plugins, f.tooling
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
		Short: "Run the server",
		Long: "Run the server: portal, REST API, dispatcher and, with --workers, workers. By default, the database is in the data directory and the\n" +
			"queue is in the server process, so nothing else needs to be installed.\n\n" +
			"Environment: DATABASE_URL (PostgreSQL 13 or newer, as postgres://user:password@host/database, which several servers can share;\n" +
			"default: SQLite in the data directory), REDIS_URL (Redis to use as queue; required with DATABASE_URL), MUSTER_SECRET_KEY (the\n" +
			"key-encryption key for secrets, the same for all servers of a database: 64 hex digits, file:///PATH, or a key service's awskms://,\n" +
			"gcpkms://, azurekeyvault:// or hashivault:// URL; default: a key file in the data directory), MUSTER_ADMIN_PASSWORD (of the first\n" +
			"account; remove it afterwards), MUSTER_DATA, MUSTER_CATALOG. For Slack: SLACK_SIGNING_SECRET (over HTTPS) or SLACK_APP_TOKEN (over a\n" +
			"websocket), with SLACK_BOT_TOKEN and MUSTER_SLACK_TENANT (the workspace's tenant; default: default) for one workspace, or\n" +
			"SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for many; SLACK_API_URL (for GovSlack: https://slack-gov.com/api/), MUSTER_CURRENCY (currency of\n" +
			"prices, such as EUR).",
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
	reported := tellSystemd(ctx, "serves "+s.URL, s.Log)
	defer reported()
	err = s.Run(ctx)
	if e := s.Close(); err == nil {
		err = e
	}
	return err
}

// greet prints a server's addresses and notes; warnings go to the log too.
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
	if s.AdminPassword != "" && s.AdminPassword == s.Password { // it's known, and this output may end up in a log
		fmt.Fprintln(c.Stdout, "  sign in   user admin, password as set in "+adminPasswordEnv+"; remove the variable now")
	} else if s.AdminPassword != "" {
		fmt.Fprintf(c.Stdout, "  sign in   user admin, password %s  (shown only once)\n", s.AdminPassword)
	}
	for _, note := range s.Notes(ctx) {
		fmt.Fprintf(c.Stdout, "  note      %s\n", note)
	}
	for _, w := range s.warnings() {
		s.Log.WarnContext(ctx, w)
		fmt.Fprintf(c.Stdout, "  warning   %s\n", w)
	}
	fmt.Fprintf(c.Stdout, "  stop      Ctrl-C; clusters keep running\n")
}

// warnings are settings that the operator should change.
func (s *Server) warnings() (all []string) {
	if s.PlainHTTP() {
		all = append(all, "The server listens on "+s.Listen+" without TLS: "+PlainRisk+" "+PlainAdvice)
	}
	if s.Password != "" && s.AdminPassword == "" {
		all = append(all, adminPasswordEnv+" is still set, but no longer used: the first account exists. Remove it from the server's environment.")
	}
	return all
}

const (
	PlainRisk   = "anyone on the network can read passwords and tokens."
	PlainAdvice = "Serve over TLS (--tls self, or --tls-cert and --tls-key), listen on 127.0.0.1 behind a proxy on this host, or set --trusted-proxies."
)

// PlainHTTP reports whether other hosts can reach the server without TLS and not through a known proxy.
func (c *Config) PlainHTTP() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	return err == nil && !Loopback(host) && !c.TLS.On() && len(c.SignIn.Proxies) == 0
}
