package cluster

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func clusterLeaseCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "lease ID|NAME",
		Short: "Show when a lease ends, who was warned, how it can be moved, and what would keep it from ending",
		Args:  cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			o, err := cl.Leases.Get(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			return printLease(c, o)
		},
	}
}

func clusterExtendCommand(c *cli.Context) *cobra.Command {
	var by, until, reason string
	var forever bool
	cmd := &cobra.Command{
		Use:   "extend ID|NAME",
		Short: "Move the end of a lease, further away or nearer",
		Long: "Move the end of a lease: --by 4h adds (--by -4h takes away), --until sets it, --forever takes the end away. What is allowed is\n" +
			"the template's to say; admins may do more, with --reason.",
		Args: cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ask := template.LeaseRequest{Forever: forever, Reason: reason}
			given := 0
			for _, is := range []bool{by != "", until != "", forever} {
				if is {
					given++
				}
			}
			if given != 1 {
				return cli.Usagef("say one of --by, --until and --forever").Hint("For example: muster cluster extend %s --by 4h", args[0])
			}
			var err error
			if by != "" {
				ask.By, err = template.ParseLength(by)
			} else if until != "" {
				ask.Until, err = template.ParseMoment(until)
			}
			if err != nil {
				e := app.AsError(err)
				return cli.Usagef("%s", e.Message).Hint("%s", e.Hint)
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			o, err := cl.Leases.Extend(cmd.Context(), v.ID, ask)
			if err != nil {
				return err
			}
			return printLease(c, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&by, "by", "", "`length` of time, such as 90m, 4h or 1d12h; below 0 shortens")
	flags.StringVar(&until, "until", "", "`moment`, such as 2026-11-30 or \"2026-11-30 18:00\", in UTC")
	flags.BoolVar(&forever, "forever", false, "no end")
	flags.StringVar(&reason, "reason", "", "why an admin goes beyond what the template allows")
	return cmd
}

func clusterShortenCommand(c *cli.Context) *cobra.Command {
	var by, until string
	cmd := &cobra.Command{
		Use:     "shorten ID|NAME",
		Short:   "Let a lease end sooner",
		Long:    "Let a lease end sooner: --by 4h takes so much away, --until sets the end. It cannot end in the past; to end a cluster now, delete it.",
		Example: "  muster cluster shorten shop --by 4h",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (by == "") == (until == "") {
				return cli.Usagef("say one of --by and --until").Hint("For example: muster cluster shorten %s --by 4h", args[0])
			}
			var ask template.LeaseRequest
			var err error
			if by != "" {
				if ask.By, err = template.ParseLength(by); err == nil && ask.By <= 0 {
					return cli.Usagef("--by says how much is taken away, so it is more than 0").Hint("To extend: muster cluster extend %s --by 4h", args[0])
				}
				ask.By = -ask.By
			} else {
				ask.Until, err = template.ParseMoment(until)
			}
			if err != nil {
				e := app.AsError(err)
				return cli.Usagef("%s", e.Message).Hint("%s", e.Hint)
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			if !ask.Until.IsZero() && !v.ExpiresAt.IsZero() && ask.Until.After(v.ExpiresAt) {
				return cli.Usagef("the lease of %s ends before that already, at %s UTC", v.Name, v.ExpiresAt.UTC().Format(time.DateTime)).
					Hint("To extend it: muster cluster extend %s --until \"%s\"", args[0], until)
			}
			o, err := cl.Leases.Extend(cmd.Context(), v.ID, ask)
			if err != nil {
				return err
			}
			return printLease(c, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&by, "by", "", "`length` of time, such as 90m, 4h or 1d12h")
	flags.StringVar(&until, "until", "", "`moment`, such as 2026-11-30 or \"2026-11-30 18:00\", in UTC")
	return cmd
}

func printLease(c *cli.Context, o operation.LeaseOutlook) error {
	if c.JSON() {
		return c.PrintJSON(o)
	}
	now := time.Now()
	switch {
	case o.Gone:
		fmt.Fprintf(c.Stdout, "%s is gone.\n", o.Name)
		return nil
	case o.Until.IsZero():
		fmt.Fprintf(c.Stdout, "The lease of %s has no end.\n", o.Name)
	case o.Over:
		fmt.Fprintf(c.Stdout, "The lease of %s ended %s ago, at %s UTC.\n", o.Name, humanize.Duration(now.Sub(o.Until)), o.Until.UTC().Format(time.DateTime))
	default:
		fmt.Fprintf(c.Stdout, "The lease of %s ends in %s, at %s UTC.\n", o.Name, humanize.Duration(o.Until.Sub(now)), o.Until.UTC().Format(time.DateTime))
	}
	offer := o.Offer
	switch {
	case offer.Refusal != "":
		fmt.Fprintln(c.Stdout, offer.Refusal)
	case !o.Until.IsZero() && !offer.Latest.IsZero() && offer.By > 0:
		fmt.Fprintf(c.Stdout, "It can be extended until %s UTC now.\n", offer.Latest.UTC().Format(time.DateTime))
	case !o.Until.IsZero() && !offer.Latest.IsZero():
		fmt.Fprintln(c.Stdout, "It cannot be extended any further.")
	}
	for _, w := range o.Warnings {
		said := "in " + humanize.Duration(w.At.Sub(now))
		if !w.SentAt.IsZero() {
			said = "told " + humanize.Duration(now.Sub(w.SentAt)) + " ago"
		} else if w.Skipped {
			said = "nobody was there to tell it in time"
		}
		fmt.Fprintf(c.Stdout, "  warning %s before: %s\n", humanize.Duration(w.Before), said)
	}
	for _, x := range o.Obstacles {
		mark := "note"
		if x.Stop {
			mark = "STOPS IT"
		}
		fmt.Fprintf(c.Stdout, "  %s: %s\n", mark, x.Text)
	}
	return nil
}

// printLeaseStops tells what would keep a lease from ending until someone does something. Where that cannot be asked, as of an
// older server, the rest is shown all the same.
func printLeaseStops(ctx context.Context, c *cli.Context, cl *cli.Client, id string) {
	o, err := cl.Leases.Get(ctx, id)
	if err != nil {
		return
	}
	for _, x := range o.Obstacles {
		if x.Stop {
			fmt.Fprintf(c.Stdout, "\nThe end of the lease would give nothing back: %s\n", x.Text)
		}
	}
}
