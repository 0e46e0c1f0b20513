package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"muster/app"
	appfleet "muster/app/fleet"
	"muster/app/humanize"
	"muster/app/netguard"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"
	"muster/cmd/muster/fleet"
	"muster/cmd/muster/observe/metrics"
	"muster/jobs/coordinator"
	"muster/jobs/provisioner"
	rest "muster/portal/client"

	"github.com/spf13/cobra"
)

// provisionerConfig is a provisioner's settings.
type provisionerConfig struct {
	server     string
	token      string
	ca         string
	name       string
	tags       cli.TagFlag
	slots      int
	data       string
	drain      time.Duration
	insecure   bool
	verbose    bool
	cache      byteSize
	observe    ObserveConfig
	plugins    families.PluginConfig
	automators families.AutomatorConfig
	allow      []string
	networks   []netip.Prefix // of allow
}

// Default slots of a provisioner: steps mostly wait for machines, so a core serves many.
const slotsPerCore = 16

// TokenEnv is the variable with a provisioner's token.
const TokenEnv = "MUSTER_PROVISIONER_TOKEN"

func ProvisionerCommand(c *cli.Context) *cobra.Command {
	var p provisionerConfig
	var file string
	cmd := &cobra.Command{
		Use:   "provisioner --server URL",
		Short: "Run workers for a server on this host, and manage provisioners",
		Long: "Register with a server, and run one worker process for each tenant that the server assigns to this host. SIGTERM and Ctrl-C drain the\n" +
			"provisioner: no new steps start, and running ones finish within --drain or are handed back.\n\n" +
			"Environment: " + TokenEnv + " (or --token-file), from `muster provisioner token create`; MUSTER_CA_FINGERPRINT, if the\n" +
			"token doesn't include it; REDIS_URL (the server's Redis; without it, workers poll the server for work, which is slower); MUSTER_URL;\n" +
			"MUSTER_DATA.",
		Example: "  " + TokenEnv + "=… muster provisioner --server https://muster.example.com:8420 --tag region=eu",
		Args:    cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			p.server, p.ca = cmp.Or(c.Server, os.Getenv("MUSTER_URL")), cmp.Or(c.CA, os.Getenv("MUSTER_CA_FINGERPRINT"))
			if p.data, err = c.DataDir(); err != nil {
				return err
			}
			if p.token, err = provisionerToken(file); err != nil {
				return err
			}
			return provision(cmd.Context(), c, p)
		},
	}
	flags := cmd.Flags()
	p.cache = defaultResourceCache
	p.observe.declare(flags, false)
	p.plugins.Declare(flags)
	p.automators.Declare(flags)
	flags.Var(&p.cache, "resource-cache", "maximum `bytes` of resources to cache on this host's disk")
	flags.StringVar(&c.Server, "server", "", "server `URL` (default $MUSTER_URL)")
	flags.StringVar(&c.CA, "ca-fingerprint", "", "CA `fingerprint` (sha256:…) of a server with --tls self, if the token doesn't include it")
	flags.StringVar(&file, "token-file", "", "`file` with the token")
	flags.StringVar(&p.name, "name", "", "display `name` (default: the host name)")
	flags.Var(&p.tags, "tag", "tag as `NAME=VALUE`, which providers can require for their steps; may be repeated")
	flags.IntVar(&p.slots, "slots", 0, fmt.Sprintf("number of `steps` to run at a time, for all tenants together (default %d per core)", slotsPerCore))
	flags.StringSliceVar(&p.allow, "tenant-networks", nil, "comma-separated private `networks` that tenants' own providers and their machines may use")
	flags.DurationVar(&p.drain, "drain", 10*time.Minute, "how long running steps may take to finish on shutdown")
	flags.BoolVar(&p.insecure, "insecure", false, "allow plain HTTP to another host, which exposes tokens and keys on the network")
	flags.BoolVar(&p.verbose, "verbose", false, "log every step")
	cmd.AddCommand(fleet.ProvisionerListCommand(c), fleet.ProvisionerShowCommand(c), fleet.ProvisionerTokenCommand(c), fleet.ProvisionerDrainCommand(c))
	return cmd
}

// provisionerToken reads the token from a file or variable, where other processes can't see it.
func provisionerToken(file string) (string, error) {
	token := os.Getenv(TokenEnv)
	if file != "" {
		b, err := cli.ReadLimited(file, 4096)
		if err != nil {
			return "", &app.Error{Code: app.EInvalid, Field: "token-file", Message: "can't read the token: " + err.Error()}
		}
		token = string(b)
	}
	if token = strings.TrimSpace(token); token == "" {
		return "", cli.Usagef("a token is required").Hint("Create one on the server with `muster provisioner token create NAME --for-tenant TENANT`, and pass it in\n" + TokenEnv + " or with --token-file.")
	}
	return token, nil
}

// check completes and validates the settings.
func (p *provisionerConfig) check() error {
	token, ca, found := strings.Cut(p.token, ".")
	if p.token = token; found && p.ca == "" {
		p.ca = ca
	}
	u, err := url.Parse(p.server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return cli.Usagef("--server must be a URL, not %q", p.server).Hint("For example: https://muster.example.com:8420.")
	}
	if u.Scheme == "http" && !p.insecure && !Loopback(u.Hostname()) {
		return cli.Usagef("the connection to %s isn't encrypted, so others on the network could read tokens and keys", p.server).
			Hint("Run the server with --tls self or --tls-cert and use https://, or allow this with --insecure.")
	}
	if _, err := rest.Trust(p.ca); err != nil {
		return err
	}
	if p.slots == 0 {
		p.slots = slotsPerCore * runtime.NumCPU()
	}
	if p.slots < 1 || p.slots > app.MaxSlots {
		return cli.Usagef("--slots must be from 1 to %d, not %d", app.MaxSlots, p.slots)
	}
	if p.networks, err = prefixes("--tenant-networks", p.allow); err != nil {
		return err
	}
	if p.drain < 0 {
		return cli.Usagef("--drain can't be negative")
	}
	return nil
}

func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func provision(ctx context.Context, c *cli.Context, p provisionerConfig) error {
	if err := p.check(); err != nil {
		return err
	}
	t, err := rest.Trust(p.ca)
	if err != nil {
		return err
	}
	if err := p.observe.Check(os.LookupEnv); err != nil {
		return err
	}
	host, _ := os.Hostname()
	log := p.observe.Logger(c.Stderr, p.verbose)
	counts := metrics.New(metrics.Config{Version: cli.VersionName(), Go: runtime.Version()})
	sides, err := OpenSides(p.observe, counts, log)
	if err != nil {
		return err
	}
	defer sides.Close()
	if err := p.plugins.Check(); err != nil { // to report errors before there is work
		return err
	}
	if err := p.automators.Check(); err != nil {
		return err
	}
	client := coordinator.NewHTTP(t)
	defer client.CloseIdleConnections()
	supervisor := &supervisor{config: p, log: log, stderr: cli.Raw(c.Stderr), dir: filepath.Join(p.data, "provisioner"), metrics: counts}
	if err := os.MkdirAll(supervisor.dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	supervisor.start()
	defer supervisor.close()
	defer tellSystemd(ctx, "works for "+p.server, log)()
	run := &provisioner.Provisioner{
		Registration: appfleet.Registration{Name: cmp.Or(p.name, host, "provisioner"), Host: host, Version: cli.VersionName(), Tags: p.tags, Slots: p.slots},
		Server:       &coordinator.Remote{URL: p.server, Token: func() string { return p.token }, HTTP: client},
		Start:        supervisor.spawn, DrainTime: p.drain, Log: log, Guard: (&netguard.Guard{Allow: p.networks}).DialContext,
		OnRegister: func(r appfleet.Registered) {
			if sides.Metrics != "" {
				fmt.Fprintf(c.Stdout, "Metrics at http://%s/metrics\n", sides.Metrics)
			}
			fmt.Fprintf(c.Stdout, "Provisioner %s (%s): %s, %s, registered with %s\n", cmp.Or(p.name, host), r.ID, humanize.Count(p.slots, "slot"), app.TagText(p.tags), p.server)
		},
	}
	return run.Run(ctx)
}
