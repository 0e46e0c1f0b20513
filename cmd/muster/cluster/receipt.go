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
		Short: "Show every machine that a cluster has had, for how long, what it cost, and the proof that none is left",
		Long: "Show every machine that a cluster has had, for how long, what it cost, and the proof that none is left.\n\n" +
			"The provider's account is checked within seconds after the last machine of a cluster is deleted, and again every 30 s until nothing is left. Of a deleted cluster " +
			"the receipt waits for that proof. Exit code 1: it isn't proven when the time is over; the receipt is printed all the same.",
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
			return &app.Error{Code: app.ETimeout, Reason: "unproven", Message: fmt.Sprintf("not proven after %s that nothing of %s is left", humanize.Duration(w.timeout), r.Name),
				Hint: "Muster keeps checking. See later: muster cluster receipt " + r.Cluster}
		},
	}
	cmd.Flags().BoolVar(&w.wait, "wait", true, "wait for the proof that nothing of a deleted cluster is left")
	cmd.Flags().DurationVar(&w.timeout, "timeout", proofPatience, "with --wait: how long to wait (0: until it is proven)")
	return cmd
}

// proofPatience is how long the proof of a deletion is waited for: two checks of the account, and some for slow lists.
const proofPatience = 90 * time.Second

// awaitProof asks for a receipt until it is proven that nothing of a deleted cluster is left, or the time is over, and returns the last one.
// No timeout is 0.
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
				if err == nil { // an answer that failed has no machines
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
				Hint: "See later: muster cluster receipt " + r.Cluster}
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
			if !l.GoneAt.IsZero() {
				gone = l.GoneAt.UTC().Format(time.DateTime)
			}
			t.Add(l.Node, string(l.Kind), l.ID, cmp.Or(l.Zone, "-"), l.MadeAt.UTC().Format(time.DateTime), gone, humanize.Duration(l.Lifetime), cli.Money(l.Price), cli.Money(l.Cost))
		}
		if err := t.Show(c); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.Stdout, "\n%s\n", receiptTotal(r))
	if r.Unpriced > 0 {
		fmt.Fprintf(c.Stdout, "The price of %s is not known.\n", humanize.Count(r.Unpriced, "resource"))
	}
	if words := r.ProofWords(); words != "" {
		fmt.Fprintln(c.Stdout, words)
	}
	return nil
}

// receiptTotal is the sum of a receipt.
func receiptTotal(r fleet.Receipt) string {
	return fmt.Sprintf("%s, %s in all, cost %s, %d left", humanize.Count(len(r.Lines), "resource"), humanize.Duration(r.Lifetime), cli.Money(r.Cost), r.Left)
}
