package cluster

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/cluster"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
	"muster/app/sharing"
)

func clusterRenameCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:     "rename ID|NAME NEW",
		Short:   "Rename a cluster",
		Long:    "Rename a cluster. Its ID and host names don't change.",
		Example: "  muster cluster rename shop shop-old",
		Args:    cli.Exactly("ID|NAME", "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeCluster(cmd.Context(), c, args[0], func(ctx context.Context, cl *cli.Client, was cluster.View) (cluster.View, string, error) {
				v, err := cl.Clusters.Rename(ctx, was.ID, args[1])
				return v, fmt.Sprintf("Renamed %s to %s. Its ID %s and host names don't change.", was.Name, v.Name, v.ID), err
			})
		},
	}
}

func clusterTransferCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "transfer ID|NAME USER|group:NAME",
		Short: "Transfer a cluster to another user or a group",
		Long: "Transfer ownership of a cluster to another user of the tenant. The cluster then counts toward the new owner's quotas; if they\n" +
			"don't allow it, the transfer is refused. Copies of the cluster's SSH key keep working.\n\n" +
			"If a group owns a cluster, each member has the owner's permissions. The previous owner stays responsible: quotas, usage and\n" +
			"warnings remain with that person until a member transfers the cluster.",
		Example: "  muster cluster transfer shop bob\n  muster cluster transfer shop group:ops",
		Args:    cli.Exactly("ID|NAME", "USER|group:NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeCluster(cmd.Context(), c, args[0], func(ctx context.Context, cl *cli.Client, was cluster.View) (cluster.View, string, error) {
				v, err := cl.Clusters.Transfer(ctx, was.ID, args[1])
				return v, fmt.Sprintf("%s (%s) now belongs to %s.", v.Name, v.ID, owners(v.Cluster)), err
			})
		},
	}
}

// owners names the person, and the group if there is one.
func owners(c app.Cluster) string {
	if c.OwnerGroup == "" {
		return c.Owner
	}
	return c.Owner + " and " + sharing.Share{Group: c.OwnerGroup}.Name()
}

// changeCluster makes an immediate change to a cluster, and reports it.
func changeCluster(ctx context.Context, c *cli.Context, word string, do func(context.Context, *cli.Client, cluster.View) (cluster.View, string, error)) error {
	cl, v, err := ConnectTo(ctx, c, word, false)
	if err != nil {
		return err
	}
	v, said, err := do(ctx, cl, v)
	switch {
	case err != nil:
		return err
	case c.JSON():
		return c.PrintJSON(v)
	}
	fmt.Fprintln(c.Stdout, said)
	return nil
}
