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
	return cli.Family("tenant", "Make, change and delete tenants (superadmins); export and import the settings of one", tenantListCommand(c), tenantCreateCommand(c), tenantShowCommand(c),
		tenantChangeCommand(c), tenantDeleteCommand(c), cluster.TenantVisibilityCommand(c), tenantExportCommand(c), tenantImportCommand(c))
}

func tenantListCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the tenants of the installation", Args: cli.AtMost(0)}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		all, err := cl.Tenants.List(ctx)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]identity.Tenant{"tenants": all})
		}
		t := cli.NewTable("NAME", "USERS>", "CLUSTERS>", "SLOTS>", "GIVEN>", "ABOUT")
		for _, x := range all {
			t.Add(x.Name, strconv.Itoa(x.Users), strconv.Itoa(x.Clusters), slotText(x.Slots), strconv.Itoa(x.SlotsHeld), cmp.Or(x.About, "-"))
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
	fmt.Fprintf(c.Stdout, "Users     %d\nClusters  %d\nSlots     %s, of which %d are given now\n", x.Users, x.Clusters, slotText(x.Slots), x.SlotsHeld)
	if x.CreatedBy != "" {
		fmt.Fprintf(c.Stdout, "Made      %s by %s\n", cli.Since(x.CreatedAt), x.CreatedBy)
	}
	if x.From != "" {
		fmt.Fprintf(c.Stdout, "Settings  began as those of %s\n", x.From)
	}
	return nil
}

func tenantCreateCommand(c *cli.Context) *cobra.Command {
	var n identity.NewTenant
	var admin string
	cmd := &cobra.Command{
		Use:     "create NAME",
		Short:   "Make a tenant, with its first admin",
		Long:    "Make a tenant. With --admin its first admin is made too; the one-time password is printed once.\nWith --from it begins with the settings of another tenant; docs/people.md says which.",
		Example: "  muster tenant create research --admin ada --slots 16",
		Args:    cli.Exactly("NAME"),
	}
	flags := cmd.Flags()
	flags.StringVar(&n.About, "about", "", "what it is, in a `line`")
	flags.IntVar(&n.Slots, "slots", 0, "`steps` of it at the same time at most (default: as many as the server says for every tenant)")
	flags.StringVar(&n.From, "from", "", "copy the settings of this `tenant`")
	flags.StringVar(&admin, "admin", "", "`name` of its first admin")
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
			return c.Say(m, "Tenant %s is there. Make its first admin: muster user create NAME --role admin --tenant %s", m.Tenant.Name, m.Tenant.Name)
		}
		return c.Say(m, "Tenant %s is there.\nAdmin     %s\nPassword  %s   (to be changed at the first sign-in; it is not shown again)", m.Tenant.Name, admin, m.Password)
	})
}

func tenantChangeCommand(c *cli.Context) *cobra.Command {
	var about string
	var slots int
	cmd := &cobra.Command{Use: "change NAME", Short: "Change what a tenant is about, or its slots", Args: cli.Exactly("NAME")}
	flags := cmd.Flags()
	flags.StringVar(&about, "about", "", "what it is, in a `line`")
	flags.IntVar(&slots, "slots", 0, "`steps` of it at the same time at most; 0: as many as the server says for every tenant")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		var change identity.TenantChange
		if flags.Changed("about") {
			change.About = &about
		}
		if flags.Changed("slots") {
			change.Slots = &slots
		}
		if change == (identity.TenantChange{}) {
			return cli.Usagef("there is nothing to change").Hint("Give --about or --slots.")
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
		Short:   "Delete a tenant of which nothing is left in any cloud",
		Long: "Delete a tenant with its users, groups and tokens. Refused while anything of it may stand in a cloud; what is left is told.\n" +
			"Receipts, usage and audit stay, so its name is never given again.",
		Args: cli.Exactly("NAME"),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if err := c.Sure(yes, fmt.Sprintf("Delete the tenant %s with all its users, groups and tokens", args[0])); err != nil {
			return err
		}
		if err := cl.Tenants.Delete(ctx, args[0]); err != nil {
			return err
		}
		return c.Say(map[string]string{"deleted": args[0]}, "Tenant %s is deleted.", args[0])
	})
}
