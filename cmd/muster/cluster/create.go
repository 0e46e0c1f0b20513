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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// waitFlags are those of every command that starts an operation.
type waitFlags struct {
	wait    bool
	timeout time.Duration
}

func (w *waitFlags) declare(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.wait, "wait", false, "wait until it is done, and show how far it is")
	cmd.Flags().DurationVar(&w.timeout, "timeout", 0, "with --wait: how long to wait, such as 10m (default: until it is done)")
}

// LayoutFlags are those that ask for a layout.
type LayoutFlags struct {
	Request applayout.LayoutRequest
}

func (l *LayoutFlags) Declare(flags *pflag.FlagSet) {
	r := &l.Request
	flags.StringVarP(&r.Template, "template", "t", "", "`template` of the cluster")
	flags.IntVarP(&r.Size, "size", "n", 0, "`number` of nodes")
	flags.StringVar(&r.Provider, "provider", "", "`provider` to make the machines with (default: the template's)")
	flags.StringSliceVar(&r.Services, "services", nil, "`services`, separated by commas (default: the template's)")
	flags.StringVar(&r.Hardware, "hardware", "", "hardware `type` of all nodes (default: the template's, or any)")
	flags.StringVar(&r.Image, "image", "", "image `type` of all nodes (default: the template's, or any)")
	flags.Var((*preference)(&r.Prefer), "prefer", "what makes a layout better: packed, cheapest or spread (default: what the template says, else packed)")
}

// preference is the value of --prefer.
type preference template.Preference

var preferences = []string{string(template.PreferPacked), string(template.PreferCheapest), string(template.PreferSpread)}

// Set takes one of preferences.
func (p *preference) Set(text string) error {
	if !slices.Contains(preferences, text) {
		return fmt.Errorf("use one of %s", strings.Join(preferences, ", "))
	}
	*p = preference(text)
	return nil
}

// String returns what was set, "" for nothing.
func (p *preference) String() string { return string(*p) }

// Type is how help names the value.
func (p *preference) Type() string { return "preference" }

func clusterCreateCommand(c *cli.Context) *cobra.Command {
	var (
		layout        LayoutFlags
		w             waitFlags
		lease, config string
		dnsSuffix     string
		file          string
		onFailure     failureChoice
		survival      template.Survival
		visibility    string
		group         string
		settings      []string
		preview       bool
	)
	cmd := &cobra.Command{
		Use:   "create [NAME] (--template T --size N | -f SPEC)",
		Short: "Make a cluster",
		Long:  "Make a cluster. Without a name it gets one from its template.",
		Example: "  muster cluster create shop --template web --size 3 --wait\n" +
			"  muster cluster create --template web --size 3 --lease 8h --config '{\"port\": 8080}'\n" +
			"  muster cluster create nightly --template web --size 3 --on-failure roll_back --wait\n" +
			"  muster cluster create shop --template web --size 10 --on-failure go_on --at-least 60%",
		Args: cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				wanted := []string{"template", "size"}
				if len(settings) > 0 {
					wanted = wanted[:1] // the template may let one of its parameters say the size
				}
				if err := cli.Need(cmd, wanted...); err != nil {
					return err
				}
			}
			r := cluster.ClusterRequest{LayoutRequest: layout.Request, DNSSuffix: dnsSuffix, OnFailure: app.FailureChoice(onFailure), Survival: survival,
				Visibility: app.Visibility(visibility), Group: group}
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
			cl, err := c.Connect()
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
	cmd.Flags().BoolVar(&preview, "preview", false, "only show what would be made")
	layout.Declare(cmd.Flags())
	w.declare(cmd)
	cmd.Flags().StringVarP(&file, "file", "f", "", "a spec as cluster export writes it: the name of a YAML or JSON `file`, or - for stdin; flags go before what it says")
	cmd.Flags().StringVar(&lease, "lease", "", "how long it may live: a `time` such as 8h or 7d, or forever (default: the template's)")
	cmd.Flags().StringVar(&config, "config", "", "configuration over the template's: a JSON `object`, the name of a YAML or JSON file, or - for stdin")
	cmd.Flags().StringArrayVar(&settings, "set", nil, "value of one of the template's parameters, as `name=value`; see `muster template show`")
	cmd.Flags().StringVar(&dnsSuffix, "dns-suffix", "", "`domain` of the host names (default: the template's)")
	cmd.Flags().StringVar(&visibility, "visibility", "", "who can see it: `private` (its owner, those it is shared with, and admins) or tenant (everyone in it) (default: the tenant's)")
	cmd.Flags().StringVar(&group, "group", "", "a `group` of yours whose members own it together with you")
	declareOnFailure(cmd.Flags(), &onFailure, &survival, true)
	return cmd
}

// failureChoice is the value of --on-failure.
type failureChoice app.FailureChoice

// Set takes one of the choices, also with - for _.
func (f *failureChoice) Set(text string) error {
	choice := app.FailureChoice(strings.ReplaceAll(text, "-", "_"))
	if !slices.Contains(app.FailureChoices(), choice) {
		words := make([]string, 0, 4)
		for _, c := range app.FailureChoices() {
			words = append(words, string(c))
		}
		return errors.New("use one of " + strings.Join(words, ", "))
	}
	*f = failureChoice(choice)
	return nil
}

// String returns what was set, "" for nothing.
func (f *failureChoice) String() string { return string(*f) }

// Type is how help names the value.
func (f *failureChoice) Type() string { return "choice" }

// started answers for a command that has started an operation: with --wait after it has ended, else at once. After is
// the last event before it.
func started(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.ClusterView, w waitFlags, after int64) error {
	if !w.wait {
		return printStarted(c, v, "")
	}
	v, failed := waitAfter(ctx, c, cl, v, w.timeout, after)
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

// created is started for a create, which says too which people it waits for.
func created(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.ClusterView, w waitFlags) error {
	if w.wait || c.JSON() {
		return started(ctx, c, cl, v, w, 0)
	}
	return printStarted(c, v, cl.Requests.PeopleOf(ctx, v.ID))
}

func printStarted(c *cli.Context, v cluster.ClusterView, people string) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	op, _ := OperationOf(v, 0)
	fmt.Fprintf(c.Stdout, "%s of %s (%s) is accepted: %s, %s", op.Kind.Words(), v.Name, v.ID, humanize.Count(v.Size, "node"), humanize.Count(op.Total, "step"))
	if op.Expected > 0 {
		fmt.Fprintf(c.Stdout, ", %s", withPeople(takes(op.Expected, op.Expects), people))
	}
	fmt.Fprintf(c.Stdout, "\nFollow it:  muster cluster logs %s -f\n", v.ID)
	return nil
}

// ParseLease reads a duration; nil where nothing was said, 0 forever.
func ParseLease(text string) (*time.Duration, error) {
	if text == "" {
		return nil, nil
	}
	if text == "forever" {
		return new(time.Duration), nil
	}
	lease, err := template.ParseLength(text)
	if err != nil || lease <= 0 {
		return nil, cli.Usagef("--lease %s is not a length of time", text).Hint("It looks like 90m, 8h, 7d or forever.")
	}
	return &lease, nil
}

// readConfig reads a JSON object given as such, as the name of a file, or on stdin. Numbers stay as they were written.
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
		return nil, cli.Usagef("--config: %v", err).Hint("Give a JSON object, the name of a file with one, or - for stdin.")
	}
	if b, err = jsonOf(b); err != nil {
		return nil, cli.Usagef("--config is not a JSON or YAML object: %v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var config map[string]any
	if err := dec.Decode(&config); err != nil {
		return nil, cli.Usagef("--config is not a JSON object: %s", humanize.GoWords(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, cli.Usagef("--config holds more than one JSON object")
	}
	return config, nil
}

// previewTries is how often a preview is asked for again, a second apart, while the provider has not answered.
const previewTries = 10

// previewCreate shows what a create would make, what that costs and how long it takes.
func previewCreate(ctx context.Context, c *cli.Context, cl *cli.Client, r cluster.ClusterRequest) error {
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
	cli.Line(c.Stdout, "%s of %s would be:", humanize.Count(p.Layout.Size(), "node"), p.Template)
	PrintPreview(c, p)
	return nil
}

// takes says how long an operation takes, and how that is known. Servers from before that was kept give one figure only.
func takes(d time.Duration, e app.Expectation) string {
	if e.Typical > 0 {
		return e.Words()
	}
	return "about " + cli.Clock(d)
}

// withPeople adds to how long something takes that it also waits for people, where it does.
func withPeople(takes, people string) string {
	if people == "" {
		return takes
	}
	return takes + ", " + people
}

// warningsOf are what is to be read about the template though the request was taken.
func warningsOf(a cluster.Answer) []string {
	if a.Cluster != nil && a.Cluster.MadeFrom != nil {
		return a.Cluster.MadeFrom.Warnings
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
			return nil, cli.Usagef("%s %q has no value", flag, text).Hint("It looks like %s port=8080; see `muster template show`.", flag)
		}
		if _, twice := out[name]; twice {
			return nil, cli.Usagef("%s says %s twice", flag, name)
		}
		if out == nil {
			out = map[string]any{}
		}
		out[name] = value
	}
	return out, nil
}
