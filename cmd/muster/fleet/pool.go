package fleet

import (
	"fmt"
	"strconv"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/pool"
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func PoolCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("pool", "Manage pools of ready machines",
		poolListCommand(c), poolShowCommand(c), poolCreateCommand(c), poolSetCommand(c), poolDrainCommand(c), poolDeleteCommand(c), poolReceiptCommand(c))
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

func poolListCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List pools", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			all, err := cl.Pools.List(cmd.Context())
			if err != nil {
				return err
			}
			return printPools(c, all)
		}}
}

func printPools(c *cli.Context, all []pool.View) error {
	if c.JSON() {
		return c.PrintJSON(map[string][]pool.View{"pools": all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "No pools. Create one: muster pool create NAME --hardware … --image … --provider … --count 3")
		return err
	}
	t := cli.NewTable("NAME", "MODE", "READY>", "SIZE>", "CREATING>", "USED TODAY>", "COST/H>", "MACHINES")
	for _, v := range all {
		t.Add(v.Name, string(v.Mode), strconv.Itoa(v.Ready), strconv.Itoa(v.Count), strconv.Itoa(v.Creating), strconv.Itoa(v.HandedOutToday), humanize.Price(v.CostPerHour, v.Currency), poolKind(v.Pool))
	}
	if err := t.Show(c); err != nil {
		return err
	}
	for _, v := range all {
		if v.Error != "" {
			cli.Line(c.Stdout, "%s is not full: %s", v.Name, v.Error)
		}
	}
	return nil
}

func poolKind(p pool.Pool) string {
	text := p.Hardware + ", " + p.Image + ", " + p.Provider
	if p.Zone != "" {
		text += ", zone " + p.Zone
	}
	return text
}

func poolShowCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "show NAME", Short: "Show a pool and its machines", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPool(c, func(cl *cli.Client) (pool.View, error) { return cl.Pools.Get(cmd.Context(), args[0]) })
		}}
}

// withPool calls the server and shows the pool it returns.
func withPool(c *cli.Context, ask func(cl *cli.Client) (pool.View, error)) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	v, err := ask(cl)
	if err != nil {
		return err
	}
	return printPool(c, v)
}

func printPool(c *cli.Context, v pool.View) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	now := time.Now()
	cli.Line(c.Stdout, "Pool %s (%s): %s", v.Name, v.Mode, poolKind(v.Pool))
	text := fmt.Sprintf("  %d of %s ready", v.Ready, humanize.Count(v.Count, "machine"))
	for _, x := range []struct {
		n    int
		word string
	}{{v.Creating, "being created"}, {v.Reserved, "reserved"}, {v.Failed, "failed"}, {v.Deleting, "being deleted"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.word)
		}
	}
	cli.Line(c.Stdout, "%s; replaced after %s; %s per hour", text, humanize.Duration(v.MaxAge), humanize.Price(v.CostPerHour, v.Currency))
	cli.Line(c.Stdout, "  Used by clusters: %d today, %d in total", v.HandedOutToday, v.HandedOut)
	if v.Error != "" {
		again := ""
		if v.RetryAt.After(now) {
			again = fmt.Sprintf(" Next attempt in %s.", humanize.Duration(v.RetryAt.Sub(now)))
		}
		cli.Line(c.Stdout, "  Not full for %s: %s%s", humanize.Duration(now.Sub(v.ErrorAt)), v.Error, again)
	}
	if len(v.Machines)+len(v.Recent) == 0 {
		return nil
	}
	t := cli.NewTable("MACHINE", "ID", "STATE", "SINCE", "ZONE", "CLUSTER")
	for _, m := range append(v.Machines, v.Recent...) {
		to := "-"
		if m.ForCluster != "" {
			to = m.ForNode + " of " + m.ForCluster
		}
		t.Add(m.Cluster, cli.Dash(m.MachineID), string(m.State), humanize.Ago(now, m.Since), cli.Dash(m.Zone), to)
	}
	return t.Show(c)
}

func poolCreateCommand(c *cli.Context) *cobra.Command {
	var (
		r      pool.Request
		count  int
		maxAge string
		off    bool
	)
	cmd := &cobra.Command{Use: "create NAME --hardware H --image I --provider P --count N", Short: "Create a pool of ready machines (admins)",
		Long: "Create a pool of ready machines, so that clusters start in seconds. New clusters and growing ones take machines of the same hardware,\n" +
			"image, provider and zone from it. Machines in a pool count toward the tenant's quota and cost as much as any other. Requires the admin role.",
		Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name, r.Count = args[0], &count
			for name, value := range map[string]string{"hardware": r.Hardware, "image": r.Image, "provider": r.Provider} {
				if value == "" {
					return cli.Usagef("--%s is required", name)
				}
			}
			if !cmd.Flags().Changed("count") {
				return cli.Usagef("--count is required").Hint("Set the number of machines to keep ready.")
			}
			if maxAge != "" {
				age, err := template.ParseLength(maxAge)
				if err != nil {
					return cli.Usagef("--max-age: %s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
				}
				r.MaxAge = &age
			}
			if off {
				r.Mode = pool.ModeOff
			}
			return withPool(c, func(cl *cli.Client) (pool.View, error) { return cl.Pools.Create(cmd.Context(), r) })
		}}
	flags := cmd.Flags()
	flags.StringVar(&r.Hardware, "hardware", "", "`name` of the hardware")
	flags.StringVar(&r.Image, "image", "", "`name` of the image")
	flags.StringVar(&r.Provider, "provider", "", "`name` of the provider")
	flags.StringVar(&r.Zone, "zone", "", "`zone` of the provider (default: any with capacity)")
	flags.IntVar(&count, "count", 0, "number of `machines` to keep ready, at most 500")
	flags.StringVar(&maxAge, "max-age", "", "maximum `age` of a machine before it's replaced, such as 12h or 7d (default 1d)")
	flags.BoolVar(&off, "off", false, "don't fill the pool yet")
	return cmd
}

func poolSetCommand(c *cli.Context) *cobra.Command {
	var (
		count   int
		maxAge  string
		on, off bool
	)
	cmd := &cobra.Command{Use: "set NAME [--count N] [--max-age AGE] [--on|--off]", Short: "Update the size or maximum age of a pool, or turn it on or off",
		Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			change := map[string]any{}
			if cmd.Flags().Changed("count") {
				change["count"] = count
			}
			if maxAge != "" {
				age, err := template.ParseLength(maxAge)
				if err != nil {
					return cli.Usagef("--max-age: %s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
				}
				change["max_age"] = age
			}
			switch {
			case on && off:
				return cli.Usagef("--on and --off can't be combined")
			case on:
				change["mode"] = pool.ModeOn
			case off:
				change["mode"] = pool.ModeOff
			}
			if len(change) == 0 {
				return cli.Usagef("--count, --max-age, --on or --off is required")
			}
			return withPool(c, func(cl *cli.Client) (pool.View, error) { return cl.Pools.Change(cmd.Context(), args[0], change) })
		}}
	flags := cmd.Flags()
	flags.IntVar(&count, "count", 0, "number of `machines` to keep ready, at most 500")
	flags.StringVar(&maxAge, "max-age", "", "maximum `age` of a machine before it's replaced, such as 12h or 7d")
	flags.BoolVar(&on, "on", false, "refill the pool, even if it was drained")
	flags.BoolVar(&off, "off", false, "stop refilling; existing machines can still be used")
	return cmd
}

func poolDrainCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "drain NAME", Short: "Delete all machines of a pool and turn it off", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPool(c, func(cl *cli.Client) (pool.View, error) { return cl.Pools.Drain(cmd.Context(), args[0]) })
		}}
}

func poolDeleteCommand(c *cli.Context) *cobra.Command {
	var yes, wait bool
	cmd := &cobra.Command{Use: "delete NAME", Short: "Delete a pool and all its machines", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("--yes is required without a terminal to confirm on")
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if !yes {
				if err := c.Confirm(cmd.Context(), fmt.Sprintf("Delete pool %s and all its machines?", args[0]), args[0]+" was not deleted"); err != nil {
					return err
				}
			}
			r, err := cl.Pools.Delete(cmd.Context(), args[0])
			for err == nil && wait && (r.DeletedAt.IsZero() || r.Remaining > 0) {
				select {
				case <-cmd.Context().Done():
					return cmd.Context().Err()
				case <-time.After(time.Second):
				}
				r, err = cl.Pools.Receipt(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			return printPoolReceipt(c, r)
		}}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the proof that nothing is left")
	return cmd
}

func poolReceiptCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "receipt NAME", Short: "Show the receipt of a pool, even a deleted one", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			r, err := cl.Pools.Receipt(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return printPoolReceipt(c, r)
		}}
}

func printPoolReceipt(c *cli.Context, r pool.Receipt) error {
	if c.JSON() {
		return c.PrintJSON(r)
	}
	cli.Line(c.Stdout, "Pool %s at %s: %s created, %d used by clusters, %d deleted with proof.", r.Pool, r.Provider, humanize.Count(r.Machines, "machine"), r.HandedOut, r.Deleted)
	cli.Line(c.Stdout, "  Total time of machines in the pool: %s, cost %s.", humanize.Duration(r.Lifetime), humanize.Price(r.Cost, r.Currency))
	if r.Remaining > 0 {
		cli.Line(c.Stdout, "  %d left, or without proof of deletion yet.", r.Remaining)
		return nil
	}
	cli.Line(c.Stdout, "  0 left.")
	return nil
}
