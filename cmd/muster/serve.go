package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
)

// defaultListen is where a server listens unless told otherwise: for this machine only.
const defaultListen = "127.0.0.1:8420"

// defaultWorkers is how many steps a server carries out at the same time by itself.
const defaultWorkers = 16

func serveCommand(c *cli) *cobra.Command {
	var (
		f       catalogFlag
		listen  string
		workers int
		verbose bool
		tags    tagFlag
		most    int
		secure  tlsConfig
		mode    string
		upkeep  upkeepConfig
		hooks   hookFlags
		signIn  signInFlags
	)
	cmd := &cobra.Command{
		Use:   "serve --catalog DIR",
		Short: "Run the server: portal, REST API, dispatcher and, with --workers, workers",
		Long: "Run the server: portal, REST API, dispatcher and, with --workers, workers. Without any other part installed it keeps\n" +
			"its database in the data directory and its queue in the process.\n\n" +
			"Environment: DATABASE_URL (postgres://user:password@host/database of a PostgreSQL 13 or newer, which several servers may\n" +
			"share; default: SQLite in the data directory), REDIS_URL (a Redis to use as queue; needed with DATABASE_URL),\n" +
			"MUSTER_SECRET_KEY (the key that wraps those that secrets are sealed with, the same for all servers on a database: 64 hex\n" +
			"digits, file:///PATH, or a key service's awskms://, gcpkms://, azurekeyvault:// or hashivault:// URL; default: a key file in\n" +
			"the data directory), MUSTER_ADMIN_PASSWORD (of the first account), MUSTER_DATA, MUSTER_CATALOG. For Slack:\n" +
			"SLACK_SIGNING_SECRET (over https) or SLACK_APP_TOKEN (over a websocket), with SLACK_BOT_TOKEN and MUSTER_SLACK_TENANT (whose\n" +
			"workspace it is; default: default) for one workspace, or SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for many.",
		Example: "  muster serve --catalog examples/catalog",
		Args:    atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dirs, err := f.directories()
			if err != nil {
				return err
			}
			if workers < 0 || workers > 1000 {
				return usagef("--workers must be from 0 to 1000, not %d", workers)
			}
			switch mode {
			case "", "off":
			case "self":
				secure.Self = true
			default:
				return usagef("--tls must be self or off, not %q", mode).hint("A certificate of your own is named with --tls-cert and --tls-key.")
			}
			if err := secure.check(); err != nil {
				return err
			}
			if most < 0 {
				return usagef("--tenant-slots must not be negative")
			}
			if err := upkeep.check(); err != nil {
				return err
			}
			people, err := signIn.read(os.LookupEnv)
			if err != nil {
				return err
			}
			chat, err := readSlack(os.LookupEnv)
			if err != nil {
				return err
			}
			data, err := c.dataDir()
			if err != nil {
				return err
			}
			leading, err := hooks.config()
			if err != nil {
				return err
			}
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			return c.serve(cmd.Context(), serverConfig{
				Data: data, Listen: listen, AnyPort: !cmd.Flags().Changed("listen"), Catalogs: dirs, RedisURL: os.Getenv("REDIS_URL"),
				Upkeep:   upkeep,
				Database: os.Getenv("DATABASE_URL"), Workers: workers, Password: os.Getenv("MUSTER_ADMIN_PASSWORD"), Key: os.Getenv("MUSTER_SECRET_KEY"),
				Log: newLogger(c.stderr, level), Env: os.LookupEnv, Tags: tags, TenantSlots: most, TLS: secure, SignIn: people, Hooks: leading, Slack: chat,
			})
		},
	}
	f.declare(cmd)
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "`address` to listen on; when it is not given and taken, another port is picked")
	cmd.Flags().IntVar(&workers, "workers", defaultWorkers, "`steps` that this process carries out at the same time; 0 leaves them to others")
	cmd.Flags().Var(&tags, "tag", "`NAME=VALUE` that providers may ask of who carries out their steps; may be repeated")
	cmd.Flags().IntVar(&most, "tenant-slots", 0, "most `steps` of one tenant at the same time, all provisioners together; 0: no limit")
	upkeep.declare(cmd)
	signIn.declare(cmd)
	cmd.Flags().StringVar(&mode, "tls", "", "`self` serves over TLS with a certificate of a CA that is made in the data directory")
	cmd.Flags().StringVar(&secure.Cert, "tls-cert", "", "`file` with a certificate to serve over TLS with, and its chain; read again when it changes")
	cmd.Flags().StringVar(&secure.Key, "tls-key", "", "`file` with its key")
	cmd.Flags().StringArrayVar(&secure.Names, "tls-name", nil, "one more `name` or address for the certificate of --tls self; may be repeated")
	cmd.Flags().StringSliceVar(&hooks.allow, "hooks-allow", nil, "`networks` that are not public and that tenants' hooks may lead to all the same, with commas between")
	cmd.Flags().StringVar(&hooks.proxy, "hooks-proxy", "", "`URL` of a proxy that notices go to hooks through; the environment names none")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "log every step")
	return cmd
}

func (c *cli) serve(ctx context.Context, config serverConfig) error {
	s, err := newServer(ctx, config)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "Muster %s\n  portal    %s\n  data      %s\n  database  %s\n  queue     %s\n",
		versionName(), s.URL, config.Data, s.StoreNote, s.QueueNote)
	if s.fingerprint != "" {
		fmt.Fprintf(c.stdout, "  CA        %s\n", s.fingerprint)
	}
	if s.AdminPassword != "" && s.AdminPassword == s.Password { // who gave it knows it, and this may go into a log
		fmt.Fprintln(c.stdout, "  sign in   user admin, with the password that MUSTER_ADMIN_PASSWORD gives")
	} else if s.AdminPassword != "" {
		fmt.Fprintf(c.stdout, "  sign in   user admin, password %s  (shown this once)\n", s.AdminPassword)
	}
	for _, note := range s.notes(ctx) {
		fmt.Fprintf(c.stdout, "  note      %s\n", note)
	}
	fmt.Fprintf(c.stdout, "  stop      Ctrl-C; clusters stay\n")
	err = s.Run(ctx)
	if e := s.Close(); err == nil {
		err = e
	}
	return err
}
