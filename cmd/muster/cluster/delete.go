package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/volume"

	"github.com/spf13/cobra"
)

func clusterDeleteCommand(c *cli.Context) *cobra.Command {
	var (
		yes     bool
		volumes volume.Choice
		w       waitFlags
	)
	cmd := &cobra.Command{
		Use:     "delete ID|NAME",
		Aliases: []string{"rm"},
		Short:   "Delete a cluster and all its machines",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("--yes is required without a terminal to confirm on")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			if !yes {
				if err := volume.PrintFates(cmd.Context(), c, cl, v.ID, template.VolumeChoice(volumes)); err != nil {
					return err
				}
				if err := ConfirmDelete(cmd.Context(), c, v); err != nil {
					return err
				}
			}
			after, err := w.start(cmd.Context(), cl, v.ID)
			if err != nil {
				return err
			}
			if v, err = cl.Clusters.DeleteWith(cmd.Context(), v.ID, template.VolumeChoice(volumes)); err != nil {
				return err
			}
			return deleting(cmd.Context(), c, cl, v, w, after)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	cmd.Flags().Var(&volumes, "volumes", "what happens to the cluster's volumes: keep or delete (default: what each volume says)")
	w.declare(cmd)
	return cmd
}

// deleting prints the result of a delete, and removes the cluster's key once it's deleted.
func deleting(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, w waitFlags, after int64) error {
	if !w.wait {
		return printStarted(c, v, "")
	}
	began := time.Now()
	v, err := waitAfter(ctx, c, cl, v, w.timeout, after)
	if err == nil {
		ForgetKeys(cl.Home, v.ID)
		if !c.JSON() {
			fmt.Fprintln(c.Stdout, Headline(v))
		}
		most := proofTimeout
		if w.timeout > 0 {
			most = min(most, max(w.timeout-time.Since(began), time.Millisecond))
		}
		if err := printLeft(ctx, c, cl, v.ID, most); err != nil || !c.JSON() {
			return err
		}
	}
	if c.JSON() && (err == nil || v.Status == app.ClusterFailed) {
		err = errors.Join(err, c.PrintJSON(v))
	}
	return err
}

// printLeft waits for the proof that nothing is left of a deleted cluster, and prints it with the cluster's total cost. With JSON, whose
// output is the cluster, it only waits.
func printLeft(ctx context.Context, c *cli.Context, cl *cli.Client, id string, timeout time.Duration) error {
	r, err := awaitProof(ctx, c, cl, id, timeout)
	if err != nil {
		// The cluster is deleted anyway.
		fmt.Fprintf(c.Stderr, "The receipt can't be read: %s\n", cli.MessageOf(err))
		return nil
	}
	if c.JSON() {
		return nil
	}
	_, err = fmt.Fprintf(c.Stdout, "%s\n%s\n", receiptTotal(r), r.ProofWords())
	return err
}

// ConfirmDelete asks the person at the terminal.
func ConfirmDelete(ctx context.Context, c *cli.Context, v cluster.View) error {
	return c.Confirm(ctx, fmt.Sprintf("Delete cluster %s (%s, %s of %s)?", v.Name, v.ID, humanize.Count(v.Size, "node"), v.Owner), v.Name+" was not deleted")
}
