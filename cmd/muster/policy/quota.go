package policy

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"muster/app/policy"
	"muster/cmd/muster/cli"
)

func QuotaCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("quota", "Manage quotas for tenant, groups and users",
		quotaListCommand(c), quotaSetCommand(c), quotaDeleteCommand(c), quotaLeftCommand(c))
	cmd.Aliases = []string{"quotas"}
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

// quotaScope parses a quota's scope: tenant, each-user, group/NAME or user/NAME.
func quotaScope(word string) (policy.QuotaScope, string, error) {
	scope, name, named := strings.Cut(word, "/")
	switch {
	case word == "tenant":
		return policy.QuotaTenant, "", nil
	case word == "each-user" || word == "each_user":
		return policy.QuotaEachUser, "", nil
	case named && name != "" && (scope == "group" || scope == "user"):
		return policy.QuotaScope(scope), name, nil
	}
	return "", "", cli.Usagef("%q isn't a valid scope for a quota", word).Hint("Choose tenant, each-user, group/NAME or user/NAME.")
}

func quotaWord(scope policy.QuotaScope, name string) string {
	switch scope {
	case policy.QuotaTenant:
		return "tenant"
	case policy.QuotaEachUser:
		if name == "" {
			return "each-user"
		}
		return "each-user (" + name + ")"
	}
	return string(scope) + "/" + name
}

func quotaListCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List quotas and their usage",
		Args:  cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			all, err := cl.Quotas.List(cmd.Context())
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(all)
			}
			if len(all) == 0 {
				fmt.Fprintln(c.Stdout, "No quotas.")
				return nil
			}
			t := cli.NewTable("FOR", "CLUSTERS>", "NODES>", "CORES>", "COST/H>", "COST/MONTH>")
			for _, q := range all {
				row := []string{quotaWord(q.Scope, q.Name)}
				for _, m := range policy.Measures {
					cell := "-"
					if limit, is := q.Limits.Of(m); is {
						cell = m.Amount(q.Used.Of(m), q.Currency) + " of " + m.Amount(limit, q.Currency)
					}
					row = append(row, cell)
				}
				t.Add(row...)
			}
			return t.Show(c)
		},
	}
}

func quotaSetCommand(c *cli.Context) *cobra.Command {
	values := map[policy.Measure]*float64{}
	names := map[policy.Measure]string{policy.MeasureClusters: "clusters", policy.MeasureNodes: "nodes", policy.MeasureCPU: "cpu",
		policy.MeasurePerHour: "per-hour", policy.MeasurePerMonth: "per-month"}
	cmd := &cobra.Command{
		Use:   "set tenant|each-user|group/NAME|user/NAME",
		Short: "Set a quota",
		Long: "Set a quota, replacing an existing one; anything you omit is unlimited. A quota below the current usage deletes nothing: it only\n" +
			"refuses new requests. Only superadmins can set the tenant's quota.",
		Args: cli.Exactly("WHO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := policy.Quota{}
			var err error
			if q.Scope, q.Name, err = quotaScope(args[0]); err != nil {
				return err
			}
			for _, m := range policy.Measures {
				if cmd.Flags().Changed(names[m]) {
					q.Limits = q.Limits.With(m, *values[m])
				}
			}
			if q.Limits.None() {
				return cli.Usagef("at least one limit is required").Hint("For example: muster quota set %s --nodes 20", args[0])
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			u, err := cl.Quotas.Set(cmd.Context(), q)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(u)
			}
			fmt.Fprintf(c.Stdout, "Saved the quota of %s.\n", quotaWord(u.Scope, u.Name))
			for _, m := range policy.Measures {
				if limit, is := u.Limits.Of(m); is && u.Used.Of(m) > limit {
					fmt.Fprintf(c.Stdout, "Already over quota: %s of %s %s. New requests are refused until usage drops.\n", m.Amount(u.Used.Of(m), u.Currency), m.Amount(limit, u.Currency), names[m])
				}
			}
			return nil
		},
	}
	for _, m := range policy.Measures {
		values[m] = cmd.Flags().Float64(names[m], 0, "maximum "+map[policy.Measure]string{policy.MeasureClusters: "`number` of clusters",
			policy.MeasureNodes: "`number` of nodes", policy.MeasureCPU: "`number` of cores", policy.MeasurePerHour: "`cost` per hour",
			policy.MeasurePerMonth: "`cost` per calendar month (UTC)"}[m])
	}
	return cmd
}

func quotaDeleteCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "delete tenant|each-user|group/NAME|user/NAME",
		Short: "Delete a quota",
		Args:  cli.Exactly("WHO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, name, err := quotaScope(args[0])
			if err != nil {
				return err
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if err := cl.Quotas.Delete(cmd.Context(), scope, name); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]string{"lifted": quotaWord(scope, name)})
			}
			_, err = fmt.Fprintf(c.Stdout, "Deleted the quota of %s.\n", quotaWord(scope, name))
			return err
		},
	}
}

func quotaLeftCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "remaining",
		Short: "Show your remaining quota, and which limit applies",
		Args:  cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var left policy.QuotaLeft
			if err := cl.CallInto(cmd.Context(), "/quotas/remaining", url.Values{}, &left); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(left)
			}
			if len(left.Lines) == 0 {
				fmt.Fprintln(c.Stdout, "No limits apply to you.")
				return nil
			}
			t := cli.NewTable("LIMIT ON", "QUOTA", "LIMIT>", "USED>", "LEFT>")
			for _, l := range left.Lines {
				t.Add(strings.ReplaceAll(string(l.Measure), "_", " "), quotaWord(l.Scope, l.Name), l.Measure.Amount(l.Limit, l.Currency), l.Measure.Amount(l.Used, l.Currency), l.Measure.Amount(l.Remaining, l.Currency))
			}
			return t.Show(c)
		},
	}
}
