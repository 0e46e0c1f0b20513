package cluster

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/humanize"
	"muster/app/label"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"
)

func clusterListCommand(c *cli.Context) *cobra.Command {
	var all bool
	var f app.ClusterFilter
	var status, order string
	var labels []string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List clusters, newest first",
		Example: "  muster cluster list --owner me --status failed\n  muster cluster list --template hadoop --sort cost --limit 10\n  muster cluster list --label cost-centre=4711",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if f.Labels, err = label.Selectors(labels); err != nil {
				return cli.Usagef("--label: %s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if f.Limit < 1 {
				return cli.Usagef("--limit must be at least 1, not %d", f.Limit)
			}
			f.Deleted, f.Status, f.Sort = all, app.ClusterStatus(status), app.ClusterSort(order)
			list, err := cl.Clusters.List(cmd.Context(), f)
			if err != nil {
				return err
			}
			return printClusters(c, list, f)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "include deleted clusters")
	cmd.Flags().StringVar(&f.Owner, "owner", "", "filter by owner: a `user`, or me")
	cmd.Flags().StringVar(&status, "status", "", "filter by `status`: pending, active, asleep, failed or deleted")
	cmd.Flags().StringVar(&f.Template, "template", "", "filter by `template`")
	cmd.Flags().StringVar(&f.Provider, "provider", "", "filter by `provider`")
	cmd.Flags().StringVar(&f.Text, "search", "", "filter by `text` in name, ID, owner, template or the value of a label")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "filter by label: `key=value`, or a key for any value; may be repeated")
	cmd.Flags().StringVar(&order, "sort", "", "sort `order`: name, lease (soonest expiry first) or cost (most expensive first) (default: newest first)")
	cmd.Flags().IntVar(&f.Limit, "limit", rest.ListLimit, "maximum `number` of clusters")
	return cmd
}

func printClusters(c *cli.Context, list []app.ClusterSummary, f app.ClusterFilter) error {
	if c.JSON() {
		if list == nil {
			list = []app.ClusterSummary{}
		}
		return c.PrintJSON(map[string][]app.ClusterSummary{"clusters": list})
	}
	narrowed := f.Owner != "" || f.Status != "" || f.Template != "" || f.Provider != "" || f.Text != "" || len(f.Labels) > 0
	if len(list) == 0 && narrowed {
		_, err := fmt.Fprintln(c.Stdout, "No matching clusters.")
		return err
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "No clusters. Create one: muster cluster create --template T --size N")
		return err
	}
	now := time.Now()
	t := cli.NewTable("NAME", "ID", "TEMPLATE", "NODES>", "STATUS", "OWNER", "AGE>", "LEASE>", "COST/H>")
	for _, s := range list {
		t.Add(s.Name, s.ID, s.Template, strconv.Itoa(s.Size), statusWords(s), s.Owner, humanize.Duration(now.Sub(s.CreatedAt)), leaseLeft(s.Cluster, now), humanize.Price(s.CostPerHour, s.Currency))
	}
	if err := t.Show(c); err != nil || len(list) < f.Limit {
		return err
	}
	_, err := fmt.Fprintf(c.Stderr, "Showing the first %d. To see more, use --limit.\n", f.Limit)
	return err
}

// statusWords returns the status, and the progress of an operation.
func statusWords(s app.ClusterSummary) string {
	if s.Operation == nil || s.Operation.Status.Ended() {
		return string(s.Status)
	}
	return fmt.Sprintf("%s (%s %d/%d)", s.Status, s.Operation.Kind.Text(), s.Operation.Done, s.Operation.Total)
}

func leaseLeft(c app.Cluster, now time.Time) string {
	if c.ExpiresAt.IsZero() || c.Status == app.ClusterDeleted {
		return "-"
	}
	return humanize.Duration(c.ExpiresAt.Sub(now))
}
