package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
)

func buildCommand(c *cli) *cobra.Command {
	cmd := family("build", "Give clusters to builds: hooks for build systems, their rules, and builds that have a cluster",
		buildListCommand(c), buildShowCommand(c), buildWaitCommand(c), buildEndCommand(c), buildExtendCommand(c),
		buildHooksCommand(c), buildHookCommand(c), buildRulesCommand(c), buildDeliveriesCommand(c), buildReplayCommand(c))
	c.serverFlags(cmd.PersistentFlags())
	return cmd
}

func buildListCommand(c *cli) *cobra.Command {
	var f app.BuildFilter
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List builds and how they stand, newest first", Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Limit < 1 || f.Limit > app.MaxBuildPage {
				return usagef("--limit must be from 1 to %d, not %d", app.MaxBuildPage, f.Limit)
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			list, next, err := cl.Builds(cmd.Context(), f)
			if err != nil {
				return err
			}
			if c.json() {
				return c.printJSON(map[string]any{"builds": list, "next": next})
			}
			if len(list) == 0 {
				_, err := fmt.Fprintln(c.stdout, "No builds.")
				return err
			}
			now := time.Now()
			t := newTable("NUMBER>", "HOOK", "RULE", "STATE", "CLUSTER", "AGE>", "KEY", "")
			for _, b := range list {
				t.add(strconv.FormatInt(b.ID, 10), b.Hook, b.Rule, string(b.State), firstOf(b.Cluster, "-"), span(now.Sub(b.BegunAt)), b.Key, b.Words)
			}
			if err := t.show(c); err != nil || next == 0 {
				return err
			}
			_, err = fmt.Fprintf(c.stderr, "Older ones: --before %d\n", next)
			return err
		}}
	flags := cmd.Flags()
	flags.StringVar(&f.Hook, "hook", "", "only those of this `hook`")
	flags.StringVar(&f.Key, "key", "", "only those of this `key`")
	flags.StringVar(&f.Build, "build", "", "only those of this `build`, as its events name it")
	flags.BoolVar(&f.Live, "live", false, "only those that have a cluster, or wait for one")
	flags.Int64Var(&f.Before, "before", 0, "only what came before this `number`")
	flags.IntVar(&f.Limit, "limit", 50, "at most so many")
	return cmd
}

// findBuild gives the number of a build that is named by number or by key; of several with the key the newest.
func findBuild(ctx context.Context, c *cli, cl *client, what string) (int64, error) {
	if id, err := strconv.ParseInt(what, 10, 64); err == nil && id > 0 {
		return id, nil
	}
	list, _, err := cl.Builds(ctx, app.BuildFilter{Key: what, Limit: 1})
	if err != nil {
		return 0, err
	}
	if len(list) == 0 {
		return 0, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("There is no build with the key %q.", what), Hint: "See muster build list."}
	}
	return list[0].ID, nil
}

func printBuild(c *cli, v app.BuildView) error {
	if c.json() {
		return c.printJSON(v)
	}
	fmt.Fprintf(c.stdout, "Build %d: %s\nKey: %s, by rule %s of %s\n", v.ID, v.State, v.Key, v.Rule, v.Hook)
	if v.Words != "" {
		fmt.Fprintln(c.stdout, v.Words)
	}
	if v.State == app.BuildWaiting {
		fmt.Fprintf(c.stdout, "%d come before it.\n", v.Ahead)
	}
	if v.Cluster != "" {
		fmt.Fprintf(c.stdout, "Cluster: %s %s\n", v.Cluster, v.Status)
	}
	for _, n := range v.Nodes {
		fmt.Fprintf(c.stdout, "  %s  %s  %s  %s\n", n.Name, firstOf(n.Address, "-"), n.Status, strings.Join(n.Services, ","))
	}
	for _, l := range v.Links {
		fmt.Fprintf(c.stdout, "%s: %s\n", l.Label, l.URL)
	}
	for _, s := range v.Statuses {
		fmt.Fprintf(c.stdout, "Commit status %s\n", s.Line(time.Now()))
	}
	if v.Callback != nil {
		if v.Callback.URL != "" {
			fmt.Fprintf(c.stdout, "Callback: %s\n", v.Callback.URL)
		}
		for _, t := range v.Callback.Told {
			fmt.Fprintf(c.stdout, "  %s\n", t.Line(time.Now()))
		}
		if v.Callback.Why != "" {
			fmt.Fprintln(c.stdout, v.Callback.Why)
		}
	}
	return nil
}

func buildShowCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "show NUMBER|KEY", Short: "Show a build and its cluster", Args: exactly("NUMBER|KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := findBuild(cmd.Context(), c, cl, args[0])
			if err != nil {
				return err
			}
			v, err := cl.Build(cmd.Context(), id, 0)
			if err != nil {
				return err
			}
			return printBuild(c, v)
		}}
}

func buildWaitCommand(c *cli) *cobra.Command {
	var patience time.Duration
	cmd := &cobra.Command{Use: "wait NUMBER|KEY", Short: "Wait until a build's cluster is ready, and say where it is",
		Long: "Wait until a build's cluster is ready, and say where it is. It fails where there will be none.", Args: exactly("NUMBER|KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			end := time.Now().Add(patience)
			for {
				var v app.BuildView
				id, err := findBuild(cmd.Context(), c, cl, args[0])
				if err == nil {
					v, err = cl.Build(cmd.Context(), id, 20)
				}
				// The event that begins it may be on its way.
				late := app.CodeOf(err) == app.ENotFound
				switch {
				case err != nil && !late:
					return err
				case late:
				case v.State == app.BuildReady:
					return printBuild(c, v)
				case v.State != app.BuildWaiting && v.State != app.BuildAsking && v.State != app.BuildCreating:
					if c.json() {
						if err := c.printJSON(v); err != nil {
							return err
						}
					}
					return &app.Error{Code: app.EConflict, Message: fmt.Sprintf("Build %d is %s: %s", v.ID, v.State, v.Words)}
				}
				if !time.Now().Before(end) {
					if late {
						return err
					}
					return &app.Error{Code: app.ETimeout, Message: fmt.Sprintf("Build %d is %s still.", v.ID, v.State), Hint: v.Words}
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
	cmd.Flags().DurationVar(&patience, "for", time.Hour, "for how `long`")
	return cmd
}

func buildEndCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "end NUMBER|KEY", Short: "End a build: its cluster is given back", Args: exactly("NUMBER|KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := findBuild(cmd.Context(), c, cl, args[0])
			if err != nil {
				return err
			}
			v, err := cl.EndBuild(cmd.Context(), id)
			if err != nil {
				return err
			}
			return printBuild(c, v)
		}}
}

func buildExtendCommand(c *cli) *cobra.Command {
	return &cobra.Command{Use: "extend NUMBER|KEY LENGTH", Short: "Move the end of the lease of a build's cluster, such as by 1h", Args: exactly("NUMBER|KEY", "LENGTH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := findBuild(cmd.Context(), c, cl, args[0])
			if err != nil {
				return err
			}
			v, err := cl.ExtendBuild(cmd.Context(), id, args[1])
			if err != nil {
				return err
			}
			return printBuild(c, v)
		}}
}
