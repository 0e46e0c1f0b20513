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

// declareOnFailure declares what is to happen by itself when an operation fails; makes tells that it makes machines.
func declareOnFailure(flags *pflag.FlagSet, choice *failureChoice, s *template.Survival, makes bool) {
	words := "what to do by itself when it fails or is cancelled: leave all as it is, or roll_back"
	if makes {
		words += "; or, where only machines are missing, go_on with those that came, else leave all or go_on_or_roll_back (default: the template's, or leave)"
		flags.StringVar((*string)(&s.AtLeast), "at-least", "", "go on with so many `nodes` at the least: a number, or a share of those asked for, such as 60%")
		flags.BoolVar(&s.NoTopUp, "no-top-up", false, "do not ask again later for nodes that it went on without")
	}
	flags.Var(choice, "on-failure", words)
}

func clusterGoOnCommand(c *cli.Context) *cobra.Command {
	var (
		yes, dry, noTopUp bool
		w                 waitFlags
	)
	cmd := &cobra.Command{
		Use:   "go-on ID|NAME",
		Short: "Go on with the machines that came, where a create or a growth did not get all of them",
		Long: "Bring a create or a growth to its end with the machines that came, where only machines are missing. Those that did not come are\n" +
			"given back, as far as anything of them was made; the others are asked for again later, unless --no-top-up says otherwise. The plan\n" +
			"is shown first, and what was shown is what runs.",
		Example: "  muster cluster go-on shop --dry-run\n  muster cluster go-on shop --yes --wait",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes && dry {
				return cli.Usagef("--yes and --dry-run do not go together")
			}
			if !yes && !dry && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("this needs --yes where there is no terminal to confirm on").Hint("See first what it would do: --dry-run.")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			p, err := cl.Operations.GoOnPreview(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			if dry {
				return printGoOn(c, v, p)
			}
			if !yes {
				if err := printGoOn(c, v, p); err != nil {
					return err
				}
				if err := c.Confirm(cmd.Context(), p.Title()+"?", v.Name+" was left as it is"); err != nil {
					return err
				}
			}
			after, err := w.start(cmd.Context(), cl, v.ID)
			if err != nil {
				return err
			}
			if v, err = cl.Operations.GoOn(cmd.Context(), v.ID, p, noTopUp); err != nil {
				return err
			}
			return started(cmd.Context(), c, cl, v, w, after)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only show what would be done")
	cmd.Flags().BoolVar(&noTopUp, "no-top-up", false, "do not ask again later for the nodes that are missing")
	w.declare(cmd)
	return cmd
}

// printGoOn shows what it would be to go on.
func printGoOn(c *cli.Context, v cluster.ClusterView, p operation.GoOnPreview) error {
	if c.JSON() {
		return c.PrintJSON(p)
	}
	fmt.Fprintf(c.Stdout, "%s: %s (%s)\n", v.Name, p.Title(), v.ID)
	for _, l := range p.GivesBack {
		fmt.Fprintf(c.Stdout, "  without %s: %s\n", l.Node, l.Error)
	}
	if p.After.CostPerHour > 0 {
		fmt.Fprintf(c.Stdout, "  %s per hour instead of %s\n", cli.Money(p.After.CostPerHour), cli.Money(p.Before.CostPerHour))
	}
	for _, note := range p.Notes {
		fmt.Fprintln(c.Stdout, "  "+note)
	}
	fmt.Fprintln(c.Stdout)
	return planner.Text(c.Stdout, p.Plan)
}

func clusterTopUpCommand(c *cli.Context) *cobra.Command {
	var off, on, now bool
	cmd := &cobra.Command{
		Use:   "top-up ID|NAME",
		Short: "Show or say whether the nodes that a cluster lacks are asked for again, and when",
		Long: "A cluster that went on with fewer machines than were asked for asks for the others again by itself: after 10 minutes, then after\n" +
			"twice as long each time, up to 2 hours. Without a flag this shows how that stands.",
		Example: "  muster cluster top-up shop\n  muster cluster top-up shop --now\n  muster cluster top-up shop --off",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if off && on || off && now {
				return cli.Usagef("--off stands alone")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			if off || on || now {
				if v, err = cl.Operations.TopUp(cmd.Context(), v.ID, operation.TopUpOrder{Off: off, Now: now}); err != nil {
					return err
				}
			}
			if c.JSON() {
				return c.PrintJSON(v.TopUp)
			}
			if v.TopUp == nil {
				cli.Line(c.Stdout, "%s has all the nodes that were asked for.", v.Name)
				return nil
			}
			cli.Line(c.Stdout, "%s: %s", v.Name, v.TopUp.Words(v.Size, time.Now()))
			return nil
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "ask for them no more")
	cmd.Flags().BoolVar(&on, "on", false, "ask for them again, where it was off")
	cmd.Flags().BoolVar(&now, "now", false, "ask for them at once")
	return cmd
}

// awaitGoOn waits until a failed operation is gone on with by itself, or it is known why that cannot be. Began tells which.
func awaitGoOn(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.ClusterView, op app.Operation) (now cluster.ClusterView, began bool, err error) {
	for deadline := time.Now().Add(undoPatience); ; {
		latest, _ := OperationOf(v, 0)
		if latest.Kind == app.OperationGoOn && latest.GoesOn == op.ID {
			if !c.JSON() {
				fmt.Fprintf(c.Stderr, "%s goes on with %s.\n", v.Name, humanize.Count(v.Size, "node"))
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

// machinesOnly tells whether all that failed of a create or a resize is the making of machines.
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
