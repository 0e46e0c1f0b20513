package cluster

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/label"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func clusterLabelCommand(c *cli.Context) *cobra.Command {
	var change label.Change
	var description string
	cmd := &cobra.Command{
		Use:   "label ID|NAME [KEY=VALUE...]",
		Short: "Change the labels and the description of a cluster",
		Long: "Add, change or remove labels of a cluster, and change its description. New machines carry the labels as tags at their\n" +
			"provider; existing machines keep the tags that they were created with.",
		Example: "  muster cluster label shop cost-centre=4711 team=web\n  muster cluster label shop --remove team --description 'Shop of the spring sale'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if change.Set, err = parseLabels("label", args[1:]); err != nil {
				return err
			}
			if cmd.Flags().Changed("description") {
				change.Description = &description
			}
			if err := change.Check(); err != nil {
				return cli.Usagef("%s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
			}
			return changeCluster(cmd.Context(), c, args[0], func(ctx context.Context, cl *cli.Client, was cluster.View) (cluster.View, string, error) {
				v, err := cl.Clusters.Label(ctx, was.ID, change)
				return v, labelWords(v.Cluster), err
			})
		},
	}
	cmd.Flags().StringSliceVar(&change.Remove, "remove", nil, "`keys` of labels to remove, separated by commas")
	cmd.Flags().StringVar(&description, "description", "", "new description; an empty `text` removes it")
	return cmd
}

// labelWords says which labels a cluster has.
func labelWords(c app.Cluster) string {
	if len(c.Labels) == 0 {
		return fmt.Sprintf("%s (%s) has no labels.", c.Name, c.ID)
	}
	return fmt.Sprintf("Labels of %s (%s): %s", c.Name, c.ID, strings.Join(label.Texts(c.Labels), ", "))
}

// parseLabels reads KEY=VALUE texts. What is wrong is a mistake in the command.
func parseLabels(flag string, texts []string) (label.Labels, error) {
	labels, err := label.Parse(texts)
	if err == nil {
		err = label.Check(labels)
	}
	if err != nil {
		e := app.AsError(err)
		return nil, cli.Usagef("%s: %s", flag, e.Message).Hint("%s", e.Hint)
	}
	return labels, nil
}
