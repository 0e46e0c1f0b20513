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
	cmd := cli.Family("pool", "Keep machines ready ahead of time, so that clusters come in seconds",
		poolListCommand(c), poolShowCommand(c), poolCreateCommand(c), poolSetCommand(c), poolDrainCommand(c), poolDeleteCommand(c), poolReceiptCommand(c))
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

func poolListCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List pools and how full they are", Args: cli.AtMost(0),
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

func printPools(c *cli.Context, all []pool.PoolView) error {
	if c.JSON() {
		return c.PrintJSON(map[string][]pool.PoolView{"pools": all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "No pools. Make one: muster pool create NAME --hardware … --image … --provider … --count 3")
		return err
	}
	t := cli.NewTable("NAME", "MODE", "READY>", "OF>", "MAKING>", "TODAY>", "COST/H>", "MACHINES")
	for _, v := range all {
		t.Add(v.Name, string(v.Mode), strconv.Itoa(v.Ready), strconv.Itoa(v.Count), strconv.Itoa(v.Making), strconv.Itoa(v.HandedToday), cli.Money(v.CostPerHour), poolKind(v.Pool))
	}
	if err := t.Show(c); err != nil {
		return err
	}
	for _, v := range all {
		if v.Trouble != "" {
			cli.Line(c.Stdout, "%s is not full: %s", v.Name, v.Trouble)
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
	return &cobra.Command{Use: "show NAME", Short: "Show a pool with its machines", Args: cli.Exactly("the name of a pool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPool(c, func(cl *cli.Client) (pool.PoolView, error) { return cl.Pools.Get(cmd.Context(), args[0]) })
		}}
}

// withPool asks a server, and shows the pool that it answers with.
func withPool(c *cli.Context, ask func(cl *cli.Client) (pool.PoolView, error)) error {
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

func printPool(c *cli.Context, v pool.PoolView) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	now := time.Now()
	cli.Line(c.Stdout, "Pool %s (%s): %s", v.Name, v.Mode, poolKind(v.Pool))
	text := fmt.Sprintf("  %d of %s ready", v.Ready, humanize.Count(v.Count, "machine"))
	for _, x := range []struct {
		n    int
		word string
	}{{v.Making, "being made"}, {v.Promised, "promised"}, {v.Failed, "failed"}, {v.Leaving, "being given back"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.word)
		}
	}
	cli.Line(c.Stdout, "%s; replaced after %s; %s per hour", text, humanize.Duration(v.MaxAge), cli.Money(v.CostPerHour))
	cli.Line(c.Stdout, "  %d handed out today, %d in all", v.HandedToday, v.Handed)
	if v.Trouble != "" {
		again := ""
		if v.RetryAt.After(now) {
			again = fmt.Sprintf(" It is tried again in %s.", humanize.Duration(v.RetryAt.Sub(now)))
		}
		cli.Line(c.Stdout, "  Not full for %s: %s%s", humanize.Duration(now.Sub(v.TroubleAt)), v.Trouble, again)
	}
	if len(v.Machines)+len(v.Clusters) == 0 {
		return nil
	}
	t := cli.NewTable("MACHINE", "ID", "STATE", "SINCE", "ZONE", "FOR")
	for _, m := range append(v.Machines, v.Clusters...) {
		to := "-"
		if m.ForCluster != "" {
			to = m.ForNode + " of " + m.ForCluster
		}
		t.Add(m.Cluster, cli.Dash(m.MachineID), string(m.State), humanize.Duration(now.Sub(m.Since))+" ago", cli.Dash(m.Zone), to)
	}
	return t.Show(c)
}

func poolCreateCommand(c *cli.Context) *cobra.Command {
	var (
		r      pool.PoolRequest
		count  int
		maxAge string
		off    bool
	)
	cmd := &cobra.Command{Use: "create NAME --hardware H --image I --provider P --count N", Short: "Have machines made ahead of time",
		Long: "Have machines made ahead of time. A create, or a resize that makes a cluster larger, takes those of the same hardware, image, provider and zone.\n" +
			"They count towards the tenant's quota and cost as any machine does. Only admins may.",
		Args: cli.Exactly("the name of the pool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name, r.Count = args[0], &count
			for name, value := range map[string]string{"hardware": r.Hardware, "image": r.Image, "provider": r.Provider} {
				if value == "" {
					return cli.Usagef("--%s is missing", name)
				}
			}
			if !cmd.Flags().Changed("count") {
				return cli.Usagef("--count is missing").Hint("Say how many machines are to be ready.")
			}
			if maxAge != "" {
				age, err := template.ParseLength(maxAge)
				if err != nil {
					return cli.Usagef("--max-age: %s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
				}
				r.MaxAge = &age
			}
			if off {
				r.Mode = pool.PoolOff
			}
			return withPool(c, func(cl *cli.Client) (pool.PoolView, error) { return cl.Pools.Create(cmd.Context(), r) })
		}}
	flags := cmd.Flags()
	flags.StringVar(&r.Hardware, "hardware", "", "`name` of the hardware")
	flags.StringVar(&r.Image, "image", "", "`name` of the image")
	flags.StringVar(&r.Provider, "provider", "", "`name` of the provider")
	flags.StringVar(&r.Zone, "zone", "", "`zone` of the provider (default: wherever there is room)")
	flags.IntVar(&count, "count", 0, "how many `machines` are to be ready, at most 500")
	flags.StringVar(&maxAge, "max-age", "", "how `old` a machine may get before it is replaced, such as 12h or 7d (default 1d)")
	flags.BoolVar(&off, "off", false, "make nothing yet")
	return cmd
}

func poolSetCommand(c *cli.Context) *cobra.Command {
	var (
		count   int
		maxAge  string
		on, off bool
	)
	cmd := &cobra.Command{Use: "set NAME [--count N] [--max-age AGE] [--on|--off]", Short: "Change how many machines a pool has, how old they get, or whether it is refilled",
		Args: cli.Exactly("the name of a pool"),
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
				return cli.Usagef("--on and --off exclude each other")
			case on:
				change["mode"] = pool.PoolOn
			case off:
				change["mode"] = pool.PoolOff
			}
			if len(change) == 0 {
				return cli.Usagef("there is nothing to change").Hint("Say --count, --max-age, --on or --off.")
			}
			return withPool(c, func(cl *cli.Client) (pool.PoolView, error) { return cl.Pools.Change(cmd.Context(), args[0], change) })
		}}
	flags := cmd.Flags()
	flags.IntVar(&count, "count", 0, "how many `machines` are to be ready, at most 500")
	flags.StringVar(&maxAge, "max-age", "", "how `old` a machine may get before it is replaced, such as 12h or 7d")
	flags.BoolVar(&on, "on", false, "refill it, also one that was drained")
	flags.BoolVar(&off, "off", false, "make nothing; what is there is still handed out")
	return cmd
}

func poolDrainCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "drain NAME", Short: "Give all machines of a pool back, and make none until it is switched on again", Args: cli.Exactly("the name of a pool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPool(c, func(cl *cli.Client) (pool.PoolView, error) { return cl.Pools.Drain(cmd.Context(), args[0]) })
		}}
}

func poolDeleteCommand(c *cli.Context) *cobra.Command {
	var yes, wait bool
	cmd := &cobra.Command{Use: "delete NAME", Short: "Give all machines of a pool back, and delete it", Args: cli.Exactly("the name of a pool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("deleting needs --yes where there is no terminal to confirm on")
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if !yes {
				if err := c.Confirm(cmd.Context(), fmt.Sprintf("Delete the pool %s and give its machines back?", args[0]), args[0]+" was not deleted"); err != nil {
					return err
				}
			}
			r, err := cl.Pools.Delete(cmd.Context(), args[0])
			for err == nil && wait && (r.DeletedAt.IsZero() || r.Left > 0) {
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
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it is proven that nothing is left")
	return cmd
}

func poolReceiptCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "receipt NAME", Short: "Tell what a pool has had at its provider, and what that cost, also of one that is gone", Args: cli.Exactly("the name of a pool"),
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

func printPoolReceipt(c *cli.Context, r pool.PoolReceipt) error {
	if c.JSON() {
		return c.PrintJSON(r)
	}
	cli.Line(c.Stdout, "Pool %s at %s: %s made, %d handed out, %d given back and proven to be gone.", r.Pool, r.Provider, humanize.Count(r.Machines, "machine"), r.Handed, r.GivenBack)
	cli.Line(c.Stdout, "  Machines stood in it for %s in all, for %s.", humanize.Duration(r.Lifetime), cli.Money(r.Cost))
	if r.Left > 0 {
		cli.Line(c.Stdout, "  %d left, or not proven to be gone yet.", r.Left)
		return nil
	}
	cli.Line(c.Stdout, "  0 left.")
	return nil
}
