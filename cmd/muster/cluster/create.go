package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	applayout "muster/app/layout"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/providervalue"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// waitFlags are the flags of commands that start an operation.
type waitFlags struct {
	wait    bool
	timeout time.Duration
}

func (w *waitFlags) declare(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.wait, "wait", false, "wait until the operation finishes, and show progress")
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "with --wait: how long to wait, such as 10m (default: no limit)")
}

// LayoutFlags are the flags that describe a layout.
type LayoutFlags struct {
	Request applayout.Request
}

func (l *LayoutFlags) Declare(flags *pflag.FlagSet) {
	r := &l.Request
	flags.StringVarP(&r.Template, "template", "t", "", "`template` of the cluster")
	flags.IntVarP(&r.Size, "size", "n", 0, "`number` of nodes")
	flags.StringVar(&r.Provider, "provider", "", "`provider` of the machines (default: the template's)")
	flags.StringSliceVar(&r.Services, "services", nil, "`services`, separated by commas (default: the template's)")
	flags.StringVar(&r.Hardware, "hardware", "", "hardware `type` of all nodes (default: the template's, or any)")
	flags.StringVar(&r.Image, "image", "", "image `type` of all nodes (default: the template's, or any)")
	flags.Var((*preference)(&r.Prefer), "prefer", "layout preference: packed, cheapest or spread (default: the template's, else packed)")
}

// preference is the value of --prefer.
type preference template.Preference

var preferences = []string{string(template.PreferPacked), string(template.PreferCheapest), string(template.PreferSpread)}

// Set accepts one of preferences.
func (p *preference) Set(text string) error {
	if !slices.Contains(preferences, text) {
		return fmt.Errorf("choose one of %s", strings.Join(preferences, ", "))
	}
	*p = preference(text)
	return nil
}

// String returns the value, "" if unset.
func (p *preference) String() string { return string(*p) }

// Type is the value's name in help.
func (p *preference) Type() string { return "preference" }

func clusterCreateCommand(c *cli.Context) *cobra.Command {
	var (
		layout        LayoutFlags
		w             waitFlags
		lease, config string
		dnsSuffix     string
		file          string
		onFailure     failureChoice
		partial       template.PartialOverride
		visibility    string
		group         string
		settings      []string
		places        placeFlags
		description   string
		labels        []string
		values        providervalue.Flags
		preview       bool
		volumes       []string
	)
	cmd := &cobra.Command{
		Use:   "create [NAME] (--template T --size N | -f SPEC)",
		Short: "Create a cluster",
		Long:  "Create a cluster from a template. Without NAME, its name is derived from the template.",
		Example: "  muster cluster create shop --template web --size 3 --wait\n" +
			"  muster cluster create --template web --size 3 --lease 8h --config '{\"port\": 8080}'\n" +
			"  muster cluster create nightly --template web --size 3 --on-failure roll_back --wait\n" +
			"  muster cluster create shop --template web --size 10 --on-failure accept_partial --min-available 60%\n" +
			"  muster cluster create shop --template web --size 3 --provider aws,google --hardware small,medium --preview\n" +
			"  muster cluster create shop --template web --size 3 --label cost-centre=4711 --description 'Shop of the spring sale'",
		Args: cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				wanted := []string{"template", "size"}
				if len(settings) > 0 {
					wanted = wanted[:1] // one of the template's parameters may set the size
				}
				if err := cli.Need(cmd, wanted...); err != nil {
					return err
				}
			}
			r := cluster.CreateRequest{Request: layout.Request, DNSSuffix: dnsSuffix, OnFailure: app.FailureChoice(onFailure), PartialOverride: partial,
				Visibility: app.Visibility(visibility), Group: group, Description: description}
			var err error
			if r.Lease, err = ParseLease(lease); err != nil {
				return err
			}
			if r.Config, err = readConfig(c, config); err != nil {
				return err
			}
			if r.Parameters, err = parseSettings(settings); err != nil {
				return err
			}
			if r.Volumes, err = cli.ParseVolumes(volumes); err != nil {
				return err
			}
			if r.Labels, err = parseLabels("--label", labels); err != nil {
				return err
			}
			if len(args) == 1 {
				r.Name = args[0]
			}
			if file != "" {
				read, err := readSpec(c, file)
				if err != nil {
					return err
				}
				asked, err := read.Request()
				if err != nil {
					e := app.AsError(err)
					return cli.Usagef("%s: %s", file, e.Message).Hint("%s", e.Hint)
				}
				r = withSpec(cmd, r, asked)
			}
			if r.ProviderValues, err = values.Read(c); err != nil {
				return err
			}
			if err := places.apply(&r); err != nil {
				return err
			}
			cl, err := connectToCreate(cmd.Context(), c, &values, r)
			if err != nil {
				return err
			}
			if preview {
				return previewCreate(cmd.Context(), c, cl, r)
			}
			answer, err := cl.Clusters.Create(cmd.Context(), r)
			if err != nil {
				return err
			}
			for _, warning := range warningsOf(answer) {
				fmt.Fprintln(c.Stderr, warning)
			}
			v, err := decided(cmd.Context(), c, cl, answer, w)
			if v == nil || err != nil {
				return err
			}
			return created(cmd.Context(), c, cl, *v, w)
		},
	}
	cmd.Flags().BoolVar(&preview, "preview", false, "show the cluster, its cost and duration without creating it")
	layout.Declare(cmd.Flags())
	cmd.Flags().Lookup("provider").Usage = "`provider` of the machines, or several, separated by commas (default: the template's)"
	cmd.Flags().Lookup("hardware").Usage = "hardware `type` of all nodes, or several, separated by commas (default: the template's, or any)"
	places.declare(cmd.Flags())
	values.Declare(cmd.Flags())
	w.declare(cmd)
	cmd.Flags().StringVarP(&file, "file", "f", "", "cluster spec, as written by cluster export: a YAML or JSON `file`, or - for stdin; flags override the spec")
	cmd.Flags().StringVar(&lease, "lease", "", "lease `duration`, such as 8h or 7d, or forever (default: the template's)")
	cmd.Flags().StringVar(&config, "config", "", "configuration that overrides the template's: a JSON `object`, a YAML or JSON file, or - for stdin")
	cmd.Flags().StringArrayVar(&settings, "set", nil, "template parameter as `name=value`; may be repeated; see muster template show")
	cmd.Flags().StringArrayVar(&volumes, "volume", nil, "kept volume to use instead of a new one, as `name=ID`, once for each node; see muster volume list --kept")
	cmd.Flags().StringVar(&dnsSuffix, "dns-suffix", "", "`domain` for host names (default: the template's)")
	cmd.Flags().StringVar(&visibility, "visibility", "", "who can see the cluster: `private` (owner, admins, and people it's shared with) or tenant (everyone in the tenant) (default: the tenant's setting)")
	cmd.Flags().StringVar(&group, "group", "", "one of your groups; members of this `group` co-own the cluster")
	cmd.Flags().StringVar(&description, "description", "", "`text` for people")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "label as `key=value`, which machines carry as a tag; may be repeated")
	declareOnFailure(cmd.Flags(), &onFailure, &partial, true)
	return cmd
}

// failureChoice is the value of --on-failure.
type failureChoice app.FailureChoice

// Set accepts one of the choices, also with - for _.
func (f *failureChoice) Set(text string) error {
	choice := app.FailureChoice(strings.ReplaceAll(text, "-", "_"))
	if !slices.Contains(app.FailureChoices(), choice) {
		words := make([]string, 0, 4)
		for _, c := range app.FailureChoices() {
			words = append(words, string(c))
		}
		return errors.New("choose one of " + strings.Join(words, ", "))
	}
	*f = failureChoice(choice)
	return nil
}

// String returns the value, "" if unset.
func (f *failureChoice) String() string { return string(*f) }

// Type is the value's name in help.
func (f *failureChoice) Type() string { return "choice" }

// started prints the result of a command that has started an operation: with --wait after it has ended, else at once. After is
// the last event before it.
func started(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, w waitFlags, after int64) error {
	if !w.wait {
		return printStarted(c, v, "")
	}
	v, failed := followed(ctx, c, cl, v, w, after)
	if failed != nil {
		if c.JSON() && v.Status == app.ClusterFailed {
			if err := c.PrintJSON(v); err != nil {
				return err
			}
		}
		return failed
	}
	return PrintCluster(ctx, c, cl, v)
}

// created is started for a create, which also names the people it waits for.
func created(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, w waitFlags) error {
	if w.wait || c.JSON() {
		return started(ctx, c, cl, v, w, 0)
	}
	return printStarted(c, v, cl.Requests.PeopleOf(ctx, v.ID))
}

func printStarted(c *cli.Context, v cluster.View, people string) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	op, _ := OperationOf(v, 0)
	fmt.Fprintf(c.Stdout, "%s (%s): %s accepted: %s, %s", v.Name, v.ID, op.Kind.Text(), humanize.Count(v.Size, "node"), humanize.Count(op.Total, "step"))
	if op.Expected > 0 {
		fmt.Fprintf(c.Stdout, ", %s", withPeople(takes(op.Expected, op.Expects), people))
	}
	fmt.Fprintf(c.Stdout, "\nFollow the logs:  muster cluster logs %s -f\n", v.ID)
	return nil
}

// ParseLease reads a duration; nil if unset, 0 for no expiry.
func ParseLease(text string) (*time.Duration, error) {
	if text == "" {
		return nil, nil
	}
	if text == "forever" {
		return new(time.Duration), nil
	}
	lease, err := template.ParseLength(text)
	if err != nil || lease <= 0 {
		return nil, cli.Usagef("--lease must be a duration, not %s", text).Hint("Examples: 90m, 8h, 7d, forever.")
	}
	return &lease, nil
}

// readConfig reads a JSON object from the flag itself, a file, or stdin. Numbers stay as written.
func readConfig(c *cli.Context, text string) (map[string]any, error) {
	if text == "" {
		return nil, nil
	}
	var b []byte
	var err error
	switch {
	case strings.HasPrefix(strings.TrimSpace(text), "{"):
		b = []byte(text)
	case text == "-":
		b, err = io.ReadAll(c.Stdin)
	default:
		b, err = os.ReadFile(text)
	}
	if err != nil {
		return nil, cli.Usagef("--config: %v", err).Hint("Use a JSON object, a file, or - for stdin.")
	}
	if b, err = jsonOf(b); err != nil {
		return nil, cli.Usagef("--config isn't a JSON or YAML object: %v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var config map[string]any
	if err := dec.Decode(&config); err != nil {
		return nil, cli.Usagef("--config isn't a JSON object: %s", humanize.PlainError(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, cli.Usagef("--config holds more than one JSON object")
	}
	return config, nil
}

// connectToCreate refuses sensitive values on the command line. Which ones are is up to the provider, so the server is
// asked, without values.
func connectToCreate(ctx context.Context, c *cli.Context, values *providervalue.Flags,
	r cluster.CreateRequest) (*cli.Client, error) {
	cl, err := c.Connect()
	if err != nil || !values.OnCommandLine() {
		return cl, err
	}
	r.ProviderValues = nil
	p, err := cl.Clusters.Preview(ctx, r)
	if err != nil {
		return nil, err
	}
	return cl, values.RefuseSecrets(p.ProviderFields)
}

// previewTries is how often a preview is requested again, a second apart, while the provider hasn't answered.
const previewTries = 10

// previewCreate shows the layout, cost and duration of a create.
func previewCreate(ctx context.Context, c *cli.Context, cl *cli.Client, r cluster.CreateRequest) error {
	p, err := cl.Clusters.Preview(ctx, r)
	for range previewTries {
		if err != nil || p.Account == nil || p.Account.State != cluster.AccountChecking {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		p, err = cl.Clusters.Preview(ctx, r)
	}
	if err != nil {
		return err
	}
	if c.JSON() {
		return c.PrintJSON(p)
	}
	cli.Line(c.Stdout, "Preview: %s of template %s", humanize.Count(p.Layout.Size(), "node"), p.Template)
	PrintPreview(c, p)
	return nil
}

// takes says how long an operation takes, and how that's estimated. Older servers report one figure only.
func takes(d time.Duration, e app.Expectation) string {
	if e.Typical > 0 {
		return e.Text()
	}
	return humanize.About(humanize.Rough(d))
}

// withPeople adds to a duration that the operation also waits for people, if it does.
func withPeople(takes, people string) string {
	if people == "" {
		return takes
	}
	return takes + ", " + people
}

// warningsOf are warnings about the template of an accepted request.
func warningsOf(a cluster.Answer) []string {
	if a.Cluster != nil && a.Cluster.TemplateVersion != nil {
		return a.Cluster.TemplateVersion.Warnings
	}
	return a.Warnings
}

// parseSettings reads NAME=VALUE, each name once.
func parseSettings(texts []string) (map[string]any, error) { return parseValues("--set", texts) }

func parseValues(flag string, texts []string) (map[string]any, error) {
	var out map[string]any
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, cli.Usagef("%s %q has no value", flag, text).Hint("Example: %s port=8080. List the parameters: muster template show.", flag)
		}
		if _, twice := out[name]; twice {
			return nil, cli.Usagef("%s sets %s twice", flag, name)
		}
		if out == nil {
			out = map[string]any{}
		}
		out[name] = value
	}
	return out, nil
}
