package cluster

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/quarantine"
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/app/humanize"
)

// keepFlag is the value of --keep-failed.
type keepFlag template.KeepTime

// Set accepts a length within the bounds, or off.
func (k *keepFlag) Set(text string) error {
	if err := template.KeepTime(text).Check(); err != nil {
		e := app.AsError(err)
		return fmt.Errorf("%s %s", e.Message, e.Hint)
	}
	*k = keepFlag(text)
	return nil
}

// String returns the value, "" if unset.
func (k *keepFlag) String() string { return string(*k) }

// Type is the value's name in help.
func (k *keepFlag) Type() string { return "time" }

func (k *keepFlag) value() template.KeepTime { return template.KeepTime(*k) }

func (k *keepFlag) declare(flags *pflag.FlagSet) {
	flags.Var(k, "keep-failed", "keep failed machines for inspection for this long instead of deleting them, such as 4h, or off (default: the cluster's setting)")
}

// printSelection prints which failed machines are kept.
func printSelection(c *cli.Context, s quarantine.Selection) {
	if words := s.Words(); words != "" {
		fmt.Fprintln(c.Stdout, "  "+words)
	}
	for _, note := range s.Notes {
		fmt.Fprintln(c.Stdout, "  "+note)
	}
}

func clusterKeptCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "kept [ID|NAME]",
		Short: "List failed machines that are kept for inspection",
		Long: "List failed machines that are kept for inspection instead of deleted, of one cluster or of all. Each is a cluster of its own: sign in with\n" +
			"muster cluster ssh, keep it longer with muster cluster extend, delete it with muster cluster delete. Once you've repaired it, use it again\n" +
			"in its cluster with muster cluster grow --kept-machine.",
		Example: "  muster cluster kept\n  muster cluster kept shop --format json",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			of := ""
			if len(args) == 1 {
				v, err := find(cmd.Context(), cl, args[0], true)
				if err != nil {
					return err
				}
				of = v.ID
			}
			list, err := cl.Operations.Kept(cmd.Context(), of)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string][]quarantine.Machine{"machines": list})
			}
			if len(list) == 0 {
				cli.Line(c.Stdout, "No kept machines.")
				return nil
			}
			now := time.Now()
			t := cli.NewTable("NAME", "WAS", "REASON", "ADDRESS", "FIREWALL", "LEASE>", "COST/H>")
			for _, m := range list {
				t.Add(m.Name, m.KeptNode+" of "+m.FromName, m.KeptReason, m.Address, string(m.Isolation), leaseLeft(m.Cluster, now),
					humanize.Price(m.CostPerHour, m.Currency))
			}
			return t.Show(c)
		},
	}
}
