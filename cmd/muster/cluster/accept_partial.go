package cluster

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/planner"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// declareOnFailure declares what happens automatically when an operation fails; makes reports whether it creates machines.
func declareOnFailure(flags *pflag.FlagSet, choice *failureChoice, s *template.PartialOverride, makes bool) {
	words := "what to do if the operation fails or is cancelled: leave (as it is) or roll_back"
	if makes {
		words += ", or accept_partial or accept_partial_or_roll_back if machines are missing; default: the template's, or leave (docs/partial-results.md)"
		flags.StringVar((*string)(&s.MinAvailable), "min-available", "", "with accept_partial: minimum available `nodes`, as a number or a share such as 60%")
		flags.BoolVar(&s.NoBackfill, "no-backfill", false, "don't backfill missing nodes later")
	}
	flags.Var(choice, "on-failure", words)
	if makes {
		(*keepFlag)(&s.KeepFailed).declare(flags)
	}
}

func clusterAcceptPartialCommand(c *cli.Context) *cobra.Command {
	var (
		yes, dry, noBackfill bool
		keep                 keepFlag
		w                    waitFlags
	)
	cmd := &cobra.Command{
		Use:   "accept-partial ID|NAME",
		Short: "Accept the partial result of creating or resizing a cluster",
		Long: "Finish creating or resizing a cluster with the available machines, if only machines are missing. Partly created machines are deleted. Muster\n" +
			"tries to backfill the missing nodes later, unless --no-backfill is set. Shows a preview first, then runs exactly\n" +
			"that plan. If anything has changed since the preview, the command fails.",
		Example: "  muster cluster accept-partial shop --dry-run\n  muster cluster accept-partial shop --yes --wait",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes && dry {
				return cli.Usagef("--yes and --dry-run can't be combined")
			}
			if !yes && !dry && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("--yes is required without a terminal to confirm on").Hint("To see the plan first, use --dry-run.")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			p, err := cl.Operations.AcceptPartialPreview(cmd.Context(), v.ID, keep.value())
			if err != nil {
				return err
			}
			if dry {
				return printAcceptPartial(c, v, p)
			}
			if !yes {
				if err := printAcceptPartial(c, v, p); err != nil {
					return err
				}
				if err := c.Confirm(cmd.Context(), p.Title()+"?", v.Name+" was not changed"); err != nil {
					return err
				}
			}
			after, err := w.start(cmd.Context(), cl, v.ID)
			if err != nil {
				return err
			}
			if v, err = cl.Operations.AcceptPartial(cmd.Context(), v.ID, p, template.PartialOverride{NoBackfill: noBackfill, KeepFailed: keep.value()}); err != nil {
				return err
			}
			return started(cmd.Context(), c, cl, v, w, after)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the plan without running it")
	cmd.Flags().BoolVar(&noBackfill, "no-backfill", false, "don't backfill missing nodes later")
	keep.declare(cmd.Flags())
	w.declare(cmd)
	return cmd
}

// printAcceptPartial shows the result of accepting what is available.
func printAcceptPartial(c *cli.Context, v cluster.View, p operation.AcceptPartialPreview) error {
	if c.JSON() {
		return c.PrintJSON(p)
	}
	fmt.Fprintf(c.Stdout, "%s: %s (%s)\n", v.Name, p.Title(), v.ID)
	for _, l := range p.Deletes {
		fmt.Fprintf(c.Stdout, "  without %s: %s\n", l.Node, l.Error)
	}
	printSelection(c, p.Kept)
	if p.After.CostPerHour > 0 {
		fmt.Fprintf(c.Stdout, "  %s per hour instead of %s\n", humanize.Price(p.After.CostPerHour, p.After.Currency), humanize.Price(p.Before.CostPerHour, p.Before.Currency))
	}
	for _, note := range p.Notes {
		fmt.Fprintln(c.Stdout, "  "+note)
	}
	fmt.Fprintln(c.Stdout)
	return planner.Text(c.Stdout, p.Plan)
}

func clusterBackfillCommand(c *cli.Context) *cobra.Command {
	var off, on, now bool
	cmd := &cobra.Command{
		Use:   "backfill ID|NAME",
		Short: "Show or change the backfill of missing nodes",
		Long: "Muster backfills the missing nodes of a cluster that accepted a partial result: it tries after 10 min, then after twice as long\n" +
			"each time, up to 2 h. Without a flag, show the state of the backfill.",
		Example: "  muster cluster backfill shop\n  muster cluster backfill shop --now\n  muster cluster backfill shop --off",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if off && on || off && now {
				return cli.Usagef("--off can't be combined with other flags")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			if off || on || now {
				if v, err = cl.Operations.Backfill(cmd.Context(), v.ID, operation.BackfillOrder{Off: off, Now: now}); err != nil {
					return err
				}
			}
			if c.JSON() {
				return c.PrintJSON(v.Backfill)
			}
			if v.Backfill == nil {
				cli.Line(c.Stdout, "%s has all its nodes.", v.Name)
				return nil
			}
			cli.Line(c.Stdout, "%s: %s", v.Name, v.Backfill.Text(v.Size, time.Now()))
			return nil
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "turn backfill off")
	cmd.Flags().BoolVar(&on, "on", false, "turn backfill on")
	cmd.Flags().BoolVar(&now, "now", false, "try to backfill now")
	return cmd
}

// awaitAcceptPartial waits until Muster accepts the partial result of a failed operation, or can't. Began tells which.
func awaitAcceptPartial(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, op app.Operation) (now cluster.View, began bool, err error) {
	for deadline := time.Now().Add(undoTimeout); ; {
		latest, _ := OperationOf(v, 0)
		if latest.Kind == app.OperationAcceptPartial && latest.Accepts == op.ID {
			if !c.JSON() {
				fmt.Fprintf(c.Stderr, "%s continues with %s.\n", v.Name, humanize.Count(v.Size, "node"))
			}
			return v, true, nil
		}
		if is, _ := OperationOf(v, op.ID); is.Message != op.Message || is.OnFailure != op.OnFailure || time.Now().After(deadline) {
			return v, false, nil
		}
		select {
		case <-ctx.Done():
			return v, false, ctx.Err()
		case <-time.After(redrawPace):
		}
		if v, err = cl.Clusters.Get(ctx, v.ID); err != nil {
			return v, false, err
		}
	}
}

// machinesOnly reports whether a create or resize failed only in creating machines.
func machinesOnly(op app.Operation, steps []app.Step) bool {
	if op.Status != app.OperationFailed || op.Kind != app.OperationCreate && op.Kind != app.OperationResize {
		return false
	}
	failed, made := false, false
	for _, s := range steps {
		if s.State == app.StepFailed {
			if !s.Action.OnMachine() || s.Action == app.ActionDelete {
				return false
			}
			failed = true
		}
		made = made || s.Action == app.ActionBootstrap && s.State == app.StepSucceeded
	}
	return failed && made
}
