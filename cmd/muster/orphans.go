package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
)

func orphansCommand(c *cli) *cobra.Command {
	var (
		gone, yes    bool
		remove, keep string
		mode         string
	)
	cmd := &cobra.Command{
		Use:   "orphans",
		Short: "List orphaned machines with age and cost; delete or keep them",
		Long: "List machines that carry this installation's tag and belong to no cluster. The server compares each account with\n" +
			"what it knows every ten minutes. It deletes by itself, when it has seen them twice, machines whose node was given back and\n" +
			"duplicates, a few at a time. It never deletes by itself what it has never heard of. Only admins may ask.",
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			chosen := 0
			for _, s := range []string{remove, keep, mode} {
				if s != "" {
					chosen++
				}
			}
			if chosen > 1 {
				return usagef("--delete, --keep and --mode are for one at a time")
			}
			if remove != "" && !yes && !isTerminal(c.stdin) {
				return usagef("deleting needs --yes where there is no terminal to confirm on")
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			switch {
			case remove != "":
				return orphanDelete(cmd.Context(), c, cl, remove, yes)
			case keep != "":
				o, err := cl.DecideOrphan(cmd.Context(), keep, app.DecideKeep)
				return orphanDecided(c, o, err, "is kept")
			case mode != "":
				if err := cl.SetOrphanMode(cmd.Context(), app.OrphanMode(mode)); err != nil {
					return err
				}
			}
			r, err := cl.Orphans(cmd.Context(), gone)
			if err != nil {
				return err
			}
			return printOrphans(c, r)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&gone, "gone", false, "also those that went within the last thirty days")
	flags.StringVar(&remove, "delete", "", "have the orphan with this `ID` deleted, whatever kind it is of")
	flags.StringVar(&keep, "keep", "", "have the orphan with this `ID` left alone")
	flags.StringVar(&mode, "mode", "", "what happens by itself: off, report or delete")
	flags.BoolVarP(&yes, "yes", "y", false, "with --delete: do not ask")
	c.serverFlags(flags)
	return cmd
}

func orphanDelete(ctx context.Context, c *cli, cl *client, id string, yes bool) error {
	if !yes {
		r, err := cl.Orphans(ctx, false)
		if err != nil {
			return err
		}
		what := "orphan " + id
		for _, o := range r.Orphans {
			if o.ID == id {
				what = fmt.Sprintf("machine %s of %s (%s, %s)", o.Machine, o.Provider, firstOf(o.Cluster, "no cluster"), o.Kind)
			}
		}
		fmt.Fprintf(c.stderr, "Delete %s? [y/N] ", what)
		answer, _ := bufio.NewReader(c.stdin).ReadString('\n') // an end without a word is a no
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return &app.Error{Code: app.ECancelled, Message: what + " was not deleted"}
		}
	}
	o, err := cl.DecideOrphan(ctx, id, app.DecideDelete)
	return orphanDecided(c, o, err, "is deleted within seconds; `muster orphans --gone` tells when it is gone")
}

func orphanDecided(c *cli, o app.Orphan, err error, what string) error {
	if err != nil {
		return err
	}
	if c.json() {
		return c.printJSON(o)
	}
	_, err = fmt.Fprintf(c.stdout, "Machine %s of %s %s.\n", o.Machine, o.Provider, what)
	return err
}

func printOrphans(c *cli, r app.OrphanReport) error {
	if c.json() {
		return c.printJSON(r)
	}
	now := time.Now()
	switch {
	case len(r.Orphans) == 0 && r.Unlisted > 0:
		fmt.Fprintf(c.stdout, "No orphaned machines in the accounts that could be listed; %s could not.\n", plural(r.Unlisted, "account"))
	case len(r.Orphans) == 0:
		fmt.Fprintln(c.stdout, "No orphaned machines.")
	default:
		t := newTable("ID", "PROVIDER", "MACHINE", "CLUSTER", "NODE", "KIND", "AGE>", "COST>", "STATE")
		for _, o := range r.Orphans {
			t.add(o.ID, o.Provider, o.Machine, firstOf(o.Cluster, "-"), firstOf(o.Node, "-"), string(o.Kind), orphanAge(o, now), money(o.Cost), orphanState(o, now))
		}
		if err := t.show(c); err != nil {
			return err
		}
	}
	if r.Mode != "" {
		fmt.Fprintf(c.stdout, "\nAutomatic cleanup: %s\n", r.Mode)
	}
	for _, a := range r.Accounts {
		if a.Unlisted() {
			fmt.Fprintf(c.stdout, "%s: %s; tried %s ago\n", a.Provider, a.Error, span(now.Sub(a.EndedAt)))
			continue
		}
		line := fmt.Sprintf("%s: %s, %s", a.Provider, plural(a.Machines, "machine"), plural(a.Orphans, "orphan"))
		if !a.EndedAt.IsZero() {
			line += ", looked at " + span(now.Sub(a.EndedAt)) + " ago"
		}
		if a.HeldBack > 0 {
			line += fmt.Sprintf("; %d more are due than a pass deletes: have a look", a.HeldBack)
		}
		if a.Error != "" {
			line += "; " + a.Error
		}
		fmt.Fprintln(c.stdout, line)
	}
	return nil
}

func orphanAge(o app.Orphan, now time.Time) string {
	if o.MadeAt.IsZero() {
		return ">" + span(now.Sub(o.FirstSeen))
	}
	return span(now.Sub(o.MadeAt))
}

func orphanState(o app.Orphan, now time.Time) string {
	state := string(o.State)
	switch {
	case o.State == app.OrphanDue && o.DeleteAt.After(now):
		state = "deleted in " + span(o.DeleteAt.Sub(now))
	case o.State == app.OrphanDue:
		state = "deleted in the next pass"
	case o.State == app.OrphanGone:
		state = "gone since " + span(now.Sub(o.GoneAt))
	}
	if o.Error != "" {
		state += ": " + o.Error
	}
	return state
}
