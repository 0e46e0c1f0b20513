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
		Short: "Show what nodes were found to be when they were bootstrapped, beside what services may assume",
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

// printNodeReports prints a table: all checks of one node, or only what is not good of many.
func printNodeReports(c *cli.Context, all []health.NodeReport, whole bool) error {
	if c.JSON() {
		return c.PrintJSON(all)
	}
	if len(all) == 0 {
		fmt.Fprintln(c.Stdout, "No node was looked at so far; nodes are looked at when they are bootstrapped.")
		return nil
	}
	t := cli.NewTable("NODE", "CHECK", "RESULT", "FOUND", "WANTED", "HINT")
	rows := 0
	for _, r := range all {
		for _, k := range r.Checks {
			result := "good"
			switch {
			case k.Skipped != "":
				result = "not checked"
			case !k.OK && k.Level == health.NodeAdvised:
				result = "take care"
			case !k.OK:
				result = "NOT FIT"
			}
			if k.OK && !whole {
				continue
			}
			rows++
			t.Add(r.Node, k.Name, result, cmp.Or(k.Found, k.Skipped, "-"), cmp.Or(k.Want, "-"), cmp.Or(k.Hint, "-"))
		}
	}
	if rows == 0 {
		fmt.Fprintf(c.Stdout, "%s, all as services need them. Name one to see every check.\n", humanize.Count(len(all), "node"))
		return nil
	}
	return t.Show(c)
}
