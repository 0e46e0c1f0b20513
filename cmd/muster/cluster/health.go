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
		Short: "Say how a cluster and its nodes are",
		Long: "Say how a cluster and its nodes are: healthy, sick or unreachable, since when and why. Clusters are looked at as often as their\n" +
			"template says, by the health checks of their services. With --check a check starts now, and its result is shown.",
		Example: "  muster cluster health shop\n  muster cluster health shop --check",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if check {
				return checkHealth(cmd.Context(), c, args[0])
			}
			return show(cmd.Context(), c, args[0], "health", printHealth)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "check now and wait for the result")
	return cmd
}

// How long and how often the result of a health check is waited for: longer than the time a round may take on a large cluster.
const (
	checkWait  = 5 * time.Minute
	checkEvery = 500 * time.Millisecond
)

// checkHealth has a cluster checked now, and prints what the check has found.
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
		if h.LookedAt.After(before.LookedAt) {
			return printHealth(c, v.Name, h)
		}
		select {
		case <-within.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return app.Errorf(app.ETimeout, "The health check of %s has not finished after %s. Check that a worker is running.", v.Name, humanize.Duration(checkWait))
		case <-time.After(checkEvery):
		}
	}
}

func clusterDriftCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "drift ID|NAME",
		Short: "Say where a cluster is not what it should be, and what would mend it",
		Long: "Say where a cluster is not what the catalog, its provider, the checks of its nodes and the health of its services say that it\n" +
			"should be, and which command would mend it. Nothing is changed.",
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
		Short: "Say what the services of a cluster told of its nodes",
		Long: "Say what the services of a cluster told of its nodes when their actions were carried out: ports, versions, where they are found.\n" +
			"Configurations speak of it as %fact.SERVICE.NAME%. Values whose names end in secret, token, password, key or cookie are not shown.",
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
		fmt.Fprintf(c.Stdout, "The services of %s told nothing.\n", name)
		return nil
	}
	t := cli.NewTable("NODE", "SERVICE", "NAME", "VALUE", "SINCE")
	for _, f := range list {
		value := humanize.CutText(strings.Join(strings.Fields(f.Value), " "), 80)
		if f.Secret {
			value = "(secret)"
		}
		t.Add(f.Node, f.Service, f.Name, value, f.At.UTC().Format(time.DateTime))
	}
	return t.Show(c)
}

// show prints what a server says of a cluster under a path of its own.
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
	if !h.LookedAt.IsZero() {
		line += fmt.Sprintf(" %d healthy, %d sick, %d unreachable, %d unknown; looked at %s UTC.", h.Healthy, h.Sick, h.Unreachable, h.Unknown, h.LookedAt.UTC().Format(time.DateTime))
	}
	fmt.Fprintln(c.Stdout, line)
	if h.Note != "" {
		fmt.Fprintln(c.Stdout, h.Note)
	}
	if len(h.Nodes) == 0 {
		return nil
	}
	fmt.Fprintln(c.Stdout)
	t := cli.NewTable("NODE", "STATE", "SINCE", "WHY")
	for _, n := range h.Nodes {
		since := "-"
		if !n.Since.IsZero() {
			since = n.Since.UTC().Format(time.DateTime)
		}
		t.Add(n.Node, string(n.State), since, strings.Join(n.Reasons, "; "))
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
		t := cli.NewTable("FROM", "WHAT", "MEND")
		for _, i := range d.Items {
			mend := "-"
			if i.Mend != nil {
				mend = strings.TrimSpace("muster cluster " + string(i.Mend.Kind) + " " + name + " " + nodeFlags(i.Mend.Nodes))
			}
			t.Add(string(i.From), i.Text, mend)
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
