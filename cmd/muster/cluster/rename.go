package cluster

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"muster/app"
	"muster/app/cluster"
	"muster/cmd/muster/cli"
)

func clusterRenameCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:     "rename ID|NAME NEW",
		Short:   "Give a cluster another name; its id and host names stay",
		Example: "  muster cluster rename shop shop-old",
		Args:    cli.Exactly("ID|NAME", "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeCluster(cmd.Context(), c, args[0], func(ctx context.Context, cl *cli.Client, was cluster.ClusterView) (cluster.ClusterView, string, error) {
				v, err := cl.Clusters.Rename(ctx, was.ID, args[1])
				return v, fmt.Sprintf("%s is called %s now. Its id %s and its host names stay.", was.Name, v.Name, v.ID), err
			})
		},
	}
}

func clusterTransferCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "transfer ID|NAME USER|group:NAME",
		Short: "Give a cluster to another user of the tenant, or to a group",
		Long: "Give a cluster to another user of the tenant. It counts towards the new owner's quotas from then on, which may refuse it.\n" +
			"Whoever was given its SSH key still has it.\n\n" +
			"Each member of a group that owns a cluster may do what the owner may. The person who owned it stays responsible: quotas, usage and\n" +
			"warnings are that person's, until a member transfers the cluster.",
		Example: "  muster cluster transfer shop bob\n  muster cluster transfer shop group:ops",
		Args:    cli.Exactly("ID|NAME", "USER|group:NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeCluster(cmd.Context(), c, args[0], func(ctx context.Context, cl *cli.Client, was cluster.ClusterView) (cluster.ClusterView, string, error) {
				v, err := cl.Clusters.Transfer(ctx, was.ID, args[1])
				return v, fmt.Sprintf("%s (%s) now belongs to %s.", v.Name, v.ID, owners(v.Cluster)), err
			})
		},
	}
}

// owners names the person, and the group where there is one.
func owners(c app.Cluster) string {
	if c.OwnerGroup == "" {
		return c.Owner
	}
	return c.Owner + " and " + cluster.ClusterShare{Group: c.OwnerGroup}.Name()
}

// changeCluster does something to a cluster that is done at once, and says what it did.
func changeCluster(ctx context.Context, c *cli.Context, word string, do func(context.Context, *cli.Client, cluster.ClusterView) (cluster.ClusterView, string, error)) error {
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
