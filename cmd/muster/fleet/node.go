package fleet

import (
	"cmp"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/node"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// NodeCommand lists the nodes of all clusters.
func NodeCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("node", "List the nodes of all clusters", nodeListCommand(c))
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

func nodeListCommand(c *cli.Context) *cobra.Command {
	var f node.Filter
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List nodes, those of the newest cluster first",
		Example: "  muster node list --state lost\n  muster node list --service haproxy --provider aws\n  muster node list --search 10.0.3.7",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Limit < 1 {
				return cli.Usagef("--limit must be at least 1, not %d", f.Limit)
			}
			one := f // request; more nodes take several
			one.Limit = min(one.Limit, node.MaxLimit)
			if err := one.Check(); err != nil {
				return err
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			list, err := cl.Nodes.List(cmd.Context(), f)
			if err != nil {
				return err
			}
			return printNodes(c, list, f)
		},
	}
	for _, x := range []struct {
		value       *string
		name, usage string
	}{
		{&f.Text, "search", "filter by `text` in host name, machine ID, an address or the cluster's name"},
		{&f.State, "state", "filter by `state`: planned, created, ready or lost"},
		{&f.Cluster, "cluster", "filter by `cluster`: ID or name"},
		{&f.Owner, "owner", "filter by owner: a `user`, or me"},
		{&f.Template, "template", "filter by `template`"},
		{&f.Provider, "provider", "filter by `provider`"},
		{&f.Hardware, "hardware", "filter by `hardware` type"},
		{&f.Image, "image", "filter by `image`"},
		{&f.Zone, "zone", "filter by `zone`"},
		{&f.Service, "service", "filter by `service` on the node"},
	} {
		cmd.Flags().StringVar(x.value, x.name, "", x.usage)
	}
	cmd.Flags().IntVar(&f.Limit, "limit", node.MaxLimit, "maximum `number` of nodes")
	return cmd
}

func printNodes(c *cli.Context, list []node.Listed, f node.Filter) error {
	if c.JSON() {
		if list == nil {
			list = []node.Listed{}
		}
		return c.PrintJSON(map[string][]node.Listed{"nodes": list})
	}
	if len(list) == 0 {
		text := "No nodes. Create a cluster: muster cluster create --template T --size N"
		if f != (node.Filter{Limit: f.Limit}) {
			text = "No matching nodes."
		}
		_, err := fmt.Fprintln(c.Stdout, text)
		return err
	}
	t := cli.NewTable("CLUSTER", "NODE", "HOST", "STATE", "ADDRESS", "HARDWARE", "PROVIDER", "ZONE", "OWNER", "SERVICES")
	for _, n := range list {
		t.Add(n.ClusterName, n.Name, n.Hostname, n.State, cmp.Or(app.Node{Addresses: n.Addresses}.Address(app.AddressAccess), "-"), n.Hardware, n.Provider,
			cmp.Or(n.Zone, "-"), n.Owner, strings.Join(n.Services, ", "))
	}
	if err := t.Show(c); err != nil || len(list) < f.Limit {
		return err
	}
	_, err := fmt.Fprintf(c.Stderr, "Showing the first %d. To see more, use --limit.\n", f.Limit)
	return err
}
