package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/providervalue"

	"github.com/spf13/cobra"
)

// Command is the area of clusters, with more commands of other packages in it.
func Command(c *cli.Context, more ...*cobra.Command) *cobra.Command {
	cmd := cli.Family("cluster", "Create, change, watch and delete clusters",
		clusterCreateCommand(c),
		clusterListCommand(c),
		clusterShowCommand(c),
		LogsCommand(c),
		InventoryCommand(c),
		clusterWhyCommand(c),
		clusterAnswerCommand(c),
		clusterHealthCommand(c),
		clusterDriftCommand(c),
		clusterFactsCommand(c),
		clusterPauseCommand(c),
		clusterResumeCommand(c),
		clusterRetryNodeCommand(c),
		clusterCancelCommand(c),
		clusterRollBackCommand(c),
		clusterAcceptPartialCommand(c),
		clusterBackfillCommand(c),
		clusterDeleteCommand(c),
		clusterReceiptCommand(c),
		clusterKeptCommand(c),
		clusterLeaseCommand(c),
		clusterExtendCommand(c),
		clusterIdleCommand(c),
		clusterKeepCommand(c),
		clusterShortenCommand(c),
		clusterLabelCommand(c),
		clusterRenameCommand(c),
		clusterTransferCommand(c),
		clusterShareCommand(c),
		clusterUnshareCommand(c),
		clusterVisibilityCommand(c),
		clusterSleepCommand(c),
		clusterWakeCommand(c),
		clusterScheduleCommand(c),
		clusterMaintenanceCommand(c),
		providervalue.Command(c, ConnectTo),
		clusterExportCommand(c),
		clusterCloneCommand(c),
		clusterDiffCommand(c),
		clusterCheckCommand(c),
		clusterCertificateCommand(c),
	)
	cmd.AddCommand(updateCommands(c)...)
	cmd.AddCommand(more...)
	CompleteNames(c, cmd)
	cmd.Aliases = []string{"clusters"}
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

// ConnectTo returns a client and the named cluster; see find.
func ConnectTo(ctx context.Context, c *cli.Context, word string, deleted bool) (*cli.Client, cluster.View, error) {
	cl, err := c.Connect()
	if err != nil {
		return nil, cluster.View{}, err
	}
	v, err := find(ctx, cl, word, deleted)
	return cl, v, err
}

// find returns the cluster with an id or, failing that, the name. Of several with the name, a live one takes precedence over deleted
// ones, and of those the newest; two live ones are ambiguous.
func find(ctx context.Context, cl *cli.Client, word string, deleted bool) (cluster.View, error) {
	if word == "" {
		return cluster.View{}, cli.Usagef("ID|NAME is empty")
	}
	v, err := cl.Clusters.Get(ctx, word)
	if app.CodeOf(err) != app.ENotFound {
		return v, err
	}
	named, err := cl.Clusters.List(ctx, app.ClusterFilter{Name: word, Deleted: deleted})
	if err != nil {
		return v, err
	}
	id, err := choose(word, named)
	if err != nil {
		return v, err
	}
	return cl.Clusters.Get(ctx, id)
}

// choose returns the id of the named cluster.
func choose(word string, named []app.ClusterSummary) (string, error) {
	live := slices.DeleteFunc(slices.Clone(named), func(s app.ClusterSummary) bool { return s.Status == app.ClusterDeleted })
	switch {
	case len(named) == 0:
		return "", &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("cluster %q doesn't exist", word), Hint: "List your clusters: muster cluster list"}
	case len(live) == 1:
		return live[0].ID, nil
	case len(live) == 0:
		newest := slices.MaxFunc(named, func(a, b app.ClusterSummary) int { return a.CreatedAt.Compare(b.CreatedAt) })
		return newest.ID, nil
	}
	var ids []string
	for _, s := range live {
		ids = append(ids, fmt.Sprintf("%s (%s, %s)", s.ID, s.Owner, s.Status))
	}
	return "", &app.Error{Code: app.EConflict, Message: fmt.Sprintf("%d clusters have the name %q", len(live), word),
		Hint: "Use an id: " + strings.Join(ids, ", ")}
}
