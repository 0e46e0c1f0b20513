package identity

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/identity"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func UserCommand(c *cli.Context) *cobra.Command {
	return cli.Family("user", "Make, change and delete accounts (admins)", userListCommand(c), userCreateCommand(c), userShowCommand(c), userChangeCommand(c),
		userResetCommand(c), userResetFactorCommand(c), userRequireFactorCommand(c), userDeleteCommand(c))
}

// rolesText names the roles for help.
func rolesText() string {
	var names []string
	for _, r := range app.Roles {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

func userListCommand(c *cli.Context) *cobra.Command {
	var f identity.UserFilter
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the accounts of the tenant", Args: cli.AtMost(0)}
	cmd.Flags().StringVar(&f.Search, "search", "", "only those with this `text` in name, full name or e-mail address")
	cmd.Flags().StringVar((*string)(&f.Role), "role", "", "only those of this `role`")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		all, err := cl.Users.List(ctx, f)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]identity.User{"users": all})
		}
		t := cli.NewTable("NAME", "ROLE", "GROUPS", "STATE", "SEEN>", "FULL NAME")
		for _, u := range all {
			t.Add(u.Name, string(u.Role), cmp.Or(strings.Join(u.Groups, ","), "-"), userState(u), cli.Since(u.SeenAt), cmp.Or(u.FullName, "-"))
		}
		return t.Show(c)
	})
}

func userState(u identity.User) string {
	switch {
	case u.Disabled():
		return "disabled"
	case u.MustChange:
		return "one-time password"
	}
	return "active"
}

func userShowCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "show NAME", Short: "Show an account, with what it owns", Args: cli.Exactly("NAME")}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		v, err := cl.Users.Get(ctx, args[0])
		if err != nil {
			return err
		}
		return printUser(c, v)
	})
}

func printUser(c *cli.Context, v identity.UserView) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	fmt.Fprintf(c.Stdout, "%s  %s\n", v.Name, v.FullName)
	for _, line := range [][2]string{{"Role", string(v.Role)}, {"State", userState(v.User)}, {"E-mail", v.Email}, {"Groups", strings.Join(v.Groups, ", ")},
		{"Clusters", strings.Join(v.Clusters, ", ")}, {"Tokens", strconv.Itoa(v.Tokens)}, {"Seen", cli.Since(v.SeenAt)}, {"Made by", v.CreatedBy}} {
		fmt.Fprintf(c.Stdout, "%-9s %s\n", line[0], cmp.Or(line[1], "-"))
	}
	return nil
}

func userCreateCommand(c *cli.Context) *cobra.Command {
	var n identity.NewUser
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an account; its one-time password is printed once",
		Long: "Make an account in the tenant. The one-time password is printed once and must be changed at the first sign-in.\n" +
			"Robots have no password: make them a token with `muster token create LABEL --user NAME`.",
		Example: "  muster user create ada --role approver --full-name \"Ada Lovelace\" --group data",
		Args:    cli.Exactly("NAME"),
	}
	flags := cmd.Flags()
	flags.StringVar((*string)(&n.Role), "role", string(app.RoleUser), "`role`: "+rolesText())
	flags.StringVar(&n.FullName, "full-name", "", "full `name`")
	flags.StringVar(&n.Email, "email", "", "e-mail `address`")
	flags.StringSliceVar(&n.Groups, "group", nil, "`group` that it is in; may be repeated")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		n.Name = args[0]
		m, err := cl.Users.Create(ctx, n)
		if err != nil {
			return err
		}
		if m.Password == "" {
			return c.Say(m, "Robot %s is there. Make it a token: muster token create LABEL --user %s", n.Name, n.Name)
		}
		return c.Say(m, "User %s is there, as %s.\nPassword  %s   (to be changed at the first sign-in; it is not shown again)", n.Name, n.Role, m.Password)
	})
}

func userChangeCommand(c *cli.Context) *cobra.Command {
	var fullName, email, role string
	var groups []string
	var disable, enable bool
	cmd := &cobra.Command{
		Use:   "change NAME",
		Short: "Change role, groups or name of an account, or disable it",
		Long:  "Change an account. What changes counts at once: the sign-ins and tokens of a disabled one stop with the next request.",
		Args:  cli.Exactly("NAME"),
	}
	flags := cmd.Flags()
	flags.StringVar(&role, "role", "", "`role`: "+rolesText())
	flags.StringVar(&fullName, "full-name", "", "full `name`")
	flags.StringVar(&email, "email", "", "e-mail `address`")
	flags.StringSliceVar(&groups, "groups", nil, "all `groups` that it is put into here, separated by commas; \"\" for none")
	flags.BoolVar(&disable, "disable", false, "let its sign-ins and tokens count no more")
	flags.BoolVar(&enable, "enable", false, "undo --disable")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		var change identity.UserChange
		if flags.Changed("role") {
			change.Role = (*app.Role)(&role)
		}
		if flags.Changed("full-name") {
			change.FullName = &fullName
		}
		if flags.Changed("email") {
			change.Email = &email
		}
		if flags.Changed("groups") {
			change.Groups = &groups
		}
		if disable && enable {
			return cli.Usagef("--disable and --enable are for one at a time")
		}
		if disable || enable {
			change.Disabled = &disable
		}
		if change == (identity.UserChange{}) {
			return cli.Usagef("there is nothing to change").Hint("See `muster user change --help`.")
		}
		v, err := cl.Users.Change(ctx, args[0], change)
		if err != nil {
			return err
		}
		return printUser(c, v)
	})
}

func userResetCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "reset-password NAME", Short: "Reset a user's password, and end their sign-ins and API tokens", Args: cli.Exactly("NAME")}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		password, err := cl.Users.ResetPassword(ctx, args[0])
		if err != nil {
			return err
		}
		return c.Say(map[string]string{"user": args[0], "password": password}, "Password  %s   (to be changed at the next sign-in; it is not shown again)\nSign-ins and API tokens of %s have ended.", password, args[0])
	})
}

func userResetFactorCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "reset-second-factor NAME", Short: "Remove all second factors of a user who lost them, and end their sign-ins",
		Long: "Remove all second factors and recovery codes of a user who lost them, and end their sign-ins. The password stays.\n" +
			"On the server's own host this works for the last superadmin too.",
		Args: cli.Exactly("NAME")}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if err := cl.Users.ResetSecondFactor(ctx, args[0]); err != nil {
			return err
		}
		return c.Say(map[string]string{"user": args[0]}, "%s has no second factor any more. Sign-ins of %s have ended.", args[0], args[0])
	})
}

func userRequireFactorCommand(c *cli.Context) *cobra.Command {
	var off bool
	cmd := &cobra.Command{Use: "require-second-factor", Short: "Require a second factor of everyone in the tenant who signs in with a password",
		Long: "Require a second factor of everyone in the tenant who signs in with a password. Those without one must add it before they can do anything else.", Args: cli.AtMost(0)}
	cmd.Flags().BoolVar(&off, "off", false, "make it optional again")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		if err := cl.Users.RequireSecondFactor(ctx, !off); err != nil {
			return err
		}
		if off {
			return c.Say(map[string]bool{"required": false}, "A second factor is optional.")
		}
		return c.Say(map[string]bool{"required": true}, "A second factor is required.")
	})
}

func userDeleteCommand(c *cli.Context) *cobra.Command {
	var yes bool
	var to string
	cmd := &cobra.Command{
		Use:     "delete NAME",
		Aliases: []string{"rm"},
		Short:   "Delete an account with its tokens",
		Long:    "Delete an account with its tokens. While it owns clusters that are not deleted, --transfer-to must name who gets them.",
		Args:    cli.Exactly("NAME"),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVar(&to, "transfer-to", "", "`user` who gets its clusters")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if err := c.Sure(yes, fmt.Sprintf("Delete the account %s with its tokens", args[0])); err != nil {
			return err
		}
		if err := cl.Users.Delete(ctx, args[0], to); err != nil {
			return err
		}
		return c.Say(map[string]string{"deleted": args[0]}, "User %s is deleted.", args[0])
	})
}
