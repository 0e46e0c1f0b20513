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
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"
	"muster/cmd/muster/fleet"
	"muster/cmd/muster/observe/metrics"
	"muster/jobs/coordinator"
	"muster/jobs/provisioner"
	rest "muster/portal/client"

	"github.com/spf13/cobra"
)

// provisionerConfig is what a provisioner is told from outside.
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

// Slots of a provisioner that is not told how many: steps mostly wait for machines, so a core serves many.
const slotsPerCore = 16

// TokenEnv names the variable that holds a provisioner's token.
const TokenEnv = "MUSTER_PROVISIONER_TOKEN"

func ProvisionerCommand(c *cli.Context) *cobra.Command {
	var p provisionerConfig
	var file string
	cmd := &cobra.Command{
		Use:   "provisioner --server URL",
		Short: "Run workers on this host for a server, and manage who may",
		Long: "Register with a server and run one worker process for each tenant that the server gives this host. SIGTERM and Ctrl-C\n" +
			"drain it: no new step begins, those under way end within --drain or are given back.\n\n" +
			"Environment: " + TokenEnv + " (or --token-file), from `muster provisioner token create`; MUSTER_CA_FINGERPRINT, where\n" +
			"the token does not hold it; REDIS_URL (the Redis of the server; without it workers ask the server for work, which is\n" +
			"slower); MUSTER_URL, MUSTER_DATA.",
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
	flags.Var(&p.cache, "resource-cache", "`bytes` of resources that this host keeps on disk")
	flags.StringVar(&c.Server, "server", "", "`URL` of the server (default $MUSTER_URL)")
	flags.StringVar(&c.CA, "ca-fingerprint", "", "`sha256:…` of the CA of a server with --tls self, where the token does not hold it")
	flags.StringVar(&file, "token-file", "", "`file` that holds the token")
	flags.StringVar(&p.name, "name", "", "`name` that people know it by (default the host's)")
	flags.Var(&p.tags, "tag", "`NAME=VALUE` that providers may ask of who carries out their steps; may be repeated")
	flags.IntVar(&p.slots, "slots", 0, fmt.Sprintf("`steps` at the same time, of all tenants together (default %d for each core)", slotsPerCore))
	flags.StringSliceVar(&p.allow, "tenant-networks", nil, "`networks` that are not public and that the accounts of tenants' own providers and their machines may be in, with commas between")
	flags.DurationVar(&p.drain, "drain", 10*time.Minute, "how long steps may go on once it shall end")
	flags.BoolVar(&p.insecure, "insecure", false, "allow plain http to another host: whoever can listen learns tokens and keys")
	flags.BoolVar(&p.verbose, "verbose", false, "log every step")
	cmd.AddCommand(fleet.ProvisionerListCommand(c), fleet.ProvisionerTokenCommand(c), fleet.ProvisionerDrainCommand(c))
	return cmd
}

// provisionerToken finds the token where no other process can read it.
func provisionerToken(file string) (string, error) {
	token := os.Getenv(TokenEnv)
	if file != "" {
		b, err := cli.ReadLimited(file, 4096)
		if err != nil {
			return "", &app.Error{Code: app.EInvalid, Field: "token-file", Message: "the token cannot be read: " + err.Error()}
		}
		token = string(b)
	}
	if token = strings.TrimSpace(token); token == "" {
		return "", cli.Usagef("a provisioner needs a token").Hint("Create one on the server with `muster provisioner token create NAME --for-tenant TENANT`, and give it as\n" + TokenEnv + " or with --token-file.")
	}
	return token, nil
}

// check completes and refuses.
func (p *provisionerConfig) check() error {
	token, ca, found := strings.Cut(p.token, ".")
	if p.token = token; found && p.ca == "" {
		p.ca = ca
	}
	u, err := url.Parse(p.server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return cli.Usagef("%q is not the URL of a server", p.server).Hint("It looks like https://muster.example.com:8420; give it with --server.")
	}
	if u.Scheme == "http" && !p.insecure && !Loopback(u.Hostname()) {
		return cli.Usagef("%s would be reached without TLS, and tokens and keys could be read on the way", p.server).
			Hint("Serve with --tls self or with --tls-cert, and say https://; --insecure allows it all the same.")
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
		return cli.Usagef("--drain must not be negative")
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
	if err := p.plugins.Plug(ctx, log, nil); err != nil { // workers do so too: what is wrong is told before there is work
		return err
	}
	if err := p.automators.Plug(ctx, log, nil); err != nil {
		return err
	}
	client := coordinator.NewHTTP(t)
	defer client.CloseIdleConnections()
	crew := &crew{config: p, log: log, stderr: cli.Raw(c.Stderr), dir: filepath.Join(p.data, "provisioner"), metrics: counts}
	if err := os.MkdirAll(crew.dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	crew.start()
	defer crew.close()
	defer tellSystemd(ctx, "works for "+p.server, log)()
	run := &provisioner.Provisioner{
		Registration: appfleet.Registration{Name: cmp.Or(p.name, host, "provisioner"), Host: host, Version: cli.VersionName(), Tags: p.tags, Slots: p.slots},
		Server:       &coordinator.Remote{URL: p.server, Token: func() string { return p.token }, HTTP: client},
		Start:        crew.hire, DrainTime: p.drain, Log: log,
		OnRegister: func(r appfleet.Registered) {
			if sides.Metrics != "" {
				fmt.Fprintf(c.Stdout, "Metrics at http://%s/metrics\n", sides.Metrics)
			}
			fmt.Fprintf(c.Stdout, "Provisioner %s (%s): %s, %s, registered with %s\n", cmp.Or(p.name, host), r.ID, humanize.Count(p.slots, "slot"), app.TagText(p.tags), p.server)
		},
	}
	return run.Run(ctx)
}
