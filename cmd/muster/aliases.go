package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"muster/app"
	appcluster "muster/app/cluster"
	"muster/cmd/muster/catalog"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
	"muster/cmd/muster/connect"
)

// aliasCommands are typed so often that they exist at the top level as well as in their family.
func aliasCommands(c *cli.Context) []*cobra.Command {
	all := []*cobra.Command{waitCommand(c), connect.SSHCommand(c), cluster.InventoryCommand(c), cluster.LogsCommand(c), catalog.ApplyCommand(c), catalog.DiffCommand(c)}
	for i, family := range []string{"", "cluster", "cluster", "cluster", "catalog", "catalog"} {
		if family != "" {
			all[i].Short += " (alias for " + family + " " + all[i].Name() + ")"
		}
		all[i] = grouped("clusters", all[i])
	}
	return all
}

// waitCommand waits for operations in progress, for scripts that started them without --wait, or didn't start them.
func waitCommand(c *cli.Context) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "wait ID|NAME...",
		Short: "Wait for the operations of clusters to finish",
		Long: "Wait for the latest operation of each cluster to finish, no matter who started it, and show progress. The exit code is 0 if all of them\n" +
			"succeeded or nothing is in progress, and 1 otherwise.",
		Example: "  muster wait shop --timeout 15m && make integration\n  muster wait shop-1 shop-2",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("ID|NAME is required").Hint("Usage: %s", cmd.UseLine())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return waitAll(cmd.Context(), c, args, timeout)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait for all clusters together, such as 10m (default: no limit)")
	return cmd
}

func waitAll(ctx context.Context, c *cli.Context, names []string, timeout time.Duration) error {
	until := time.Now().Add(timeout)
	var all []appcluster.View
	var failed []error
	for _, name := range names {
		cl, v, err := cluster.ConnectTo(ctx, c, name, true)
		if err != nil {
			return err
		}
		left := time.Duration(0)
		if timeout > 0 {
			left = max(time.Until(until), time.Millisecond)
		}
		now, err := cluster.WaitFor(ctx, c, cl, v, left)
		if err != nil {
			if code := app.CodeOf(err); code == app.ETimeout || code == app.ECancelled {
				return err
			}
			failed = append(failed, err)
		}
		if all = append(all, now); !c.JSON() {
			fmt.Fprintln(c.Stdout, cluster.Headline(now))
		}
	}
	if c.JSON() {
		if err := c.PrintJSON(map[string][]appcluster.View{"clusters": all}); err != nil {
			return err
		}
	}
	if len(failed) == 1 {
		return failed[0]
	}
	return errors.Join(failed...)
}
