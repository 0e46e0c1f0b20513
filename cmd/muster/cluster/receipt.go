package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func clusterReceiptCommand(c *cli.Context) *cobra.Command {
	var w waitFlags
	cmd := &cobra.Command{
		Use:   "receipt ID|NAME",
		Short: "Show the receipt of a cluster: machines, durations, costs, and proof of deletion",
		Long: "Show every machine a cluster has ever had, how long each ran, its cost, and the proof that none is left.\n\n" +
			"Muster checks the provider's account within seconds after a cluster's last machine is deleted, and then every 30 s until nothing is left.\n" +
			"For a deleted cluster, the command waits for that proof. Without proof by the timeout, the receipt is printed anyway, with exit code 1.",
		Args: cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], true)
			if err != nil {
				return err
			}
			if !w.wait {
				r, err := cl.Clusters.Receipt(cmd.Context(), v.ID)
				if err != nil {
					return err
				}
				return printReceipt(c, r)
			}
			r, err := awaitProof(cmd.Context(), c, cl, v.ID, w.timeout)
			if err != nil {
				return err
			}
			if err := printReceipt(c, r); err != nil || !r.Unproven() {
				return err
			}
			return &app.Error{Code: app.ETimeout, Reason: "unproven", Message: fmt.Sprintf("no proof after %s that nothing of %s is left", humanize.Exact(w.timeout), r.Name),
				Hint: "Muster keeps checking. Try again later: muster cluster receipt " + r.Cluster}
		},
	}
	cmd.Flags().BoolVar(&w.wait, "wait", true, "wait for the proof that nothing of a deleted cluster is left")
	cmd.Flags().DurationVar(&w.timeout, "timeout", proofTimeout, "with --wait: how long to wait; 0 is no limit")
	return cmd
}

// proofTimeout is how long to wait for the proof of a deletion: two checks of the account, and a margin for slow lists.
const proofTimeout = 90 * time.Second

// awaitProof polls a receipt until it proves that nothing of a deleted cluster is left, or until the timeout, and returns the last one.
// Timeout 0 is no limit.
func awaitProof(ctx context.Context, c *cli.Context, cl *cli.Client, id string, timeout time.Duration) (fleet.Receipt, error) {
	r, err := cl.Clusters.Receipt(ctx, id)
	if err != nil || !r.Unproven() {
		return r, err
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	p, pause := asking(c, cl, 500*time.Millisecond)
	said := ""
	for r.Unproven() {
		if words := r.ProofWords(); words != said {
			said = words
			p.Note(words)
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(pause):
			err = p.Try(ctx, func(ctx context.Context) error {
				now, err := cl.Clusters.Receipt(ctx, id)
				if err == nil { // a failed response has no machines
					r = now
				}
				return err
			})
		}
		switch {
		case err == nil:
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return r, nil
		case errors.Is(err, context.Canceled):
			return r, &app.Error{Code: app.ECancelled, Message: "stopped waiting; Muster keeps checking that nothing of " + r.Name + " is left",
				Hint: "Try again later: muster cluster receipt " + r.Cluster}
		default:
			return r, err
		}
	}
	return r, nil
}

func printReceipt(c *cli.Context, r fleet.Receipt) error {
	if c.JSON() {
		return c.PrintJSON(r)
	}
	fmt.Fprintf(c.Stdout, "%s (%s) of %s at %s is %s\n", r.Name, r.Cluster, r.Owner, r.Provider, r.Status)
	if len(r.Lines) > 0 {
		fmt.Fprintln(c.Stdout)
		t := cli.NewTable("NODE", "KIND", "ID", "ZONE", "CREATED", "DELETED", "LIFETIME>", "PRICE/H>", "COST>")
		for _, l := range r.Lines {
			gone := "-"
			if !l.DeletedAt.IsZero() {
				gone = cli.Time(l.DeletedAt)
			}
			if l.Kept {
				gone = "kept"
			}
			t.Add(l.Node, string(l.Kind), l.ID, cmp.Or(l.Zone, "-"), cli.Time(l.CreatedAt), gone, humanize.Duration(l.Lifetime), humanize.Price(l.Price, r.Currency), humanize.Price(l.Cost, r.Currency))
		}
		if err := t.Show(c); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.Stdout, "\n%s\n", receiptTotal(r))
	if r.Unpriced > 0 {
		fmt.Fprintf(c.Stdout, "The price of %s is unknown.\n", humanize.Count(r.Unpriced, "resource"))
	}
	for _, words := range r.VolumeWords() {
		fmt.Fprintln(c.Stdout, words)
	}
	if words := r.KeptWords(); words != "" {
		fmt.Fprintln(c.Stdout, words)
	}
	if words := r.ProofWords(); words != "" {
		fmt.Fprintln(c.Stdout, words)
	}
	return nil
}

// receiptTotal is a receipt's total.
func receiptTotal(r fleet.Receipt) string {
	return fmt.Sprintf("%s, %s in total, cost %s, %d left", humanize.Count(len(r.Lines), "resource"), humanize.Duration(r.Lifetime), humanize.Money(r.Cost, r.Currency), r.Remaining)
}
