package cluster

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/schedule"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func clusterSleepCommand(c *cli.Context) *cobra.Command {
	return clusterPowerCommand(c, app.OperationSleep, "Put a cluster to sleep",
		"Stop the services of a cluster in reverse order of dependency, and then its machines. Data on the machines is kept, and the lease\n"+
			"keeps running. To start the cluster again, use `muster cluster wake`.")
}

func clusterWakeCommand(c *cli.Context) *cobra.Command {
	return clusterPowerCommand(c, app.OperationWake, "Wake a cluster that is asleep",
		"Start the machines of a cluster that is asleep, and then its services in order of dependency.")
}

func clusterPowerCommand(c *cli.Context, kind app.OperationKind, short, long string) *cobra.Command {
	var w waitFlags
	var preview bool
	cmd := &cobra.Command{
		Use:     string(kind) + " ID|NAME",
		Short:   short,
		Long:    long,
		Example: fmt.Sprintf("  muster cluster %s shop --wait", kind),
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			cl, v, err := ConnectTo(ctx, c, args[0], false)
			if err != nil {
				return err
			}
			p, err := cl.Operations.PowerPreview(ctx, v.ID, kind)
			switch {
			case err != nil:
				return err
			case preview && c.JSON():
				return c.PrintJSON(p)
			case preview:
				return printUpdate(c, v, p, true)
			case p.NoChanges:
				return c.Say(v, "No changes needed for %s.", v.Name)
			}
			after, err := w.start(ctx, cl, v.ID)
			if err != nil {
				return err
			}
			answer, err := cl.Operations.Power(ctx, v.ID, kind, p.PlanHash)
			if err != nil {
				return err
			}
			return updated(ctx, c, cl, v, answer, w, after)
		},
	}
	w.declare(cmd)
	cmd.Flags().BoolVar(&preview, "preview", false, "show the plan without running it")
	return cmd
}

func clusterScheduleCommand(c *cli.Context) *cobra.Command {
	var sleep, wake, zone string
	var clear bool
	cmd := &cobra.Command{
		Use:   "schedule ID|NAME",
		Short: "Show or set a cluster's sleep schedule",
		Long: "Show when a cluster goes to sleep and wakes. --sleep and --wake replace the schedule; without --wake, for example, the cluster\n" +
			"doesn't wake automatically. Times are minute, hour, day of month, month and weekday, as in crontab, in the time zone of --zone.\n" +
			"--clear removes the schedule.",
		Example: "  muster cluster schedule shop --sleep \"0 19 * * 1-5\" --wake \"0 7 * * 1-5\" --zone Europe/Berlin\n  muster cluster schedule shop --clear",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, set := cmd.Context(), sleep != "" || wake != ""
			switch {
			case clear && (set || zone != ""):
				return cli.Usagef("--clear can't be combined with other flags")
			case zone != "" && !set:
				return cli.Usagef("--zone requires --sleep or --wake")
			}
			cl, v, err := ConnectTo(ctx, c, args[0], false)
			if err != nil {
				return err
			}
			var s schedule.ClusterSchedule
			if set || clear {
				s, err = cl.Schedules.Set(ctx, v.ID, schedule.Schedule{Sleep: sleep, Wake: wake, Zone: zone})
			} else {
				s, err = cl.Schedules.Get(ctx, v.ID)
			}
			if err != nil {
				return err
			}
			return printSchedule(c, v, s)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&sleep, "sleep", "", "`cron` expression for going to sleep, such as \"0 19 * * 1-5\"")
	flags.StringVar(&wake, "wake", "", "`cron` expression for waking, such as \"0 7 * * 1-5\"")
	flags.StringVar(&zone, "zone", "", "time `zone`, such as Europe/Berlin (default: UTC)")
	flags.BoolVar(&clear, "clear", false, "remove the schedule")
	return cmd
}

func printSchedule(c *cli.Context, v cluster.View, s schedule.ClusterSchedule) error {
	if c.JSON() {
		return c.PrintJSON(s)
	}
	if s.None() {
		cli.Line(c.Stdout, "%s has no schedule.", v.Name)
		return nil
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		zone = time.UTC
	}
	for _, t := range s.Next {
		word := "goes to sleep"
		if t.Kind == app.OperationWake {
			word = "wakes"
		}
		cli.Line(c.Stdout, "%s %s %s", v.Name, word, t.At.In(zone).Format("Mon 2 Jan 2006 15:04 MST"))
	}
	return nil
}
