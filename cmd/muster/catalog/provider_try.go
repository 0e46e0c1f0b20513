package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/providers"
	"muster/providers/conformance"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// providerTrial is one run of `muster provider test`.
type providerTrial struct {
	*cli.Context
	settings, flavor, image, zone string
	login, yes, verbose           bool
	timeout                       time.Duration
	env                           []string
}

func providerTestCommand(c *cli.Context) *cobra.Command {
	t := &providerTrial{Context: c}
	cmd := &cobra.Command{Use: "test ./muster-provider-NAME --settings FILE --flavor F --image I", Args: cli.Exactly("./muster-provider-NAME"),
		Short: "Run the conformance tests against a provider plugin",
		Long: "Run the conformance tests that Muster's own providers pass against a provider plugin. They create and delete about thirty machines in\n" +
			"the account, up to eight at a time. No server is needed.\n\n" +
			"The exit code is 1 if a test fails.",
		Example: "  muster provider test ./muster-provider-mine --settings mine.yaml --flavor small --image debian-12",
		RunE:    func(cmd *cobra.Command, args []string) error { return t.run(cmd.Context(), cmd, args[0]) }}
	flags := cmd.Flags()
	flags.StringVar(&t.settings, "settings", "", "YAML `file` with the account's settings; ${env:NAME} is replaced by an environment variable")
	flags.StringVar(&t.flavor, "flavor", "", "`name` of a flavor in the account")
	flags.StringVar(&t.image, "image", "", "`name` of an image in the account")
	flags.StringVar(&t.zone, "zone", "", "`name` of a zone in the account")
	flags.BoolVar(&t.login, "login", false, "sign in to the machines over SSH")
	flags.BoolVarP(&t.yes, "yes", "y", false, "skip the confirmation prompt")
	flags.BoolVar(&t.verbose, "verbose", false, "show the plugin's log and the notes of passed tests")
	flags.DurationVar(&t.timeout, "patience", 10*time.Minute, "how long to wait for a machine to start and respond")
	flags.StringSliceVar(&t.env, "provider-plugins-env", nil, "comma-separated `names` of environment variables to pass to the plugin, besides PATH, HOME and LANG")
	return cmd
}

func (t *providerTrial) run(ctx context.Context, cmd *cobra.Command, program string) error {
	if err := cli.Need(cmd, "flavor", "image"); err != nil {
		return err
	}
	settings, err := trialSettings(t.settings)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	if t.verbose {
		log = cli.NewLogger(t.Stderr, slog.LevelInfo)
	}
	plugin := providers.PlugProgram(ctx, program, t.env, log)
	if plugin.Err != nil {
		e := *app.AsError(plugin.Err)
		e.Message = fmt.Sprintf("can't test %s: %s", program, e.Message)
		return &e
	}
	spec := template.ProviderSpec{About: template.About{Name: plugin.Name}, Type: plugin.Name, Settings: settings}
	if err := providers.Check(spec); err != nil {
		return err
	}
	question := fmt.Sprintf("This creates and deletes about thirty machines of flavor %s in the account, up to eight at a time, and deletes leftovers of an\n"+
		"earlier test (%s=%s). Continue?", t.flavor, family.TagInstallation, conformance.Installation)
	if !t.yes {
		if !cli.IsTerminal(t.Stdin) {
			return cli.Usagef("machines are created and deleted in the account: --yes is required without a terminal to confirm on")
		}
		if err := t.Confirm(ctx, question, "cancelled; nothing was created"); err != nil {
			return err
		}
	}
	return t.prove(ctx, spec, log)
}

func (t *providerTrial) prove(ctx context.Context, spec template.ProviderSpec, log *slog.Logger) error {
	data, err := os.MkdirTemp("", "muster-provider-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	env := providers.Env{Installation: conformance.Installation, DataDir: data, Logger: log}
	open := func(p *conformance.Prover) family.Provider {
		account, err := providers.Open(context.WithoutCancel(ctx), spec, env)
		if err != nil {
			p.Fatalf("open: %v", err)
		}
		p.Cleanup(func() {
			late, stop := context.WithTimeout(context.WithoutCancel(ctx), t.timeout)
			defer stop()
			if err := sweep(late, account); err != nil && app.CodeOf(err) != app.ECancelled { // a check may have closed and reopened it
				p.Errorf("can't delete the test's machines: %v", err)
			}
			_ = account.(family.ProviderCloser).Close()
		})
		return account
	}
	h := conformance.Harness[*conformance.Prover]{Reopen: open, Flavor: t.flavor, Image: t.image, Zone: t.zone, Login: t.login, Patience: t.timeout,
		Open: func(p *conformance.Prover) family.Provider {
			account := open(p)
			if err := sweep(p.Context(), account); err != nil {
				p.Fatalf("can't clean up the account before the test: %v", err)
			}
			return account
		},
		Refuses: map[string]func(*family.MachineSpec){
			"an unknown flavor": func(s *family.MachineSpec) { s.Flavor.Flavor = "no-such-flavor" },
			"an unknown image":  func(s *family.MachineSpec) { s.Image.Image = "no-such-image" },
		}}
	if providers.Firewalls(spec.Type) {
		h.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: template.Anywhere()}}}
	}
	results := []conformance.Result{}
	good := conformance.Prove(ctx, h, func(r conformance.Result) {
		if results = append(results, r); !t.JSON() {
			t.show(r)
		}
	})
	if err := t.clear(ctx, spec, env); err != nil {
		good = false
		cli.Line(t.Stderr, "The test's machines couldn't be deleted; delete them yourself: %v", err)
	}
	if t.JSON() {
		err = t.PrintJSON(map[string]any{"ok": good, "checks": results})
	} else if failed, skipped := count(results); good {
		cli.Line(t.Stdout, "\n%s conforms: %s passed, %d not applicable.", spec.Type, humanize.Count(len(results)-skipped, "check"), skipped)
	} else {
		cli.Line(t.Stdout, "\n%s doesn't conform: %s failed.", spec.Type, humanize.Count(failed, "check"))
	}
	if err == nil && !good {
		err = cli.SilentError{}
	}
	return err
}

// clear checks one last time for leftovers.
func (t *providerTrial) clear(ctx context.Context, spec template.ProviderSpec, env providers.Env) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), t.timeout)
	defer stop()
	account, err := providers.Open(ctx, spec, env)
	if err != nil {
		return err
	}
	return errors.Join(sweep(ctx, account), account.(family.ProviderCloser).Close())
}

func count(results []conformance.Result) (failed, skipped int) {
	for _, r := range results {
		if !r.OK {
			failed++
		} else if r.Skipped {
			skipped++
		}
	}
	return failed, skipped
}

func (t *providerTrial) show(r conformance.Result) {
	paint := t.Painter(t.Stdout)
	word, colour := "ok", cli.ColourComes
	switch {
	case !r.OK:
		word, colour = "failed", cli.ColourGoes
	case r.Skipped:
		word, colour = "-", ""
	}
	cli.Line(t.Stdout, "%s  %s (%s)", paint(colour, fmt.Sprintf("%-6s", word)), r.Name, humanize.Duration(r.Duration))
	if r.OK && !r.Skipped && !t.verbose {
		return
	}
	for _, note := range r.Notes {
		cli.Line(t.Stdout, "        %s", strings.ReplaceAll(note, "\n", "\n        "))
	}
}

// sweep deletes everything that tests created in an account; its guard protects everything else.
func sweep(ctx context.Context, p family.Provider) error {
	_, _, err := sweepCounting(ctx, p)
	return err
}

// sweepCounting is sweep, and says how many machines and shared things there were.
func sweepCounting(ctx context.Context, p family.Provider) (machinesFound, sharedFound int, err error) {
	machines, err := p.List(ctx, map[string]string{family.TagInstallation: conformance.Installation})
	if err != nil {
		return 0, 0, err
	}
	var errs []error
	for _, m := range machines {
		errs = append(errs, p.Delete(ctx, m.ID))
	}
	if s, ok := family.PowerOf[family.Sharer](p); ok {
		things, err := s.Shared(ctx, nil)
		errs, sharedFound = append(errs, err), len(things)
		for _, thing := range things {
			errs = append(errs, s.DeleteShared(ctx, thing.ID))
		}
	}
	return len(machines), sharedFound, errors.Join(errs...)
}

var fromEnv = regexp.MustCompile(`\$\{(?:env|secret):([A-Za-z_][A-Za-z0-9_]*)\}`)

// filled returns settings, at any depth, with the environment's variables instead of references such as ${env:NAME}. They are added to found.
func filled(settings map[string]any, found map[string]string) (map[string]any, error) {
	var missing []string
	var fill func(v any) any
	fill = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for k, x := range v {
				out[k] = fill(x)
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, x := range v {
				out[i] = fill(x)
			}
			return out
		case string:
			return fromEnv.ReplaceAllStringFunc(v, func(reference string) string {
				name := fromEnv.FindStringSubmatch(reference)[1]
				value, ok := os.LookupEnv(name)
				if !ok {
					missing = append(missing, name)
				}
				found[name] = value
				return value
			})
		}
		return v
	}
	out := fill(settings).(map[string]any)
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, cli.Usagef("the provider's settings need %s, which isn't set", strings.Join(slices.Compact(missing), ", ")).
			Hint("Set it as an environment variable.")
	}
	return out, nil
}

// trialSettings reads a settings file, which is optional.
func trialSettings(file string) (map[string]any, error) {
	settings := map[string]any{}
	if file == "" {
		return settings, nil
	}
	b, err := cli.ReadLimited(file, 1<<20)
	if err != nil {
		return nil, cli.Usagef("can't read the settings: %v", err)
	}
	if err := yaml.NewDecoder(bytes.NewReader(b)).Decode(&settings); err != nil && !errors.Is(err, io.EOF) {
		return nil, cli.Usagef("%s isn't a YAML mapping of settings", file) // its text may be a secret
	}
	return filled(settings, map[string]string{})
}
