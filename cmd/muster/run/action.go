package run

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"muster/app/run"
	"muster/cmd/muster/cli"
	clustercmd "muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

// ActionsCommand lists the actions of a cluster's template.
func ActionsCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "actions ID|NAME", Short: "List the actions that a cluster's template offers", Args: cli.Exactly("ID|NAME"),
		Example: "  muster cluster actions shop"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cl, v, err := clustercmd.ConnectTo(cmd.Context(), c, args[0], false)
		if err != nil {
			return err
		}
		all, err := cl.Runs.Actions(cmd.Context(), v.ID)
		switch {
		case err != nil:
			return err
		case c.JSON():
			return c.PrintJSON(all)
		case len(all) == 0:
			return c.Say(all, "The template of %s has no actions. To run a command: muster cluster run %s -- COMMAND", v.Name, v.Name)
		}
		return list(c, all)
	}
	return cmd
}

func list(c *cli.Context, all []run.Action) error {
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "ACTION\tPARAMETERS\tNODES\tDESCRIPTION\n")
	for _, a := range all {
		names := make([]string, len(a.Parameters))
		for i, p := range a.Parameters {
			names[i] = p.Name
		}
		about := a.Description
		switch {
		case !a.May:
			about += fmt.Sprintf(" (for %ss)", a.Who)
		case a.Approval:
			about += " (requires approval)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", a.Name, orDash(names), orDash(a.On), about)
	}
	return w.Flush()
}

func orDash(words []string) string {
	if len(words) == 0 {
		return "–"
	}
	return strings.Join(words, ", ")
}

// ActionCommand runs an action of a cluster's template.
func ActionCommand(c *cli.Context) *cobra.Command {
	var ask run.Ask
	var detach bool
	var set []string
	cmd := &cobra.Command{
		Use: "action ID|NAME ACTION", Short: "Run an action that a cluster's template offers", Args: cli.Exactly("ID|NAME", "ACTION"),
		Long: "Run an action that a cluster's template offers, and show what it says as it comes. The exit code is the worst of all nodes.\n" +
			"To see what there is, use muster cluster actions.",
		Example: "  muster cluster action shop backup --set keep=7",
		RunE: func(cmd *cobra.Command, args []string) error {
			ask.Action = args[1]
			var err error
			if ask.Parameters, err = parameters(set); err != nil {
				return err
			}
			return start(cmd.Context(), c, args[0], ask, detach)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&set, "set", nil, "`NAME=VALUE` of a parameter; repeat it for more. Values are kept and shown")
	flags.StringArrayVar(&ask.On, "on", nil, "`KEY=VALUE` that nodes must have, too: node, service, hardware, image or zone (default: as the action says)")
	flags.IntVar(&ask.Batch, "batch", 0, "number of `nodes` at a time (default: as the action says)")
	flags.StringVar(&ask.Timeout, "timeout", "", "`time` limit on each node, such as 10m, at most 24h (default: as the action says)")
	flags.BoolVar(&detach, "detach", false, "don't wait; see the output later with muster cluster logs")
	return cmd
}

// parameters reads NAME=VALUE.
func parameters(set []string) (map[string]any, error) {
	if len(set) == 0 {
		return nil, nil
	}
	all := map[string]any{}
	for _, text := range set {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, cli.Usagef("--set needs NAME=VALUE, not %q", text)
		}
		all[name] = value
	}
	return all, nil
}
