package run

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"muster/app"
	"muster/app/run"
	"muster/cmd/muster/cli"
	clustercmd "muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

// ScheduleCommand is the area of schedules of actions, below clusters.
func ScheduleCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("action-schedule", "Run actions of a cluster's template by schedule",
		scheduleCreateCommand(c),
		scheduleListCommand(c),
		oneSchedule(c, &cobra.Command{Use: "pause ID|NAME SCHEDULE", Short: "Pause the schedule of an action",
			Example: "  muster cluster action-schedule pause shop backup"},
			func(ctx context.Context, cl *cli.Client, id, name string) (string, error) {
				_, err := cl.Runs.PauseSchedule(ctx, id, name, true)
				return "Schedule " + name + " is paused.", err
			}),
		oneSchedule(c, &cobra.Command{Use: "resume ID|NAME SCHEDULE", Short: "Resume the schedule of an action",
			Example: "  muster cluster action-schedule resume shop backup"},
			func(ctx context.Context, cl *cli.Client, id, name string) (string, error) {
				s, err := cl.Runs.PauseSchedule(ctx, id, name, false)
				return "Schedule " + name + " runs next at " + app.Moment(s.Next) + ".", err
			}),
		oneSchedule(c, &cobra.Command{Use: "delete ID|NAME SCHEDULE", Short: "Delete the schedule of an action",
			Example: "  muster cluster action-schedule delete shop backup"},
			func(ctx context.Context, cl *cli.Client, id, name string) (string, error) {
				return "Schedule " + name + " was deleted.", cl.Runs.DeleteSchedule(ctx, id, name)
			}),
	)
	clustercmd.CompleteNames(c, cmd)
	return cmd
}

func oneSchedule(c *cli.Context, cmd *cobra.Command, do func(ctx context.Context, cl *cli.Client, id, name string) (string, error)) *cobra.Command {
	cmd.Args = cli.Exactly("ID|NAME", "SCHEDULE")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cl, v, err := clustercmd.ConnectTo(cmd.Context(), c, args[0], false)
		if err != nil {
			return err
		}
		said, err := do(cmd.Context(), cl, v.ID, args[1])
		if err != nil {
			return err
		}
		return c.Say(map[string]string{"message": said}, "%s", said)
	}
	return cmd
}

func scheduleCreateCommand(c *cli.Context) *cobra.Command {
	var n run.NewSchedule
	var set []string
	cmd := &cobra.Command{Use: "create ID|NAME ACTION", Short: "Run an action again and again", Args: cli.Exactly("ID|NAME", "ACTION"),
		Long: "Run an action that a cluster's template offers again and again. It runs as you, and only while you may run it. A run is skipped while the\n" +
			"cluster sleeps or another operation is running.",
		Example: "  muster cluster action-schedule create shop backup --every '0 3 * * *' --zone Europe/Berlin --set keep=7\n" +
			"  muster cluster action-schedule create shop backup --name often --every 6h",
		RunE: func(cmd *cobra.Command, args []string) error {
			if n.Every == "" {
				return cli.Usagef("--every is required").Hint("For example: --every 6h, or --every '0 3 * * *'")
			}
			var err error
			if n.Parameters, err = parameters(set); err != nil {
				return err
			}
			n.Action = args[1]
			cl, v, err := clustercmd.ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			s, err := cl.Runs.CreateSchedule(cmd.Context(), v.ID, n)
			if err != nil {
				return err
			}
			return c.Say(s, "Schedule %s runs action %s next at %s.", s.Name, s.Action, app.Moment(s.Next))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&n.Name, "name", "", "`name` of the schedule (default: that of the action)")
	flags.StringVar(&n.Every, "every", "", "`time` between two runs, such as 6h, or the five fields of a crontab; at least 10m")
	flags.StringVar(&n.Zone, "zone", "", "time `zone` of the crontab, such as Europe/Berlin (default: UTC)")
	flags.StringArrayVar(&set, "set", nil, "`NAME=VALUE` of a parameter; repeat it for more. Values are kept and shown")
	flags.StringArrayVar(&n.On, "on", nil, "`KEY=VALUE` that nodes must have, too: node, service, hardware, image or zone (default: as the action says)")
	return cmd
}

func scheduleListCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "list ID|NAME", Short: "List the schedules of a cluster's actions", Args: cli.Exactly("ID|NAME"),
		Example: "  muster cluster action-schedule list shop",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := clustercmd.ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			all, err := cl.Runs.Schedules(cmd.Context(), v.ID)
			switch {
			case err != nil:
				return err
			case c.JSON():
				return c.PrintJSON(all)
			case len(all) == 0:
				return c.Say(all, "No schedules. To create one: muster cluster action-schedule create %s ACTION --every 24h", v.Name)
			}
			w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprint(w, "NAME\tACTION\tEVERY\tZONE\tBY\tNEXT\tLAST\tRESULT\n")
			for _, s := range all {
				next := "paused"
				if !s.Paused {
					next = moment(s.Next)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.Action, s.Every, cmp.Or(s.Zone, "UTC"),
					s.CreatedBy, next, moment(s.LastAt), cmp.Or(s.LastResult, "–"))
			}
			return w.Flush()
		}}
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return app.Moment(t)
}
