package cluster

import (
	"cmp"
	"fmt"

	"muster/app/health"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func clusterCheckCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "check ID|NAME [NODE]",
		Short: "Show the node checks of a cluster",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return cli.Exactly("ID|NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			node := ""
			if len(args) == 2 {
				node = args[1]
			}
			all, err := cl.Clusters.NodeReports(cmd.Context(), v.ID, node)
			if err != nil {
				return err
			}
			return printNodeReports(c, all, node != "")
		},
	}
}

// printNodeReports prints a table: all checks of one node, or only failed ones of several.
func printNodeReports(c *cli.Context, all []health.NodeReport, whole bool) error {
	if c.JSON() {
		return c.PrintJSON(all)
	}
	if len(all) == 0 {
		fmt.Fprintln(c.Stdout, "No nodes checked yet. Nodes are checked when they're bootstrapped.")
		return nil
	}
	t := cli.NewTable("NODE", "CHECK", "RESULT", "FOUND", "EXPECTED", "HINT")
	rows := 0
	for _, r := range all {
		for _, k := range r.Checks {
			result := "ok"
			switch {
			case k.Skipped != "":
				result = "not checked"
			case !k.OK && k.Level == health.NodeAdvised:
				result = "warning"
			case !k.OK:
				result = "failed"
			}
			if k.OK && !whole {
				continue
			}
			rows++
			t.Add(r.Node, k.Name, result, cmp.Or(k.Found, k.Skipped, "-"), cmp.Or(k.Want, "-"), cmp.Or(k.Hint, "-"))
		}
	}
	if rows == 0 {
		fmt.Fprintf(c.Stdout, "%s, all checks passed. To see every check of one: muster cluster check ID|NAME NODE\n", humanize.Count(len(all), "node"))
		return nil
	}
	return t.Show(c)
}
