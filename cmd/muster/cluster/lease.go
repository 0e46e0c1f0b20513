package cluster

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/lease"
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

const untilHelp = "expiry `time`, such as 2026-11-30 or \"2026-11-30 18:00\" in your time zone (this computer's, or TZ),\n" +
	"or with a zone, such as 2026-11-30T18:00:00+01:00"

func clusterLeaseCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "lease ID|NAME",
		Short: "Show when a lease expires, its warnings, and how to extend it",
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
		Short: "Extend or shorten a lease",
		Long: "Change when a lease expires: --by 4h extends it, --by -4h shortens it, --until sets the time, --forever removes the expiry. The\n" +
			"template sets the limits; admins can exceed them with --reason.",
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
				return cli.Usagef("one of --by, --until and --forever is required").Hint("For example: muster cluster extend %s --by 4h", args[0])
			}
			var err error
			if by != "" {
				ask.By, err = template.ParseLength(by)
			} else if until != "" {
				ask.Until, err = template.ParseMomentIn(until, time.Local)
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
	flags.StringVar(&by, "by", "", "`duration` to add, such as 90m, 4h or 1d12h; a negative one shortens the lease")
	flags.StringVar(&until, "until", "", untilHelp)
	flags.BoolVar(&forever, "forever", false, "remove the expiry")
	flags.StringVar(&reason, "reason", "", "`reason` for exceeding the template's limits (admins)")
	return cmd
}

func clusterShortenCommand(c *cli.Context) *cobra.Command {
	var by, until string
	cmd := &cobra.Command{
		Use:     "shorten ID|NAME",
		Short:   "Shorten a lease",
		Long:    "Shorten a lease: --by 4h subtracts 4 h, --until sets the expiry time. To end a cluster right now, delete it.",
		Example: "  muster cluster shorten shop --by 4h",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (by == "") == (until == "") {
				return cli.Usagef("either --by or --until is required").Hint("For example: muster cluster shorten %s --by 4h", args[0])
			}
			var ask template.LeaseRequest
			var err error
			if by != "" {
				if ask.By, err = template.ParseLength(by); err == nil && ask.By <= 0 {
					return cli.Usagef("--by must be more than 0").Hint("To extend: muster cluster extend %s --by 4h", args[0])
				}
				ask.By = -ask.By
			} else {
				ask.Until, err = template.ParseMomentIn(until, time.Local)
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
				return cli.Usagef("the lease of %s already expires earlier, at %s", v.Name, cli.Time(v.ExpiresAt)).
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
	flags.StringVar(&by, "by", "", "`duration` to subtract, such as 90m, 4h or 1d12h")
	flags.StringVar(&until, "until", "", untilHelp)
	return cmd
}

func printLease(c *cli.Context, o lease.Outlook) error {
	if c.JSON() {
		return c.PrintJSON(o)
	}
	now := time.Now()
	switch {
	case o.Deleted:
		fmt.Fprintf(c.Stdout, "%s is deleted.\n", o.Name)
		return nil
	case o.Until.IsZero():
		fmt.Fprintf(c.Stdout, "The lease of %s never expires.\n", o.Name)
	case o.Expired:
		fmt.Fprintf(c.Stdout, "The lease of %s expired %s, at %s.\n", o.Name, humanize.Ago(now, o.Until), cli.Time(o.Until))
	default:
		fmt.Fprintf(c.Stdout, "The lease of %s expires in %s, at %s.\n", o.Name, humanize.Duration(o.Until.Sub(now)), cli.Time(o.Until))
	}
	offer := o.Offer
	switch {
	case offer.Refusal != "":
		fmt.Fprintln(c.Stdout, offer.Refusal)
	case !o.Until.IsZero() && !offer.Latest.IsZero() && offer.By > 0:
		fmt.Fprintf(c.Stdout, "You can extend it until %s.\n", cli.Time(offer.Latest))
	case !o.Until.IsZero() && !offer.Latest.IsZero():
		fmt.Fprintln(c.Stdout, "You can't extend it further.")
	}
	for _, w := range o.Warnings {
		said := "in " + humanize.Duration(w.At.Sub(now))
		if !w.SentAt.IsZero() {
			said = "sent " + humanize.Ago(now, w.SentAt)
		} else if w.Skipped {
			said = "not sent in time"
		}
		fmt.Fprintf(c.Stdout, "  warning %s before: %s\n", humanize.Duration(w.Before), said)
	}
	for _, x := range o.Obstacles {
		mark := "note"
		if x.Stop {
			mark = "BLOCKS EXPIRY"
		}
		fmt.Fprintf(c.Stdout, "  %s: %s\n", mark, x.Text)
	}
	return nil
}

// printLeaseStops prints what blocks the expiry of a lease until someone acts. If the request fails, as with an older server, the
// rest is still shown.
func printLeaseStops(ctx context.Context, c *cli.Context, cl *cli.Client, id string) {
	o, err := cl.Leases.Get(ctx, id)
	if err != nil {
		return
	}
	for _, x := range o.Obstacles {
		if x.Stop {
			fmt.Fprintf(c.Stdout, "\nThe cluster can't be deleted when its lease expires: %s\n", x.Text)
		}
	}
}
