package cluster

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/cluster"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// clusterResumeCommand resumes a paused or failed operation.
func clusterResumeCommand(c *cli.Context) *cobra.Command {
	var w waitFlags
	cmd := &cobra.Command{
		Use:     "resume ID|NAME",
		Short:   "Resume a paused or failed operation",
		Example: "  muster cluster resume shop --wait",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return operate(cmd.Context(), c, args[0], w, func(ctx context.Context, cl *cli.Client, id string) (cluster.View, error) {
				return cl.Operations.Act(ctx, id, 0, "resume", nil)
			})
		},
	}
	w.declare(cmd)
	return cmd
}

// clusterRetryNodeCommand retries the failed steps of one node.
func clusterRetryNodeCommand(c *cli.Context) *cobra.Command {
	var w waitFlags
	cmd := &cobra.Command{
		Use:     "retry-node ID|NAME NODE",
		Short:   "Retry the failed steps of one node",
		Example: "  muster cluster retry-node shop n3 --wait",
		Args:    cli.Exactly("ID|NAME", "NODE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return operate(cmd.Context(), c, args[0], w, func(ctx context.Context, cl *cli.Client, id string) (cluster.View, error) {
				return cl.Operations.RetryNode(ctx, id, args[1])
			})
		},
	}
	w.declare(cmd)
	return cmd
}

// operate restarts a cluster's operation and prints the result.
func operate(ctx context.Context, c *cli.Context, word string, w waitFlags, do func(context.Context, *cli.Client, string) (cluster.View, error)) error {
	cl, v, err := ConnectTo(ctx, c, word, false)
	if err != nil {
		return err
	}
	after, err := w.start(ctx, cl, v.ID)
	if err != nil {
		return err
	}
	if v, err = do(ctx, cl, v.ID); err != nil {
		return err
	}
	return started(ctx, c, cl, v, w, after)
}

func clusterPauseCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "pause ID|NAME",
		Short: "Pause the operation of a cluster",
		Long: "Pause the operation of a cluster: running steps finish, and no new ones start. Machines keep running and cost money.\n" +
			"To continue, use `muster cluster resume`; to stop, `muster cluster cancel`.",
		Example: "  muster cluster pause shop",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			if v, err = cl.Operations.Act(cmd.Context(), v.ID, 0, "pause", nil); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(v)
			}
			op := underWay(v)
			fmt.Fprintf(c.Stdout, "%s (%s): %s is paused, %d of %d steps done\nResume:  muster cluster resume %s\n", v.Name, v.ID, op.Kind.The(), op.Done, op.Total, v.ID)
			return nil
		},
	}
}

// underWay returns the operation in progress, or else the latest.
func underWay(v cluster.View) app.Operation {
	for _, o := range v.Operations {
		if !o.Status.Ended() && o.Status != app.OperationWaiting {
			return o
		}
	}
	op, _ := OperationOf(v, 0)
	return op
}

func clusterCancelCommand(c *cli.Context) *cobra.Command {
	var (
		w        waitFlags
		rollBack bool
	)
	cmd := &cobra.Command{
		Use:   "cancel ID|NAME",
		Short: "Cancel the operation of a cluster",
		Long: "Cancel the operation of a cluster: running steps are stopped, and no new ones start. With --roll-back, everything the operation\n" +
			"created is then deleted. Otherwise its machines keep running and cost money until you roll back or delete the cluster.",
		Example: "  muster cluster cancel shop --roll-back --wait",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			after, err := w.start(cmd.Context(), cl, v.ID)
			if err != nil {
				return err
			}
			if v, err = cl.Operations.Cancel(cmd.Context(), v.ID, rollBack); err != nil {
				return err
			}
			return cancelled(cmd.Context(), c, cl, v, w, after, rollBack)
		},
	}
	cmd.Flags().BoolVar(&rollBack, "roll-back", false, "roll back the operation once it has stopped")
	w.declare(cmd)
	return cmd
}

// cancelled prints the result of a cancel: with --wait after all steps have stopped and, if requested, were rolled back.
func cancelled(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, w waitFlags, after int64, rollBack bool) error {
	op := underWay(v)
	if !w.wait {
		if c.JSON() {
			return c.PrintJSON(v)
		}
		fmt.Fprintf(c.Stdout, "%s (%s): %s is stopping\n", v.Name, v.ID, op.Kind.The())
		if rollBack {
			fmt.Fprintln(c.Stdout, "It will then be rolled back.")
		}
		return nil
	}
	v, op, err := waitUntil(ctx, c, cl, v, op, w.timeout, after)
	if err != nil {
		return err
	}
	if rollBack && op.Status == app.OperationCancelled {
		return waitUndone(ctx, c, cl, v, op, w)
	}
	if c.JSON() {
		return c.PrintJSON(v)
	}
	if op.Status == app.OperationSucceeded {
		fmt.Fprintf(c.Stdout, "%s (%s): %s finished before it could be stopped\n", v.Name, v.ID, op.Kind.The())
		return nil
	}
	fmt.Fprintf(c.Stdout, "%s (%s): %s was cancelled after %d of %d steps\n", v.Name, v.ID, op.Kind.The(), op.Done, op.Total)
	for _, way := range waysForward(v, op) {
		fmt.Fprintln(c.Stdout, way)
	}
	return nil
}

// waysForward are the commands to use after an operation that didn't succeed.
func waysForward(v cluster.View, op app.Operation) (ways []string) {
	if v.Status != app.ClusterFailed {
		return nil
	}
	if op.OnFailure == app.FailureRollBack && op.Kind != app.OperationRollBack {
		return []string{"It's being rolled back automatically:  muster cluster logs " + v.ID + " -f"}
	}
	if v.Problem == nil { // a server of the version before
		return []string{"Delete cluster:  muster cluster delete " + v.Name}
	}
	for _, w := range v.Problem.Options {
		ways = append(ways, w.Title+":  "+w.Command)
	}
	return ways
}
