package identity

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"muster/app"
	"muster/app/identity"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

func TenantCommand(c *cli.Context) *cobra.Command {
	return cli.Family("tenant", "Manage tenants (superadmins), and export or import tenant settings", tenantListCommand(c), tenantCreateCommand(c), tenantShowCommand(c),
		tenantChangeCommand(c), tenantDeleteCommand(c), cluster.TenantVisibilityCommand(c), tenantIdleCommand(c), tenantExportCommand(c), tenantImportCommand(c))
}

func tenantListCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List tenants", Args: cli.AtMost(0)}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		all, err := cl.Tenants.List(ctx)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]identity.Tenant{"tenants": all})
		}
		t := cli.NewTable("NAME", "USERS>", "CLUSTERS>", "SLOTS>", "IN USE>", "DESCRIPTION")
		for _, x := range all {
			t.Add(x.Name, strconv.Itoa(x.Users), strconv.Itoa(x.Clusters), slotText(x.Slots), strconv.Itoa(x.SlotsGranted), cmp.Or(x.About, "-"))
		}
		return t.Show(c)
	})
}

func slotText(n int) string {
	if n == 0 {
		return "default"
	}
	return strconv.Itoa(n)
}

func tenantShowCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "show NAME", Short: "Show a tenant", Args: cli.Exactly("NAME")}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		x, err := cl.Tenants.Get(ctx, args[0])
		if err != nil {
			return err
		}
		return printTenant(c, x)
	})
}

func printTenant(c *cli.Context, x identity.Tenant) error {
	if c.JSON() {
		return c.PrintJSON(x)
	}
	fmt.Fprintf(c.Stdout, "%s  %s\n", x.Name, x.About)
	fmt.Fprintf(c.Stdout, "Users     %d\nClusters  %d\nSlots     %s, %d in use\n", x.Users, x.Clusters, slotText(x.Slots), x.SlotsGranted)
	if x.Currency != "" {
		fmt.Fprintf(c.Stdout, "Currency  %s, exchange rate %g\n", x.Currency, x.ExchangeRate)
	}
	if x.CreatedBy != "" {
		fmt.Fprintf(c.Stdout, "Created   %s by %s\n", cli.Since(x.CreatedAt), x.CreatedBy)
	}
	if x.From != "" {
		fmt.Fprintf(c.Stdout, "Settings  copied from %s\n", x.From)
	}
	return nil
}

func tenantCreateCommand(c *cli.Context) *cobra.Command {
	var n identity.NewTenant
	var admin string
	cmd := &cobra.Command{
		Use:     "create NAME",
		Short:   "Create a tenant",
		Long:    "Create a tenant. With --admin, also create its first admin; the one-time password is printed only once.\nWith --from, copy the settings of another tenant; docs/people.md lists them.",
		Example: "  muster tenant create research --admin ada --slots 16",
		Args:    cli.Exactly("NAME"),
	}
	flags := cmd.Flags()
	flags.StringVar(&n.About, "about", "", "one-line `description`")
	flags.IntVar(&n.Slots, "slots", 0, "maximum number of `steps` running at a time (default: the server's limit per tenant)")
	flags.StringVar(&n.From, "from", "", "`tenant` to copy settings from")
	flags.StringVar(&admin, "admin", "", "`name` of the first admin")
	flags.StringVar(&n.Currency, "currency", "", "`code` of the currency of prices, costs and budgets, such as EUR (default: the server's)")
	flags.Float64Var(&n.ExchangeRate, "exchange-rate", 0, "`amount` of the currency that one unit of the server's currency buys")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		n.Name = args[0]
		if admin != "" {
			n.Admin = &identity.NewUser{Name: admin, Role: app.RoleAdmin}
		}
		m, err := cl.Tenants.Create(ctx, n)
		if err != nil {
			return err
		}
		if m.Password == "" {
			return c.Say(m, "Created tenant %s. Create its first admin: muster user create NAME --role admin --tenant %s", m.Tenant.Name, m.Tenant.Name)
		}
		return c.Say(m, "Created tenant %s.\nAdmin     %s\nPassword  %s   (must be changed at the first sign-in; shown only once)", m.Tenant.Name, admin, m.Password)
	})
}

func tenantChangeCommand(c *cli.Context) *cobra.Command {
	var about, currency string
	var slots int
	var rate float64
	cmd := &cobra.Command{Use: "change NAME", Short: "Update the description, slots or currency of a tenant", Args: cli.Exactly("NAME")}
	flags := cmd.Flags()
	flags.StringVar(&about, "about", "", "one-line `description`")
	flags.IntVar(&slots, "slots", 0, "maximum number of `steps` running at a time; 0 is the server's limit per tenant")
	flags.StringVar(&currency, "currency", "", "`code` of the currency, such as EUR; it can't change once the tenant has costs")
	flags.Float64Var(&rate, "exchange-rate", 0, "`amount` of the currency that one unit of the server's currency buys")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		var change identity.TenantChange
		if flags.Changed("about") {
			change.About = &about
		}
		if flags.Changed("slots") {
			change.Slots = &slots
		}
		if flags.Changed("currency") {
			change.Currency = &currency
		}
		if flags.Changed("exchange-rate") {
			change.ExchangeRate = &rate
		}
		if change == (identity.TenantChange{}) {
			return cli.Usagef("--about, --slots, --currency or --exchange-rate is required")
		}
		x, err := cl.Tenants.Change(ctx, args[0], change)
		if err != nil {
			return err
		}
		return printTenant(c, x)
	})
}

func tenantDeleteCommand(c *cli.Context) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:     "delete NAME",
		Aliases: []string{"rm"},
		Short:   "Delete a tenant that has nothing left in any cloud",
		Long: "Delete a tenant with its users, groups and tokens. This is refused while anything of the tenant may still exist in a cloud;\n" +
			"the error lists what is left. Receipts, usage and audit log are kept, so the name can't be reused.",
		Args: cli.Exactly("NAME"),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if err := c.Sure(yes, fmt.Sprintf("Delete tenant %s with all its users, groups and tokens", args[0])); err != nil {
			return err
		}
		if err := cl.Tenants.Delete(ctx, args[0]); err != nil {
			return err
		}
		return c.Say(map[string]string{"deleted": args[0]}, "Tenant %s is deleted.", args[0])
	})
}
