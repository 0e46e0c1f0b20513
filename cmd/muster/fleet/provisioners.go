package fleet

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func ProvisionersCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "provisioners", Short: "List provisioners", Args: cli.AtMost(0), RunE: func(cmd *cobra.Command, _ []string) error {
		cl, err := c.Connect()
		if err != nil {
			return err
		}
		all, err := cl.Provisioners.List(cmd.Context())
		if err != nil {
			return err
		}
		return printProvisioners(c, all)
	},
	}
	c.ServerFlags(cmd.Flags())
	return cmd
}

// ProvisionerListCommand is ProvisionersCommand as a list command, which every other noun has.
func ProvisionerListCommand(c *cli.Context) *cobra.Command {
	cmd := ProvisionersCommand(c)
	cmd.Use, cmd.Aliases, cmd.Short = "list", []string{"ls"}, cmd.Short+" (same as muster provisioners)"
	return cmd
}

func printProvisioners(c *cli.Context, all []app.Provisioner) error {
	if c.JSON() {
		return c.PrintJSON(map[string][]app.Provisioner{"provisioners": all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "No provisioners. Start the server with --workers, or run `muster provisioner` on any host.")
		return err
	}
	t := cli.NewTable("NAME", "ID", "STATE", "TAGS", "USED>", "SLOTS>", "TENANTS", "LAST SEEN>", "VERSION")
	for _, p := range all {
		var tenants []string
		for _, s := range p.Tenants {
			tenants = append(tenants, fmt.Sprintf("%s=%d", s.Tenant, s.Slots))
		}
		heard := humanize.Duration(time.Since(p.SeenAt))
		if strings.HasPrefix(p.ID, fleet.LocalPrefix) && p.State.Alive() {
			heard = "-" // the server's own
		}
		t.Add(p.Name, p.ID, string(p.State), app.TagText(p.Tags), fmt.Sprint(p.Used()), fmt.Sprint(p.Slots), strings.Join(tenants, " "), heard, p.Version)
	}
	return t.Show(c)
}

func ProvisionerDrainCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drain NAME",
		Short: "Drain a provisioner: finish its steps, then stop it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			n, err := cl.Provisioners.Drain(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]int{"draining": n})
			}
			_, err = fmt.Fprintf(c.Stdout, "%s: %s draining.\n", args[0], humanize.Count(n, "provisioner"))
			return err
		},
	}
	c.ServerFlags(cmd.Flags())
	return cmd
}

func ProvisionerTokenCommand(c *cli.Context) *cobra.Command {
	var grant fleet.ProvisionerGrant
	var tags cli.TagFlag
	var everyTenant bool
	create := &cobra.Command{
		Use:     "create NAME",
		Short:   "Create a registration token for provisioners",
		Long:    "Create a registration token for provisioners. It limits them to the given tenants, tags and slots. The token is shown only once.",
		Example: "  muster provisioner token create lab --for-tenant acme --tag region=eu --slots 64",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case everyTenant && len(grant.Tenants) > 0:
				return cli.Usagef("--for-tenant and --all-tenants can't be combined")
			case everyTenant:
				grant.Tenants = []string{fleet.AllTenants}
			case len(grant.Tenants) == 0:
				return cli.Usagef("--for-tenant or --all-tenants is required")
			}
			grant.Tags = tags
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			token, err := cl.ProvisionerTokens.Create(cmd.Context(), args[0], grant)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]string{"name": args[0], "token": token})
			}
			_, err = fmt.Fprintln(c.Stdout, token)
			return err
		},
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List registration tokens of provisioners",
		Args:  cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			all, err := cl.ProvisionerTokens.List(cmd.Context())
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string][]fleet.ProvisionerToken{"tokens": all})
			}
			t := cli.NewTable("NAME", "TENANTS", "TAGS", "SLOTS>", "CREATED BY", "AGE>", "LAST USED>")
			for _, p := range all {
				used := "never"
				if !p.UsedAt.IsZero() {
					used = humanize.Ago(time.Now(), p.UsedAt)
				}
				tags := cli.Dash(app.TagText(p.Tags))
				if p.AnyTags {
					tags = "any"
				}
				t.Add(p.Name, strings.ReplaceAll(strings.Join(p.Tenants, ","), fleet.AllTenants, "all"), tags, strconv.Itoa(p.Slots), p.CreatedBy, humanize.Duration(time.Since(p.CreatedAt)), used)
			}
			return t.Show(c)
		},
	}
	revoke := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a registration token, and stop its provisioners and their workers",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			return cl.ProvisionerTokens.Revoke(cmd.Context(), args[0])
		},
	}
	create.Flags().StringArrayVar(&grant.Tenants, "for-tenant", nil, "`tenant` whose steps the provisioners can run; may be repeated")
	create.Flags().BoolVar(&everyTenant, "all-tenants", false, "let the provisioners run steps of all tenants")
	create.Flags().Var(&tags, "tag", "tag as `NAME=VALUE` that the provisioners can have; may be repeated")
	create.Flags().IntVar(&grant.Slots, "slots", 0, "number of `steps` that all provisioners together can run at a time (default 1,000)")
	for _, sub := range []*cobra.Command{create, list, revoke} {
		c.ServerFlags(sub.Flags())
	}
	return cli.Family("token", "Manage registration tokens of provisioners", create, list, revoke)
}
