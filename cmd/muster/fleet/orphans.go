package fleet

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func OrphansCommand(c *cli.Context) *cobra.Command {
	var (
		gone, yes    bool
		remove, keep string
		mode         string
	)
	cmd := &cobra.Command{
		Use:   "orphans",
		Short: "List, delete and keep orphaned machines (admins)",
		Long: "List orphaned machines: machines that have this installation's tag but don't belong to a cluster. The server checks each account every\n" +
			"10 min. It automatically deletes duplicates and machines of deleted nodes, once it has seen them twice, a few at a time. It never\n" +
			"automatically deletes machines it has no record of. Requires the admin role.",
		Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			chosen := 0
			for _, s := range []string{remove, keep, mode} {
				if s != "" {
					chosen++
				}
			}
			if chosen > 1 {
				return cli.Usagef("--delete, --keep and --mode can't be combined")
			}
			if remove != "" && !yes && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("--yes is required without a terminal to confirm on")
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			switch {
			case remove != "":
				return orphanDelete(cmd.Context(), c, cl, remove, yes)
			case keep != "":
				o, err := cl.Orphans.Decide(cmd.Context(), keep, fleet.DecideKeep)
				return orphanDecided(c, o, err, "is kept")
			case mode != "":
				if err := cl.Orphans.SetMode(cmd.Context(), fleet.OrphanMode(mode)); err != nil {
					return err
				}
			}
			r, err := cl.Orphans.List(cmd.Context(), gone)
			if err != nil {
				return err
			}
			return printOrphans(c, r)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&gone, "gone", false, "include machines deleted in the last 30 days")
	flags.StringVar(&remove, "delete", "", "delete the orphaned machine with this `ID`")
	flags.StringVar(&keep, "keep", "", "keep the orphaned machine with this `ID`")
	flags.StringVar(&mode, "mode", "", "set the automatic cleanup `mode`: off, report or delete")
	flags.BoolVarP(&yes, "yes", "y", false, "with --delete: skip the confirmation prompt")
	c.ServerFlags(flags)
	return cmd
}

func orphanDelete(ctx context.Context, c *cli.Context, cl *cli.Client, id string, yes bool) error {
	if !yes {
		r, err := cl.Orphans.List(ctx, false)
		if err != nil {
			return err
		}
		what := "orphan " + id
		for _, o := range r.Orphans {
			if o.ID == id {
				what = fmt.Sprintf("machine %s of %s (%s, %s)", o.Machine, o.Provider, cmp.Or(o.Cluster, "no cluster"), o.Kind)
			}
		}
		fmt.Fprintf(c.Stderr, "Delete %s? [y/N] ", what)
		answer, _ := bufio.NewReader(c.Stdin).ReadString('\n') // no answer is a no
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return &app.Error{Code: app.ECancelled, Message: what + " was not deleted"}
		}
	}
	o, err := cl.Orphans.Decide(ctx, id, fleet.DecideDelete)
	return orphanDecided(c, o, err, "will be deleted within seconds; check with `muster orphans --gone`")
}

func orphanDecided(c *cli.Context, o fleet.Orphan, err error, what string) error {
	if err != nil {
		return err
	}
	if c.JSON() {
		return c.PrintJSON(o)
	}
	_, err = fmt.Fprintf(c.Stdout, "Machine %s of %s %s.\n", o.Machine, o.Provider, what)
	return err
}

func printOrphans(c *cli.Context, r fleet.OrphanReport) error {
	if c.JSON() {
		return c.PrintJSON(r)
	}
	now := time.Now()
	switch {
	case len(r.Orphans) == 0 && r.Unlisted > 0:
		fmt.Fprintf(c.Stdout, "No orphaned machines found, but %s couldn't be listed.\n", humanize.Count(r.Unlisted, "account"))
	case len(r.Orphans) == 0:
		fmt.Fprintln(c.Stdout, "No orphaned machines.")
	default:
		t := cli.NewTable("ID", "PROVIDER", "MACHINE", "CLUSTER", "NODE", "KIND", "AGE>", "COST>", "STATE")
		for _, o := range r.Orphans {
			t.Add(o.ID, o.Provider, o.Machine, cmp.Or(o.Cluster, "-"), cmp.Or(o.Node, "-"), string(o.Kind), orphanAge(o, now), humanize.Price(o.Cost, o.Currency), orphanState(o, now))
		}
		if err := t.Show(c); err != nil {
			return err
		}
	}
	if r.Mode != "" {
		fmt.Fprintf(c.Stdout, "\nAutomatic cleanup: %s\n", r.Mode)
	}
	for _, a := range r.Accounts {
		fmt.Fprintln(c.Stdout, accountLine(a, now))
	}
	return nil
}

// accountLine is the result of an account's last check.
func accountLine(a app.Account, now time.Time) string {
	if a.Unlisted() {
		return fmt.Sprintf("%s: %s; tried %s", a.Provider, a.Error, humanize.Ago(now, a.EndedAt))
	}
	line := fmt.Sprintf("%s: %s, %s", a.Provider, humanize.Count(a.Machines, "machine"), humanize.Count(a.Orphans, "orphan"))
	if !a.EndedAt.IsZero() {
		line += ", checked " + humanize.Ago(now, a.EndedAt)
	}
	if a.HeldBack > 0 {
		line += fmt.Sprintf("; %d more are due than one pass deletes: please check", a.HeldBack)
	}
	if a.Error != "" {
		line += "; " + a.Error
	}
	return line
}

func orphanAge(o fleet.Orphan, now time.Time) string {
	if o.CreatedAt.IsZero() {
		return ">" + humanize.Duration(now.Sub(o.FirstSeen))
	}
	return humanize.Duration(now.Sub(o.CreatedAt))
}

func orphanState(o fleet.Orphan, now time.Time) string {
	state := string(o.State)
	switch {
	case o.State == fleet.OrphanDue && o.DeleteAt.After(now):
		state = "deleted in " + humanize.Duration(o.DeleteAt.Sub(now))
	case o.State == fleet.OrphanDue:
		state = "deleted in the next pass"
	case o.State == fleet.OrphanGone:
		state = "deleted " + humanize.Ago(now, o.DeletedAt)
	}
	if o.Error != "" {
		state += ": " + o.Error
	}
	return state
}
