package build

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func Command(c *cli.Context) *cobra.Command {
	cmd := cli.Family("build", "Manage build hooks, their rules, and clusters created for builds",
		buildListCommand(c), buildShowCommand(c), buildWaitCommand(c), buildEndCommand(c), buildExtendCommand(c),
		buildHooksCommand(c), buildHookCommand(c), buildRulesCommand(c), buildDeliveriesCommand(c), buildReplayCommand(c))
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

func buildListCommand(c *cli.Context) *cobra.Command {
	var f build.Filter
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List builds, newest first", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Limit < 1 || f.Limit > build.MaxBuildPage {
				return cli.Usagef("--limit must be from 1 to %d, not %d", build.MaxBuildPage, f.Limit)
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			list, next, err := cl.Builds.List(cmd.Context(), f)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"builds": list, "next": next})
			}
			if len(list) == 0 {
				_, err := fmt.Fprintln(c.Stdout, "No builds.")
				return err
			}
			now := time.Now()
			t := cli.NewTable("NUMBER>", "HOOK", "RULE", "STATE", "CLUSTER", "AGE>", "KEY", "DETAILS")
			for _, b := range list {
				t.Add(strconv.FormatInt(b.ID, 10), b.Hook, b.Rule, string(b.State), cmp.Or(b.Cluster, "-"), humanize.Duration(now.Sub(b.StartedAt)), b.Key, b.Message)
			}
			if err := t.Show(c); err != nil || next == 0 {
				return err
			}
			_, err = fmt.Fprintf(c.Stderr, "Older builds: --before %d\n", next)
			return err
		}}
	flags := cmd.Flags()
	flags.StringVar(&f.Hook, "hook", "", "filter by build `hook`")
	flags.StringVar(&f.Key, "key", "", "filter by `key`")
	flags.StringVar(&f.Build, "build", "", "filter by the `name` of the build in the build system's events")
	flags.BoolVar(&f.Live, "live", false, "only builds that have or are waiting for a cluster")
	flags.Int64Var(&f.Before, "before", 0, "only builds before this `number`")
	flags.IntVar(&f.Limit, "limit", 50, "maximum `number` of builds")
	return cmd
}

// findBuild returns the number of a build named by number or key; the newest if several share the key.
func findBuild(ctx context.Context, cl *cli.Client, what string) (int64, error) {
	if id, err := strconv.ParseInt(what, 10, 64); err == nil && id > 0 {
		return id, nil
	}
	list, _, err := cl.Builds.List(ctx, build.Filter{Key: what, Limit: 1})
	if err != nil {
		return 0, err
	}
	if len(list) == 0 {
		return 0, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Build with key %q doesn't exist.", what), Hint: "List builds: muster build list."}
	}
	return list[0].ID, nil
}

func printBuild(c *cli.Context, v build.View) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	fmt.Fprintf(c.Stdout, "Build %d: %s\nKey: %s (rule %s of hook %s)\n", v.ID, v.State, v.Key, v.Rule, v.Hook)
	if v.Message != "" {
		fmt.Fprintln(c.Stdout, v.Message)
	}
	if v.State == app.BuildWaiting {
		fmt.Fprintf(c.Stdout, "%s ahead in the queue.\n", humanize.Count(v.Ahead, "build"))
	}
	if v.Cluster != "" {
		fmt.Fprintf(c.Stdout, "Cluster: %s %s\n", v.Cluster, v.Status)
	}
	for _, n := range v.Nodes {
		fmt.Fprintf(c.Stdout, "  %s  %s  %s  %s\n", n.Name, cmp.Or(n.Address, "-"), n.Status, strings.Join(n.Services, ","))
	}
	for _, l := range v.Links {
		fmt.Fprintf(c.Stdout, "%s: %s\n", l.Label, l.URL)
	}
	for _, s := range v.Statuses {
		fmt.Fprintf(c.Stdout, "Commit status %s\n", s.Line(time.Now()))
	}
	if v.Callback != nil {
		if v.Callback.URL != "" {
			fmt.Fprintf(c.Stdout, "Callback: %s\n", v.Callback.URL)
		}
		for _, t := range v.Callback.Deliveries {
			fmt.Fprintf(c.Stdout, "  %s\n", t.Line(time.Now()))
		}
		if v.Callback.Reason != "" {
			fmt.Fprintln(c.Stdout, v.Callback.Reason)
		}
	}
	return nil
}

func buildShowCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "show NUMBER|KEY", Short: "Show a build and its cluster", Args: cli.Exactly("NUMBER|KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			id, err := findBuild(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			v, err := cl.Builds.Get(cmd.Context(), id, 0)
			if err != nil {
				return err
			}
			return printBuild(c, v)
		}}
}

func buildWaitCommand(c *cli.Context) *cobra.Command {
	var limit time.Duration
	cmd := &cobra.Command{Use: "wait NUMBER|KEY", Short: "Wait until a build's cluster is ready, and show it",
		Long: "Wait until a build's cluster is ready, and show its nodes and links. The command fails if the build won't get a cluster.", Args: cli.Exactly("NUMBER|KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			end := time.Now().Add(limit)
			for {
				var v build.View
				id, err := findBuild(cmd.Context(), cl, args[0])
				if err == nil {
					v, err = cl.Builds.Get(cmd.Context(), id, 20)
				}
				// The event that starts the build may still be on its way.
				late := app.CodeOf(err) == app.ENotFound
				switch {
				case err != nil && !late:
					return err
				case late:
				case v.State == app.BuildReady:
					return printBuild(c, v)
				case v.State != app.BuildWaiting && v.State != app.BuildAsking && v.State != app.BuildCreating:
					if c.JSON() {
						if err := c.PrintJSON(v); err != nil {
							return err
						}
					}
					return &app.Error{Code: app.EConflict, Message: fmt.Sprintf("Build %d is %s: %s", v.ID, v.State, v.Message)}
				}
				if !time.Now().Before(end) {
					if late {
						return err
					}
					return &app.Error{Code: app.ETimeout, Message: fmt.Sprintf("Build %d is still %s.", v.ID, v.State), Hint: v.Message}
				}
				if late {
					select {
					case <-cmd.Context().Done():
						return cmd.Context().Err()
					case <-time.After(time.Second):
					}
				}
			}
		}}
	cmd.Flags().DurationVar(&limit, "for", time.Hour, "how long to wait")
	return cmd
}

func buildEndCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "end NUMBER|KEY", Short: "End a build and delete its cluster", Args: cli.Exactly("NUMBER|KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			id, err := findBuild(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			v, err := cl.Builds.End(cmd.Context(), id)
			if err != nil {
				return err
			}
			return printBuild(c, v)
		}}
}

func buildExtendCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "extend NUMBER|KEY DURATION", Short: "Extend the lease of a build's cluster", Args: cli.Exactly("NUMBER|KEY", "DURATION"), Example: "  muster build extend 214 1h",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			id, err := findBuild(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			v, err := cl.Builds.Extend(cmd.Context(), id, args[1])
			if err != nil {
				return err
			}
			return printBuild(c, v)
		}}
}
