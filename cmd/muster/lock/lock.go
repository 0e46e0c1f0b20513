package lock

import (
	"fmt"
	"text/tabwriter"

	"muster/app"
	"muster/app/lock"
	"muster/cmd/muster/cli"
	clustercmd "muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

// Command is the family that locks clusters and nodes.
func Command(c *cli.Context) *cobra.Command {
	cmd := cli.Family("lock", "Lock clusters and nodes for everyone but admins", addCommand(c), removeCommand(c), listCommand(c))
	clustercmd.CompleteNames(c, cmd)
	return cmd
}

func addCommand(c *cli.Context) *cobra.Command {
	var ask lock.Ask
	cmd := &cobra.Command{Use: "add ID|NAME", Short: "Lock a cluster or a node", Args: cli.Exactly("ID|NAME"),
		Long: "Lock a cluster, or a single node. Only admins can change a locked cluster, sign in to it or run commands on it; only they can sign in to a locked\n" +
			"node. Open terminals, ports and SSH streams of others end within 10 s. What Muster does by itself continues.",
		Example: "  muster cluster lock add shop --reason 'Suspicious logins, ask the security team'\n" +
			"  muster cluster lock add shop --node n2 --reason 'Strange processes'",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := clustercmd.ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			if err := cl.Locks.Lock(cmd.Context(), v.ID, ask); err != nil {
				return err
			}
			return said(c, "Locked", v.Name, ask.Node)
		},
	}
	cmd.Flags().StringVar(&ask.Node, "node", "", "lock only this `node`")
	cmd.Flags().StringVar(&ask.Reason, "reason", "", "`text` for everyone who sees the cluster")
	return cmd
}

func removeCommand(c *cli.Context) *cobra.Command {
	var node string
	cmd := &cobra.Command{Use: "remove ID|NAME", Short: "Unlock a cluster or a node", Args: cli.Exactly("ID|NAME"),
		Example: "  muster cluster lock remove shop\n  muster cluster lock remove shop --node n2",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := clustercmd.ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			if err := cl.Locks.Unlock(cmd.Context(), v.ID, node); err != nil {
				return err
			}
			return said(c, "Unlocked", v.Name, node)
		},
	}
	cmd.Flags().StringVar(&node, "node", "", "unlock this `node`")
	return cmd
}

func said(c *cli.Context, verb, cluster, node string) error {
	what := "cluster " + cluster
	if node != "" {
		what = "node " + node + " of " + what
	}
	text := fmt.Sprintf("%s %s.", verb, what)
	return c.Say(map[string]string{"message": text}, "%s", text)
}

func listCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List locked clusters and nodes", Args: cobra.NoArgs, Example: "  muster cluster lock list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			all, err := cl.Locks.List(cmd.Context())
			switch {
			case err != nil:
				return err
			case c.JSON():
				return c.PrintJSON(all)
			case len(all) == 0:
				return c.Say(all, "Nothing is locked.")
			}
			w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprint(w, "CLUSTER\tNODE\tBY\tSINCE\tREASON\n")
			for _, i := range all {
				node := i.Node
				if node == "" {
					node = "all"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", i.Name, node, i.Lock.By, app.Moment(i.Lock.At), i.Lock.Reason)
			}
			return w.Flush()
		}}
}
