package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/health"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"

	"github.com/spf13/cobra"
)

func clusterHealthCommand(c *cli.Context) *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "health ID|NAME",
		Short: "Show the health of a cluster and its nodes",
		Long: "Show whether a cluster and its nodes are healthy, unhealthy or unreachable, since when and why. The template sets how often the health\n" +
			"checks of its services run. With --check, a check runs now.",
		Example: "  muster cluster health shop\n  muster cluster health shop --check",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if check {
				return checkHealth(cmd.Context(), c, args[0])
			}
			return show(cmd.Context(), c, args[0], "health", printHealth)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "run the health checks now and wait for the result")
	return cmd
}

// Timing of the wait for a health check: longer than a batch of checks takes on a large cluster.
const (
	checkWait  = 5 * time.Minute
	checkEvery = 500 * time.Millisecond
)

// checkHealth runs a cluster's health checks now, and prints their result.
func checkHealth(ctx context.Context, c *cli.Context, word string) error {
	cl, v, err := ConnectTo(ctx, c, word, false)
	if err != nil {
		return err
	}
	before, err := cl.Clusters.CheckHealth(ctx, v.ID)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	for {
		var h health.ClusterHealth
		if err := cl.CallInto(ctx, rest.ClusterPath(v.ID, "health"), nil, &h); err != nil {
			return err
		}
		if h.CheckedAt.After(before.CheckedAt) {
			return printHealth(c, v.Name, h)
		}
		select {
		case <-within.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return app.Errorf(app.ETimeout, "The health check of %s hasn't finished after %s. Check that a worker is running.", v.Name, humanize.Duration(checkWait))
		case <-time.After(checkEvery):
		}
	}
}

func clusterDriftCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "drift ID|NAME",
		Short: "Show the drift of a cluster, and how to repair it",
		Long: "Compare a cluster with its definition, the catalog, its provider, its node checks and its health checks. List every difference with\n" +
			"the command that repairs it. Nothing is changed.",
		Example: "  muster cluster drift shop",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(cmd.Context(), c, args[0], "drift", printDrift)
		},
	}
}

func clusterFactsCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "facts ID|NAME",
		Short: "Show the facts reported from a cluster's nodes",
		Long: "Show the facts that the actions of a cluster's services reported, such as ports, versions and URLs. Configurations use a fact as\n" +
			"%fact.SERVICE.NAME%. Values whose names end in secret, token, password, key, cookie or kubeconfig aren't shown.",
		Example: "  muster cluster facts shop",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(cmd.Context(), c, args[0], "facts", printFacts)
		},
	}
}

func printFacts(c *cli.Context, name string, list []execution.NodeFact) error {
	if c.JSON() {
		return c.PrintJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintf(c.Stdout, "No facts reported for %s.\n", name)
		return nil
	}
	t := cli.NewTable("NODE", "SERVICE", "NAME", "VALUE", "SINCE")
	for _, f := range list {
		value := humanize.CutText(strings.Join(strings.Fields(f.Value), " "), 80)
		if f.Secret {
			value = "(secret)"
		}
		t.Add(f.Node, f.Service, f.Name, value, cli.Time(f.At))
	}
	return t.Show(c)
}

// show prints one of a cluster's reports.
func show[T any](ctx context.Context, c *cli.Context, word, what string, print func(c *cli.Context, name string, said T) error) error {
	cl, v, err := ConnectTo(ctx, c, word, false)
	if err != nil {
		return err
	}
	var said T
	if err := cl.CallInto(ctx, rest.ClusterPath(v.ID, what), nil, &said); err != nil {
		return err
	}
	return print(c, v.Name, said)
}

func printHealth(c *cli.Context, name string, h health.ClusterHealth) error {
	if c.JSON() {
		return c.PrintJSON(h)
	}
	line := fmt.Sprintf("%s is %s.", name, h.State)
	if h.State == health.Unknown {
		line = fmt.Sprintf("The health of %s is unknown.", name)
	}
	if !h.CheckedAt.IsZero() {
		line += fmt.Sprintf(" %d healthy, %d unhealthy, %d unreachable, %d unknown; checked %s.", h.Healthy, h.Unhealthy, h.Unreachable, h.Unknown, cli.Time(h.CheckedAt))
	}
	fmt.Fprintln(c.Stdout, line)
	if h.Note != "" {
		fmt.Fprintln(c.Stdout, h.Note)
	}
	if len(h.Nodes) == 0 {
		return nil
	}
	fmt.Fprintln(c.Stdout)
	t := cli.NewTable("NODE", "STATE", "SINCE", "REASON")
	for _, n := range h.Nodes {
		since := "-"
		if !n.Since.IsZero() {
			since = cli.Time(n.Since)
		}
		t.Add(n.Node, n.State.Text(), since, strings.Join(n.Reasons, "; "))
	}
	return t.Show(c)
}

func printDrift(c *cli.Context, name string, d operation.Drift) error {
	if c.JSON() {
		return c.PrintJSON(d)
	}
	if len(d.Items) == 0 {
		fmt.Fprintf(c.Stdout, "No drift detected in %s.\n", name)
	} else {
		t := cli.NewTable("SOURCE", "DRIFT", "REPAIR")
		for _, i := range d.Items {
			repair := "-"
			if i.Fix != nil {
				repair = strings.TrimSpace("muster cluster " + string(i.Fix.Kind) + " " + name + " " + nodeFlags(i.Fix.Nodes))
			}
			t.Add(string(i.From), i.Text, repair)
		}
		if err := t.Show(c); err != nil {
			return err
		}
	}
	for _, note := range d.Notes {
		fmt.Fprintln(c.Stdout, note)
	}
	return nil
}

func nodeFlags(nodes []string) string {
	if len(nodes) == 0 {
		return ""
	}
	return "--node " + strings.Join(nodes, ",")
}
