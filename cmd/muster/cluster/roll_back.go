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
		keep     keepFlag
		w        waitFlags
	)
	cmd := &cobra.Command{
		Use:   "roll-back ID|NAME",
		Short: "Roll back a failed or cancelled operation",
		Long: "Undo everything a cluster's latest operation has done, if it failed or was cancelled. Shows a preview first,\n" +
			"then runs exactly that plan. If anything has changed since the preview, the command fails. Rolling back creation deletes the cluster.",
		Example: "  muster cluster roll-back shop --dry-run\n  muster cluster roll-back shop --yes --wait\n  muster cluster roll-back shop --keep-failed 4h --yes",
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
			p, err := cl.Operations.RollBackPreview(cmd.Context(), v.ID, keep.value())
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
			if v, err = cl.Operations.RollBack(cmd.Context(), v.ID, p, keep.value()); err != nil {
				return err
			}
			if !p.DeletesCluster {
				return started(cmd.Context(), c, cl, v, w, after)
			}
			return deleting(cmd.Context(), c, cl, v, w, after)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the plan without running it")
	keep.declare(cmd.Flags())
	w.declare(cmd)
	return cmd
}

// printRollBack prints a rollback's plan.
func printRollBack(c *cli.Context, v cluster.View, p operation.RollBackPreview) error {
	if c.JSON() {
		return c.PrintJSON(p)
	}
	fmt.Fprintf(c.Stdout, "%s (%s): rollback of %s: %s\n", v.Name, v.ID, p.Operation.Kind.The(), rollBackWords(p))
	printSelection(c, p.Kept)
	if len(p.Plan.Steps) == 0 {
		return nil
	}
	fmt.Fprintln(c.Stdout)
	return planner.Text(c.Stdout, p.Plan)
}

// rollBackWords says what a rollback deletes.
func rollBackWords(p operation.RollBackPreview) string {
	words := "no machines are deleted"
	switch n := len(p.Deletes); {
	case n == 1:
		words = "1 machine is deleted"
	case n > 1:
		words = fmt.Sprintf("%d machines are deleted", n)
	}
	if p.DeletesCluster {
		words += "; the cluster is deleted"
	}
	return words
}

// undoTimeout is how long an operation's automatic rollback may take to start.
const undoTimeout = 30 * time.Second

// waitUndone waits for a cancelled operation's automatic rollback to start and to finish.
func waitUndone(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, op app.Operation, w waitFlags) error {
	for deadline := time.Now().Add(undoTimeout); ; {
		if latest, _ := OperationOf(v, 0); latest.Kind == app.OperationRollBack && latest.RollsBack == op.ID {
			if op.Kind != app.OperationCreate {
				return started(ctx, c, cl, v, w, 0)
			}
			return deleting(ctx, c, cl, v, w, 0)
		}
		if time.Now().After(deadline) {
			return &app.Error{Code: app.ETimeout, Message: fmt.Sprintf("the rollback of %s hasn't started after %s", v.Name, humanize.Duration(undoTimeout)),
				Hint: "The rollback starts automatically. Check its progress: muster cluster show " + v.ID}
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
