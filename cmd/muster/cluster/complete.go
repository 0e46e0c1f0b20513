package cluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"
)

// completionTime is how long shell completion waits for names.
const completionTime = 3 * time.Second

// CompleteNames completes cluster names in all commands that take one first, and then, if the command takes them, the names of
// its services or nodes.
func CompleteNames(c *cli.Context, family *cobra.Command) {
	for _, cmd := range family.Commands() {
		if strings.Contains(cmd.Use, "ID|NAME") && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				return completeArgs(c, cmd, args)
			}
		}
	}
}

func completeArgs(c *cli.Context, cmd *cobra.Command, args []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	cl, err := c.Connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if len(args) == 0 {
		list, err := cl.Clusters.List(ctx, app.ClusterFilter{Limit: rest.ListLimit})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, s := range list {
			names = append(names, s.Name+"\t"+s.Template+", "+humanize.Count(s.Size, "node")+", "+string(s.Status))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	v, err := find(ctx, cl, args[0], false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	switch cmd.Name() {
	case "remove", "start", "stop", "restart":
		names = v.Services
	case "repair", "ssh", "retry-node":
		for _, n := range v.Nodes {
			if n.Status != app.NodeDeleted {
				names = append(names, n.Name)
			}
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(args[1:], n) })
	return names, cobra.ShellCompDirectiveNoFileComp
}
