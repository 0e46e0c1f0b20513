package policy

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"muster/app/humanize"
	"muster/app/idle"
	"muster/app/usage"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func UsageCommand(c *cli.Context) *cobra.Command {
	var from, to, by, step string
	var csv, all, savings bool
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Show usage and cost",
		Long: "Show node hours, core hours and cost, based on the actual run time of machines and their price at creation. Days, weeks (starting on\n" +
			"Monday), months and years are calendar periods in UTC. Users see their own usage and, with --by tenant, the tenant's totals.",
		Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := url.Values{}
			for key, value := range map[string]string{"from": from, "to": to, "by": by, "step": step} {
				if value != "" {
					q.Set(key, value)
				}
			}
			if all {
				q.Set("all", "true")
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if savings {
				if by != "" || step != "" || csv || all {
					return cli.Usagef("--savings can only be combined with --from and --to")
				}
				s, err := cl.Idle.Savings(cmd.Context(), from, to)
				if err != nil {
					return err
				}
				return printSavings(c, s)
			}
			u, err := cl.Usage.Get(cmd.Context(), q)
			if err != nil {
				return err
			}
			switch {
			case csv:
				_, err := c.Bytes().Write(u.CSV())
				return err
			case c.JSON():
				return c.PrintJSON(u)
			}
			return printUsage(c, u)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "start `date` or time (default: start of this month)")
	flags.StringVar(&to, "to", "", "end `date` (inclusive) or time (default: now)")
	flags.StringVar(&by, "by", "", "group by `field`: none, tenant, user, template, provider, hardware, cluster, or label:KEY")
	flags.StringVar(&step, "step", "", "group by `period`: none, hour, day, week, month or year")
	flags.BoolVar(&csv, "csv", false, "print CSV")
	flags.BoolVar(&all, "all", false, "include all tenants (superadmins)")
	flags.BoolVar(&savings, "savings", false, "show what was saved by putting idle clusters to sleep")
	c.ServerFlags(flags)
	return cmd
}

func printSavings(c *cli.Context, s idle.Savings) error {
	if c.JSON() {
		return c.PrintJSON(s)
	}
	if len(s.Lines) == 0 {
		fmt.Fprintln(c.Stdout, "No cluster slept because it was idle in this period.")
		return nil
	}
	t := cli.NewTable("CLUSTER", "ASLEEP", "UNTIL", "HOURS>", "SAVED>")
	for _, l := range s.Lines {
		until := "now"
		if !l.Until.IsZero() {
			until = cli.Time(l.Until)
		}
		t.Add(l.Name, cli.Time(l.From), until, fmt.Sprintf("%.2f", l.Hours), humanize.Money(l.Saved, s.Currency))
	}
	t.Add("total", "", "", fmt.Sprintf("%.2f", s.Hours), humanize.Money(s.Saved, s.Currency))
	return t.Show(c)
}

func printUsage(c *cli.Context, u usage.Usage) error {
	if len(u.Lines) == 0 {
		fmt.Fprintln(c.Stdout, "No usage in this period.")
		return nil
	}
	hours := func(x float64) string { return fmt.Sprintf("%.2f", x) }
	t := cli.NewTable("START", "GROUP", "NODE HOURS>", "CORE HOURS>", "COST>")
	for _, l := range u.Lines {
		t.Add(l.Start.UTC().Format("2006-01-02 15:04"), cmp.Or(l.Key, "-"), hours(l.NodeHours), hours(l.CoreHours), humanize.Money(l.Cost, u.Currency))
	}
	t.Add("total", "", hours(u.Total.NodeHours), hours(u.Total.CoreHours), humanize.Money(u.Total.Cost, u.Currency))
	if err := t.Show(c); err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "\nFrom %s to %s UTC.\n", u.From.UTC().Format(time.DateTime), u.To.UTC().Format(time.DateTime))
	if u.Total.Unpriced > 0 {
		fmt.Fprintf(c.Stdout, "The price of %s node hours is unknown; they count as free.\n", hours(u.Total.Unpriced))
	}
	return nil
}
