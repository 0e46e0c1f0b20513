package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"muster/app/family"
	"muster/app/humanize"
	"muster/app/secret"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"
	"muster/providers"
	"muster/providers/conformance"

	"github.com/spf13/cobra"
)

// providerProof is one run of `muster provider prove`.
type providerProof struct {
	*cli.Context
	families.CatalogFlag
	hardware, image, zone, report string
	budget, price                 float64
	login, yes                    bool
	patience                      time.Duration

	spec    template.ProviderSpec
	machine family.MachineNeed
	hidden  *secret.Redactor
	opened  []family.Provider
	stopped string // why not all checks were made; "" if they were
}

// proofMachines is how many machines the price is for: a provider that breaks its promises may create a second one.
const proofMachines = conformance.StoryMachines + 1

func providerProveCommand(c *cli.Context) *cobra.Command {
	p := &providerProof{Context: c}
	cmd := &cobra.Command{Use: "prove NAME --catalog DIR --hardware H --image I [flags]", Args: cli.Exactly("NAME"),
		Short: "Prove that a provider works in your account, with one machine",
		Long: "Prove that a provider of a catalog works in your account. This checks the account, creates one machine with a create that's cut off and\n" +
			"repeated, signs in to it over SSH, stops and starts it, deletes it, and checks that nothing is left. No server is needed.\n\n" +
			"In the provider's settings, ${env:NAME} and ${secret:NAME} are replaced by environment variables.\n\n" +
			"--report writes a report that you can attach to an issue. Secrets are left out of it. The exit code is 1 if a check fails.",
		Example: "  muster provider prove aws --catalog catalog --hardware small --image debian-12 --report aws.md\n" +
			"  muster provider prove lab --catalog catalog --hardware small --image debian-12 --cost-per-hour 0 --login=false",
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args[0]) }}
	p.CatalogFlag.Declare(cmd)
	flags := cmd.Flags()
	flags.StringVar(&p.hardware, "hardware", "", "`name` of a hardware type in the catalog; use the smallest")
	flags.StringVar(&p.image, "image", "", "`name` of an image type in the catalog")
	flags.StringVar(&p.zone, "zone", "", "`name` of a zone in the account")
	flags.Float64Var(&p.budget, "budget", 1, "most that this may cost, in the currency of the provider's `prices`")
	flags.Float64Var(&p.price, "cost-per-hour", -1, "`price` of a machine, if the catalog doesn't say")
	flags.BoolVar(&p.login, "login", true, "sign in to the machine over SSH; turn it off if this host can't reach the machine")
	flags.StringVar(&p.report, "report", "", "new `file` for a report in Markdown")
	flags.BoolVarP(&p.yes, "yes", "y", false, "skip the confirmation prompt")
	flags.DurationVar(&p.patience, "patience", 10*time.Minute, "how long to wait for the machine to start, stop and respond")
	return cmd
}

func (p *providerProof) run(cmd *cobra.Command, name string) error {
	if err := cli.Need(cmd, "hardware", "image"); err != nil {
		return err
	}
	if p.patience < time.Second || p.patience > 2*time.Hour {
		return cli.Usagef("--patience must be between 1s and 2h")
	}
	if err := p.read(name); err != nil {
		return err
	}
	most, err := p.most(cmd.Flags().Changed("cost-per-hour"))
	if err != nil {
		return err
	}
	if err := p.confirm(cmd.Context(), most); err != nil {
		return err
	}
	out, err := p.reportFile()
	if err != nil {
		return err
	}
	results, good, err := p.prove(cmd.Context())
	if err != nil {
		if out != nil { // there's nothing to report
			_ = out.Close()
			_ = os.Remove(p.report)
		}
		return err
	}
	if out != nil {
		_, err = out.WriteString(p.markdown(results, good, most))
		err = errors.Join(err, out.Close())
	}
	switch failed, skipped := count(results); {
	case p.JSON():
		err = errors.Join(err, p.PrintJSON(map[string]any{"ok": good, "provider": name, "type": p.spec.Type, "checks": results}))
	case good:
		cli.Line(p.Stdout, "\n%s works: %s passed, %d not applicable. Nothing is left in the account.", name, humanize.Count(len(results)-skipped, "check"), skipped)
	case p.stopped != "":
		cli.Line(p.Stdout, "\n%s wasn't proven: %s", name, p.stopped)
	default:
		cli.Line(p.Stdout, "\n%s has problems: %s failed.", name, humanize.Count(failed, "check"))
	}
	if out != nil && err == nil && !p.JSON() {
		cli.Line(p.Stdout, "Report: %s", p.report)
	}
	if err == nil && !good {
		err = cli.SilentError{}
	}
	return err
}

// read finds the provider, hardware and image in the catalog, and fills in the provider's settings.
func (p *providerProof) read(name string) error {
	known, err := p.Load()
	if err != nil {
		return err
	}
	spec := known.Providers[name]
	if spec == nil {
		return cli.Usagef("the catalog has no provider %q; it has %s", name, listed(slices.Sorted(maps.Keys(known.Providers))))
	}
	p.spec = *spec
	var ok bool
	if h := known.Hardware[p.hardware]; h == nil {
		return cli.Usagef("the catalog has no hardware type %q; it has %s", p.hardware, listed(slices.Sorted(maps.Keys(known.Hardware))))
	} else if p.machine.Flavor, ok = h.Providers[name]; !ok {
		return cli.Usagef("hardware type %q has no flavor for provider %s", p.hardware, name)
	}
	if i := known.Images[p.image]; i == nil {
		return cli.Usagef("the catalog has no image type %q; it has %s", p.image, listed(slices.Sorted(maps.Keys(known.Images))))
	} else if p.machine.Image, ok = i.Providers[name]; !ok {
		return cli.Usagef("image type %q has no image for provider %s", p.image, name)
	}
	found := map[string]string{}
	if p.spec.Settings, err = filled(p.spec.Settings, found); err != nil {
		return err
	}
	secrets := slices.Collect(maps.Values(found))
	for _, d := range providers.Descriptors() {
		for _, f := range d.Fields {
			if v, is := p.spec.Settings[f.Name].(string); is && f.Secret && d.Name == p.spec.Type {
				secrets = append(secrets, v)
			}
		}
	}
	p.hidden = secret.NewRedactor(secrets)
	return providers.Check(p.spec)
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// within is the time limit of all checks together.
func (p *providerProof) within() time.Duration { return 6 * p.patience }

// most is what the machines cost at most; an error if that isn't known, or is more than the budget.
func (p *providerProof) most(said bool) (string, error) {
	price, currency := p.machine.Flavor.CostPerHour, cmp.Or(p.spec.Currency, families.Currency())
	switch {
	case said && (p.price < 0 || math.IsNaN(p.price) || math.IsInf(p.price, 0)):
		return "", cli.Usagef("--cost-per-hour must be 0 or more")
	case said:
		price = p.price
	case price <= 0:
		return "", cli.Usagef("the catalog doesn't say what hardware %q costs at provider %s", p.hardware, p.spec.Name).
			Hint("Add cost_per_hour to it, or pass --cost-per-hour.")
	}
	cost := price * proofMachines * math.Max(1, math.Ceil(p.within().Hours())) // many clouds charge each hour that has begun
	if cost > p.budget || math.IsNaN(p.budget) {
		return "", cli.Usagef("this could cost up to %s, which is more than the budget of %s", humanize.Money(cost, currency), humanize.Money(p.budget, currency)).
			Hint("Use smaller hardware, a shorter --patience, or a larger --budget.")
	}
	return humanize.Money(cost, currency), nil
}

func (p *providerProof) confirm(ctx context.Context, most string) error {
	switch {
	case p.yes:
		return nil
	case !cli.IsTerminal(p.Stdin):
		return cli.Usagef("a machine is created and deleted in the account: --yes is required without a terminal to confirm on")
	}
	return p.Confirm(ctx, fmt.Sprintf("This creates a machine of flavor %s in the account of provider %s and deletes it. It takes up to %s and costs up to %s.\n"+
		"It also deletes leftovers of an earlier test (%s=%s). Continue?", p.machine.Flavor.Flavor, p.spec.Name, humanize.Duration(p.within()), most,
		family.TagInstallation, conformance.Installation), "cancelled; nothing was created")
}

// reportFile creates the report's file before anything costs money; nil without one.
func (p *providerProof) reportFile() (*os.File, error) {
	if p.report == "" {
		return nil, nil
	}
	f, err := os.OpenFile(p.report, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, cli.Usagef("%s exists already; name another file with --report", p.report)
	}
	if err != nil {
		return nil, cli.Usagef("can't write the report: %v", err)
	}
	return f, nil
}

func (p *providerProof) prove(ctx context.Context) (results []conformance.Result, good bool, err error) {
	data, err := os.MkdirTemp("", "muster-provider-prove-")
	if err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(data)
	env := providers.Env{Installation: conformance.Installation, DataDir: data}
	limited, stop := context.WithTimeout(ctx, p.within())
	defer stop()
	account, err := p.open(limited, env)
	if err == nil {
		err = sweepEarlier(limited, account)
	}
	defer func() {
		for _, a := range p.opened {
			_ = a.(family.ProviderCloser).Close()
		}
	}()
	if err != nil {
		return nil, false, fmt.Errorf("can't prepare the account: %w", err)
	}
	show := (&providerTrial{Context: p.Context}).show
	report := func(r conformance.Result) {
		for i, note := range r.Notes {
			r.Notes[i] = p.hidden.Hide(note)
		}
		if results = append(results, r); !p.JSON() {
			show(r)
		}
	}
	again := func(t *conformance.Prover) family.Provider {
		a, err := p.open(ctx, env)
		if err != nil {
			t.Fatalf("open the account again: %v", err)
		}
		return a
	}
	h := conformance.Harness[*conformance.Prover]{Open: func(*conformance.Prover) family.Provider { return account }, Reopen: again,
		Hardware: p.machine.Flavor, System: p.machine.Image, Zone: p.zone, Login: p.login, Patience: p.patience}
	if providers.Firewalls(p.spec.Type) {
		h.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: template.Anywhere()}}}
	}
	unclear := false
	good = conformance.Check(limited, func(t *conformance.Prover) { unclear = conformance.RunStory(t, h) }, report)
	switch {
	case ctx.Err() != nil:
		p.stopped = "stopped before all checks were made."
	case limited.Err() != nil:
		p.stopped = fmt.Sprintf("the checks took longer than %s. Try a longer --patience.", humanize.Duration(p.within()))
	}
	if !good { // the story deletes what it made, unless it was stopped
		patience := max(p.patience, 2*time.Minute)
		late, stop := context.WithTimeout(context.WithoutCancel(ctx), patience+time.Minute)
		defer stop()
		last, err := p.open(late, env)
		if err == nil {
			err = conformance.Patiently(late, patience, func() error { return sweep(late, last) })
		}
		if err == nil && unclear {
			err = sweepLate(late, last)
		}
		left := conformance.Result{Name: "what was created is deleted", OK: err == nil}
		if err != nil {
			left.Notes = []string{fmt.Sprintf("delete the machines and firewalls tagged %s=%s, or run this again: %v",
				family.TagInstallation, conformance.Installation, err)}
		}
		report(left)
	}
	return results, good, nil
}

// sweepEarlier deletes what an earlier proof left. A firewall without a machine is left by one that was killed in its create: the cloud may
// be about to create the machine, which then fails without the firewall, and would be taken for this proof's.
func sweepEarlier(ctx context.Context, account family.Provider) error {
	machines, shared, err := sweepCounting(ctx, account)
	if err == nil && machines == 0 && shared > 0 {
		err = sweepLate(ctx, account)
	}
	return err
}

// sweepLate deletes a machine that the cloud creates after the create was given up.
func sweepLate(ctx context.Context, account family.Provider) error {
	found := false
	err := family.AfterLost(ctx, 0, family.ListsLate(account), func() (bool, error) {
		machines, err := account.List(ctx, map[string]string{family.TagInstallation: conformance.Installation})
		found = len(machines) > 0
		return found, err
	})
	if err == nil && found {
		err = conformance.Patiently(ctx, 2*time.Minute, func() error { return sweep(ctx, account) })
	}
	return err
}

func (p *providerProof) open(ctx context.Context, env providers.Env) (family.Provider, error) {
	account, err := providers.Open(context.WithoutCancel(ctx), p.spec, env)
	if err == nil {
		p.opened = append(p.opened, account)
	}
	return account, err
}

// markdown is a report for an issue. Secrets have been taken out of it.
func (p *providerProof) markdown(results []conformance.Result, good bool, most string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	outcome := "works"
	if p.stopped != "" {
		outcome = "wasn't proven: " + p.stopped
	} else if !good {
		outcome = "has problems"
	}
	line("# Provider type %s %s\n", p.spec.Type, outcome)
	line("| | |\n|---|---|")
	signedIn := "yes"
	if !p.login {
		signedIn = "no"
	}
	for _, row := range [][2]string{{"Muster", cmp.Or(cli.Version, "devel")}, {"Tried on", time.Now().UTC().Format("2006-01-02 15:04 UTC")},
		{"Flavor", p.machine.Flavor.Flavor}, {"Image", p.machine.Image.Image}, {"Zone", cmp.Or(p.zone, "any")}, {"Signed in over SSH", signedIn},
		{"Cost at most", most}} {
		line("| %s | %s |", row[0], cell(row[1]))
	}
	line("\n| Check | Result | Took | Notes |\n|---|---|---|---|")
	for _, r := range results {
		word := "ok"
		if !r.OK {
			word = "**failed**"
		} else if r.Skipped {
			word = "not applicable"
		}
		line("| %s | %s | %s | %s |", cell(r.Name), word, fmt.Sprintf("%.1f s", r.Duration.Seconds()), cell(strings.Join(r.Notes, "\n")))
	}
	return p.hidden.Hide(b.String())
}

// cell is a text for a table's cell.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\r", "", "\n", "<br>", "<", "&lt;").Replace(text)
}
