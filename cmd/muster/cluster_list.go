package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
)

// listLimit is the greatest number of clusters that a server tells at once.
const listLimit = 1000

func clusterListCommand(c *cli) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List clusters, newest first",
		Args:    atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			list, err := cl.clusters(cmd.Context(), app.ClusterFilter{Deleted: all, Limit: listLimit})
			if err != nil {
				return err
			}
			return c.printClusters(list)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also those that are deleted")
	return cmd
}

func (c *cli) printClusters(list []app.ClusterSummary) error {
	if c.json() {
		if list == nil {
			list = []app.ClusterSummary{}
		}
		return c.printJSON(map[string][]app.ClusterSummary{"clusters": list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.stdout, "No clusters. Make one: muster cluster create --template T --size N")
		return err
	}
	now := time.Now()
	t := newTable("NAME", "ID", "TEMPLATE", "NODES>", "STATUS", "OWNER", "AGE>", "LEASE>", "COST/H>")
	for _, s := range list {
		t.add(s.Name, s.ID, s.Template, strconv.Itoa(s.Size), statusWords(s), s.Owner, span(now.Sub(s.CreatedAt)), leaseLeft(s.Cluster, now), money(s.CostPerHour))
	}
	if err := t.write(c.stdout); err != nil || len(list) < listLimit {
		return err
	}
	_, err := fmt.Fprintf(c.stderr, "Only the newest %d are listed.\n", listLimit)
	return err
}

// statusWords gives the status, and how far an operation is that is under way.
func statusWords(s app.ClusterSummary) string {
	if s.Operation == nil || s.Operation.Status.Ended() {
		return string(s.Status)
	}
	return fmt.Sprintf("%s (%s %d/%d)", s.Status, s.Operation.Kind.Words(), s.Operation.Done, s.Operation.Total)
}

func leaseLeft(c app.Cluster, now time.Time) string {
	if c.ExpiresAt.IsZero() || c.Status == app.ClusterDeleted {
		return "-"
	}
	return span(c.ExpiresAt.Sub(now))
}
