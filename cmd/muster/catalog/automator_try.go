package catalog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
	"muster/automators"
	promised "muster/automators/conformance"
	"muster/cmd/muster/cli"
	"muster/jobs/remote"
	"muster/providers"
	"muster/providers/conformance"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// automatorTrial is one run of `muster automator test`.
type automatorTrial struct {
	*cli.Context
	fields       string
	yes, verbose bool
	env          []string
	a            family.Automator
	actions      trialActions
}

// trialActions are a trial's fields and their expected results. {home} is replaced by an initially empty directory.
type trialActions struct {
	OK         map[string]string   `yaml:"ok"`
	OKSays     string              `yaml:"ok_says"`
	Fail       map[string]string   `yaml:"fail"`
	FailSays   []string            `yaml:"fail_says"`
	Slow       map[string]string   `yaml:"slow"`
	SlowSays   string              `yaml:"slow_says"`
	Invalid    []map[string]string `yaml:"invalid"`
	Changes    map[string]string   `yaml:"changes"`
	ChangesSay []string            `yaml:"changes_say"`
	Facts      map[string]string   `yaml:"facts"`
	WantFacts  map[string]string   `yaml:"want_facts"`
}

func automatorTestCommand(c *cli.Context) *cobra.Command {
	t := &automatorTrial{Context: c}
	cmd := &cobra.Command{Use: "test ./muster-automator-NAME --fields FILE", Args: cli.Exactly("the automator's program"),
		Short: "Run the conformance tests against an automator plugin",
		Long: "Run the conformance tests that Muster's own automators pass against an automator plugin. This host is the node, reached over SSH:\n" +
			"commands run as you, with their own home, temporary and state directories, which are removed afterwards. No server is needed.\n\n" +
			"The exit code is 1 if a test fails.",
		Example: "  muster automator test ./muster-automator-mine --fields fields.yaml",
		RunE:    func(cmd *cobra.Command, args []string) error { return t.run(cmd.Context(), cmd, args[0]) }}
	flags := cmd.Flags()
	flags.StringVar(&t.fields, "fields", "", "YAML `file` with the fields of actions: one that succeeds (ok), fails (fail), takes minutes (slow), makes a change (changes), reports facts (facts, and want_facts for their values), and invalid ones (invalid)")
	flags.BoolVarP(&t.yes, "yes", "y", false, "skip the confirmation prompt")
	flags.BoolVar(&t.verbose, "verbose", false, "show the plugin's log")
	flags.StringSliceVar(&t.env, "automator-plugins-env", nil, "comma-separated `names` of environment variables to pass to the plugin, besides PATH, HOME and LANG")
	return cmd
}

func (t *automatorTrial) run(ctx context.Context, cmd *cobra.Command, path string) error {
	if err := cli.Need(cmd, "fields"); err != nil {
		return err
	}
	b, err := cli.ReadLimited(t.fields, 1<<20)
	if err != nil {
		return cli.Usagef("can't read the fields: %v", err)
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&t.actions); err != nil || t.actions.OK == nil {
		return cli.Usagef("%s: ok, the fields of an action that succeeds, is required: %v", t.fields, err)
	}
	log := slog.New(slog.DiscardHandler)
	if t.verbose {
		log = cli.NewLogger(t.Stderr, slog.LevelInfo)
	}
	plugin := automators.PlugProgram(ctx, path, t.env, log)
	if plugin.Err != nil {
		e := *app.AsError(plugin.Err)
		e.Message = fmt.Sprintf("can't test %s: %s", path, e.Message)
		return &e
	}
	if t.a, err = automators.New(plugin.Name); err != nil {
		return err
	}
	if closer, ok := t.a.(io.Closer); ok {
		defer closer.Close()
	}
	if !t.yes {
		if !cli.IsTerminal(t.Stdin) {
			return cli.Usagef("the plugin's commands run on this host as you: --yes is required without a terminal to confirm on")
		}
		if err := t.Confirm(ctx, "The plugin's commands run on this host as you. Continue?", "cancelled; nothing was run"); err != nil {
			return err
		}
	}
	return t.prove(ctx, plugin.Name)
}

// prove runs the checks on their own machine: an SSH server in this process, whose commands run on this host.
func (t *automatorTrial) prove(ctx context.Context, name string) error {
	dir, err := os.MkdirTemp("", "muster-automator-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	account, err := providers.Open(ctx, template.ProviderSpec{About: template.About{Name: "trial"}, Type: "sandbox", Settings: map[string]any{"mode": "process"}},
		providers.Env{Installation: conformance.Installation, DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() {
		_ = sweep(context.WithoutCancel(ctx), account)
		_ = account.(family.ProviderCloser).Close()
	}()
	node, err := trialNode(ctx, account)
	if err != nil {
		return err
	}
	defer node.Shell.Close()
	results := []conformance.Result{}
	good := conformance.Check(ctx, func(p *conformance.Prover) {
		m := t.member(name)
		promised.Describe(p, m)
		promised.Run(p, m, node)
	}, func(r conformance.Result) {
		if results = append(results, r); !t.JSON() {
			(&providerTrial{Context: t.Context, verbose: t.verbose}).show(r)
		}
	})
	if t.JSON() {
		err = t.PrintJSON(map[string]any{"ok": good, "checks": results})
	} else if failed, skipped := count(results); good {
		cli.Line(t.Stdout, "\n%s conforms: %s passed, %d not applicable.", name, humanize.Count(len(results)-skipped, "check"), skipped)
	} else {
		cli.Line(t.Stdout, "\n%s doesn't conform: %s failed.", name, humanize.Count(failed, "check"))
	}
	if err == nil && !good {
		err = cli.SilentError{}
	}
	return err
}

// member describes the automator by its fields. Without an action that makes a change, the one that succeeds is used, whatever its dry run
// reports.
func (t *automatorTrial) member(name string) promised.Member {
	f := t.actions
	m := promised.Member{New: func() family.Automator { return t.a }, Check: func(fields map[string]string) error { return automators.Check(name, fields) },
		OK: f.OK, OKSays: f.OKSays, Fail: f.Fail, FailSays: append([]string{"failed with exit code"}, f.FailSays...), Slow: f.Slow, SlowSays: f.SlowSays,
		Changes: f.Changes, ChangesSay: f.ChangesSay, Facts: f.Facts, WantFacts: f.WantFacts}
	if _, dry := t.a.(family.DryRunner); dry && m.Changes == nil {
		m.Changes, m.ChangesSay = f.OK, nil
	}
	for _, fields := range f.Invalid {
		m.Invalid = append(m.Invalid, promised.Invalid{Fields: fields})
	}
	return m
}

// trialNode creates the machine and reports its directories.
func trialNode(ctx context.Context, account family.Provider) (promised.Node, error) {
	private, public, err := remote.Keys{}.NewKey("trial")
	if err != nil {
		return promised.Node{}, err
	}
	host, _, err := remote.Keys{}.NewKey("host")
	if err != nil {
		return promised.Node{}, err
	}
	m, err := account.Create(ctx, family.MachineSpec{Intent: "trial", Hostname: "n1.c1.example.org", Flavor: template.Flavor{Flavor: "small"}, Image: template.Image{Image: "host"},
		Tags:    map[string]string{family.TagInstallation: conformance.Installation, family.TagTenant: "acme", family.TagCluster: "c1", family.TagNode: "n1", family.TagIntent: "trial"},
		HostKey: host, AuthorizedKey: public})
	if err != nil {
		return promised.Node{}, err
	}
	sh, err := remote.Dial(ctx, remote.Target{Address: m.Addresses[app.AddressAccess], Port: m.SSHPort, User: m.SSHUser, HostKey: m.HostKey, PrivateKey: private})
	if err != nil {
		return promised.Node{}, err
	}
	var said []string
	if _, err := sh.Run(ctx, family.Command{Line: `printf '%s\n' "$HOME" "$TMPDIR" "$MUSTER_STATE_ROOT"`}, func(_ app.Stream, line string) { said = append(said, line) }); err != nil || len(said) != 3 {
		_ = sh.Close()
		return promised.Node{}, fmt.Errorf("the test machine reports its directories as %q: %w", strings.Join(said, " "), err)
	}
	return promised.Node{Shell: sh, Home: said[0], Temp: said[1], State: said[2], NoRoot: true}, nil
}
