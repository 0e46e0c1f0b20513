package cluster

import (
	"time"

	"muster/app/humanize"
	"muster/app/idle"
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func clusterIdleCommand(c *cli.Context) *cobra.Command {
	var on, off bool
	cmd := &cobra.Command{
		Use:   "idle ID|NAME",
		Short: "Show whether a cluster is idle, and what happens when",
		Long: "Show whether a cluster is idle by its template's or tenant's idle policy, why not, and when it goes to sleep or is deleted. --off turns\n" +
			"the policy off for this cluster, if the policy allows that, and --on turns it on again.",
		Example: "  muster cluster idle shop\n  muster cluster idle shop --off",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if on && off {
				return cli.Usagef("--on can't be combined with --off")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			var use idle.View
			if on || off {
				use, err = cl.Idle.Turn(cmd.Context(), v.ID, off)
			} else {
				use, err = cl.Idle.Get(cmd.Context(), v.ID)
			}
			if err != nil {
				return err
			}
			return printIdle(c, use)
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "turn the idle policy off for this cluster")
	cmd.Flags().BoolVar(&on, "on", false, "turn the idle policy on again")
	return cmd
}

func clusterKeepCommand(c *cli.Context) *cobra.Command {
	var by string
	cmd := &cobra.Command{
		Use:   "keep ID|NAME",
		Short: "Keep an idle cluster running for a while",
		Long: "Keep a cluster running: until the time is over, it neither goes to sleep nor is deleted because it's idle. The idle policy limits how\n" +
			"long a cluster can be kept at once.",
		Example: "  muster cluster keep shop --for 2h",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if length, err := template.ParseLength(by); err != nil || length <= 0 {
				return cli.Usagef("--for: %q isn't a duration", by).Hint("For example: muster cluster keep %s --for 2h", args[0])
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			use, err := cl.Idle.Keep(cmd.Context(), v.ID, by)
			if err != nil {
				return err
			}
			return printIdle(c, use)
		},
	}
	cmd.Flags().StringVar(&by, "for", "2h", "`duration` to keep it, such as 90m or 4h")
	return cmd
}

func printIdle(c *cli.Context, v idle.View) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	cli.Line(c.Stdout, "%s: %s", v.Name, v.Sentence(time.Now()))
	if !v.KeptUntil.IsZero() {
		cli.Line(c.Stdout, "  kept until %s by %s", cli.Time(v.KeptUntil), v.KeptBy)
	}
	if p := v.Policy; p != nil {
		cli.Line(c.Stdout, "  idle means %s, for %s", humanize.And(p.Conditions), p.After)
	}
	if v.State == "warned" && v.MayKeep {
		cli.Line(c.Stdout, "  to keep it: muster cluster keep %s --for %s", v.Name, humanize.DurationField(v.KeepStep()))
	}
	if v.Saved.Hours > 0 {
		cli.Line(c.Stdout, "  saved %s in %s h asleep", humanize.Money(v.Saved.Saved, v.Saved.Currency), humanize.Number(v.Saved.Hours, 1))
	}
	return nil
}
