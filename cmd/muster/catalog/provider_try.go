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
	patience                      time.Duration
	env                           []string
}

func providerTestCommand(c *cli.Context) *cobra.Command {
	t := &providerTrial{Context: c}
	cmd := &cobra.Command{Use: "test ./muster-provider-NAME --settings FILE --flavor F --image I", Args: cli.Exactly("the provider's program"),
		Short: "Try a provider in a program of its own against all that is promised of providers",
		Long: "Try a provider in a program of its own against all that is promised of providers: the checks that those of Muster itself pass. Machines are made and\n" +
			"removed in the account, some thirty in all and up to eight at the same time. No server is needed.\n\n" +
			"It ends with 1 where a check fails.",
		Example: "  muster provider test ./muster-provider-mine --settings mine.yaml --flavor small --image debian-12",
		RunE:    func(cmd *cobra.Command, args []string) error { return t.run(cmd.Context(), cmd, args[0]) }}
	flags := cmd.Flags()
	flags.StringVar(&t.settings, "settings", "", "YAML `file` with the account's settings; ${env:NAME} stands for a variable of the environment")
	flags.StringVar(&t.flavor, "flavor", "", "`name` of a flavor that the account has")
	flags.StringVar(&t.image, "image", "", "`name` of an image that it has")
	flags.StringVar(&t.zone, "zone", "", "`name` of one of its zones")
	flags.BoolVar(&t.login, "login", false, "machines answer: log in to them over SSH")
	flags.BoolVarP(&t.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&t.verbose, "verbose", false, "show what the program logs, and what checks that went well have to say")
	flags.DurationVar(&t.patience, "patience", 10*time.Minute, "how long a machine may take until it runs, and answers")
	flags.StringSliceVar(&t.env, "provider-plugins-env", nil, "`names` of variables that the program gets beside PATH, HOME and LANG, with commas between")
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
		e.Message = fmt.Sprintf("%s cannot be tried: %s", program, e.Message)
		return &e
	}
	spec := template.ProviderSpec{About: template.About{Name: plugin.Name}, Type: plugin.Name, Settings: settings}
	if err := providers.Check(spec); err != nil {
		return err
	}
	question := fmt.Sprintf("Machines of flavor %s are made and removed in that account, some thirty in all and up to eight at the same time, and what an\n"+
		"earlier trial has left there (%s=%s) is removed as well. Go on?", t.flavor, family.TagInstallation, conformance.Installation)
	if !t.yes {
		if !cli.IsTerminal(t.Stdin) {
			return cli.Usagef("machines are made and removed in that account: that needs --yes where there is no terminal to confirm on")
		}
		if err := t.Confirm(ctx, question, "nothing was made"); err != nil {
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
			late, stop := context.WithTimeout(context.WithoutCancel(ctx), t.patience)
			defer stop()
			if err := sweep(late, account); err != nil && app.CodeOf(err) != app.ECancelled { // a check may have closed it, and opened it again
				p.Errorf("what was made could not be removed: %v", err)
			}
			_ = account.(family.ProviderCloser).Close()
		})
		return account
	}
	h := conformance.Harness[*conformance.Prover]{Reopen: open, Flavor: t.flavor, Image: t.image, Zone: t.zone, Login: t.login, Patience: t.patience,
		Open: func(p *conformance.Prover) family.Provider {
			account := open(p)
			if err := sweep(p.Context(), account); err != nil {
				p.Fatalf("the account could not be emptied before: %v", err)
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
		cli.Line(t.Stderr, "What the trial made could not be removed from the account, and must be by hand: %v", err)
	}
	if t.JSON() {
		err = t.PrintJSON(map[string]any{"ok": good, "checks": results})
	} else if failed, skipped := count(results); good {
		cli.Line(t.Stdout, "\n%s keeps what is promised of providers: %s went well, %d do not hold for it.", spec.Type, humanize.Count(len(results)-skipped, "check"), skipped)
	} else {
		cli.Line(t.Stdout, "\n%s does not keep all that is promised of providers: %s failed.", spec.Type, humanize.Count(failed, "check"))
	}
	if err == nil && !good {
		err = cli.SilentError{}
	}
	return err
}

// clear looks a last time for what is left.
func (t *providerTrial) clear(ctx context.Context, spec template.ProviderSpec, env providers.Env) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), t.patience)
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
		word, colour = "FAILED", cli.ColourGoes
	case r.Skipped:
		word, colour = "-", ""
	}
	cli.Line(t.Stdout, "%s  %s (%s)", paint(colour, fmt.Sprintf("%-6s", word)), r.Name, r.Took.Round(time.Millisecond))
	if r.OK && !r.Skipped && !t.verbose {
		return
	}
	for _, note := range r.Notes {
		cli.Line(t.Stdout, "        %s", strings.ReplaceAll(note, "\n", "\n        "))
	}
}

// sweep removes all that trials have made in an account; the guard around it keeps from anything else.
func sweep(ctx context.Context, p family.Provider) error {
	machines, err := p.List(ctx, map[string]string{family.TagInstallation: conformance.Installation})
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range machines {
		errs = append(errs, p.Delete(ctx, m.ID))
	}
	if s, ok := family.PowerOf[family.Sharer](p); ok {
		things, err := s.Shared(ctx, nil)
		errs = append(errs, err)
		for _, thing := range things {
			errs = append(errs, s.DeleteShared(ctx, thing.ID))
		}
	}
	return errors.Join(errs...)
}

var fromEnv = regexp.MustCompile(`^\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}$`)

// trialSettings reads a file of settings; there need not be one.
func trialSettings(file string) (map[string]any, error) {
	settings := map[string]any{}
	if file == "" {
		return settings, nil
	}
	b, err := cli.ReadLimited(file, 1<<20)
	if err != nil {
		return nil, cli.Usagef("the settings cannot be read: %v", err)
	}
	if err := yaml.NewDecoder(bytes.NewReader(b)).Decode(&settings); err != nil && !errors.Is(err, io.EOF) {
		return nil, cli.Usagef("%s is not a YAML mapping of settings", file) // what it says instead may be a secret
	}
	for name, value := range settings {
		text, _ := value.(string)
		found := fromEnv.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		v, ok := os.LookupEnv(found[1])
		if !ok {
			return nil, cli.Usagef("setting %q is to come of the variable %s, which is not set", name, found[1])
		}
		settings[name] = v
	}
	return settings, nil
}
