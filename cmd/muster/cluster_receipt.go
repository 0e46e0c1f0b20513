package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
)

func clusterReceiptCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "receipt ID|NAME",
		Short: "Show every machine that a cluster has had, for how long, what it cost, and the proof that none is left",
		Args:  exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := c.connectTo(cmd.Context(), args[0], true)
			if err != nil {
				return err
			}
			r, err := cl.Receipt(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			return c.printReceipt(r)
		},
	}
}

func (c *cli) printReceipt(r app.Receipt) error {
	if c.json() {
		return c.printJSON(r)
	}
	fmt.Fprintf(c.stdout, "%s (%s) of %s at %s is %s\n", r.Name, r.Cluster, r.Owner, r.Provider, r.Status)
	if len(r.Lines) > 0 {
		fmt.Fprintln(c.stdout)
		t := newTable("NODE", "KIND", "ID", "ZONE", "MADE", "GONE", "LIFETIME>", "PRICE/H>", "COST>")
		for _, l := range r.Lines {
			gone := "still there"
			if !l.GoneAt.IsZero() {
				gone = l.GoneAt.UTC().Format(time.DateTime)
			}
			t.add(l.Node, string(l.Kind), l.ID, firstOf(l.Zone, "-"), l.MadeAt.UTC().Format(time.DateTime), gone, span(l.Lifetime), money(l.Price), money(l.Cost))
		}
		if err := t.show(c); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.stdout, "\n%s\n", receiptTotal(r))
	if r.Unpriced > 0 {
		fmt.Fprintf(c.stdout, "The price of %s is not known.\n", plural(r.Unpriced, "resource"))
	}
	switch {
	case !r.Proof.At.IsZero():
		fmt.Fprintf(c.stdout, "Proven %s UTC: %s\n", r.Proof.At.UTC().Format(time.DateTime), r.Proof.How)
	case !r.DeletedAt.IsZero():
		fmt.Fprintf(c.stdout, "Not proven yet by a last list of the whole account. %s\n", r.Proof.How)
	}
	return nil
}

// receiptTotal is the sum of a receipt.
func receiptTotal(r app.Receipt) string {
	return fmt.Sprintf("%s, %s in all, cost %s, %d left", plural(len(r.Lines), "resource"), span(r.Lifetime), money(r.Cost), r.Left)
}
