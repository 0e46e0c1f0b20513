package cluster

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/cmd/muster/cli"
	"muster/planner"

	"github.com/spf13/cobra"
)

func clusterRollBackCommand(c *cli.Context) *cobra.Command {
	var (
		yes, dry bool
		w        waitFlags
	)
	cmd := &cobra.Command{
		Use:   "roll-back ID|NAME",
		Short: "Undo what an operation has done that failed or was cancelled",
		Long: "Undo what a cluster's latest operation has done, which has failed or was cancelled. The plan is shown first, and what was\n" +
			"shown is what runs: should anything have happened in between, it is refused. After the roll-back of a create nothing is\n" +
			"left of the cluster.",
		Example: "  muster cluster roll-back shop --dry-run\n  muster cluster roll-back shop --yes --wait",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if yes && dry {
				return cli.Usagef("--yes and --dry-run do not go together")
			}
			if !yes && !dry && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("rolling back needs --yes where there is no terminal to confirm on").Hint("See first what it would do: --dry-run.")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			p, err := cl.Operations.RollBackPreview(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			if dry {
				return printRollBack(c, v, p)
			}
			if !yes {
				if err := printRollBack(c, v, p); err != nil {
					return err
				}
				if err := c.Confirm(cmd.Context(), fmt.Sprintf("Roll back %s?", v.Name), v.Name+" was not rolled back"); err != nil {
					return err
				}
			}
			after, err := w.start(cmd.Context(), cl, v.ID)
			if err != nil {
				return err
			}
			if v, err = cl.Operations.RollBack(cmd.Context(), v.ID, p); err != nil {
				return err
			}
			if !p.Gone {
				return started(cmd.Context(), c, cl, v, w, after)
			}
			return deleting(cmd.Context(), c, cl, v, w, after)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only show what would be done")
	w.declare(cmd)
	return cmd
}

// printRollBack shows the plan of a roll-back.
func printRollBack(c *cli.Context, v cluster.ClusterView, p operation.RollBackPreview) error {
	if c.JSON() {
		return c.PrintJSON(p)
	}
	fmt.Fprintf(c.Stdout, "roll-back of the %s of %s (%s): %s\n", p.Operation.Kind.Words(), v.Name, v.ID, rollBackWords(p))
	if len(p.Plan.Steps) == 0 {
		return nil
	}
	fmt.Fprintln(c.Stdout)
	return planner.Text(c.Stdout, p.Plan)
}

// rollBackWords says what is left after a roll-back.
func rollBackWords(p operation.RollBackPreview) string {
	words := "no machine is given back"
	switch n := len(p.GivesBack); {
	case n == 1:
		words = "1 machine is given back"
	case n > 1:
		words = fmt.Sprintf("%d machines are given back", n)
	}
	if p.Gone {
		words += "; then nothing is left of the cluster"
	}
	return words
}

// undoPatience is how long the roll-back that an operation chose may take to begin.
const undoPatience = 30 * time.Second

// waitUndone waits for the roll-back that a cancelled operation chose, first until it begins.
func waitUndone(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.ClusterView, op app.Operation, w waitFlags) error {
	for deadline := time.Now().Add(undoPatience); ; {
		if latest, _ := OperationOf(v, 0); latest.Kind == app.OperationRollBack && latest.Undoes == op.ID {
			if op.Kind != app.OperationCreate {
				return started(ctx, c, cl, v, w, 0)
			}
			return deleting(ctx, c, cl, v, w, 0)
		}
		if time.Now().After(deadline) {
			return &app.Error{Code: app.ETimeout, Message: fmt.Sprintf("the roll-back of %s has not begun after %s", v.Name, humanize.Duration(undoPatience)),
				Hint: "It begins by itself. See how far it is: muster cluster show " + v.ID}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(redrawPace):
		}
		var err error
		if v, err = cl.Clusters.Get(ctx, v.ID); err != nil {
			return err
		}
	}
}
