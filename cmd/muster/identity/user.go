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
	return cli.Family("user", "Manage users (admins)", userListCommand(c), userCreateCommand(c), userShowCommand(c), userChangeCommand(c),
		userResetCommand(c), userResetFactorCommand(c), userRequireFactorCommand(c), userDeleteCommand(c))
}

// rolesText lists the roles for help.
func rolesText() string {
	var names []string
	for _, r := range app.Roles {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

func userListCommand(c *cli.Context) *cobra.Command {
	var f identity.UserFilter
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List users", Args: cli.AtMost(0)}
	cmd.Flags().StringVar(&f.Search, "search", "", "filter by `text` in name, full name or email address")
	cmd.Flags().StringVar((*string)(&f.Role), "role", "", "filter by `role`")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		all, err := cl.Users.List(ctx, f)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]identity.User{"users": all})
		}
		t := cli.NewTable("NAME", "ROLE", "GROUPS", "STATE", "LAST SEEN>", "FULL NAME")
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
	cmd := &cobra.Command{Use: "show NAME", Short: "Show a user and what they own", Args: cli.Exactly("NAME")}
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
	for _, line := range [][2]string{{"Role", string(v.Role)}, {"State", userState(v.User)}, {"Email",
		emailsOf(v.User)}, {"Groups", strings.Join(v.Groups, ", ")},
		{"Clusters", strings.Join(v.Clusters, ", ")}, {"Tokens", strconv.Itoa(v.Tokens)}, {"Last seen", cli.Since(v.SeenAt)}, {"Created by", v.CreatedBy}} {
		fmt.Fprintf(c.Stdout, "%-10s %s\n", line[0], cmp.Or(line[1], "-"))
	}
	return nil
}

// emailsOf lists a user's addresses, with whether each is confirmed.
func emailsOf(u identity.User) string {
	var list []string
	if u.Email != "" {
		list = append(list, u.Email+" (confirmed)")
	}
	if u.PendingEmail != "" {
		list = append(list, u.PendingEmail+" (not confirmed yet)")
	}
	return strings.Join(list, ", ")
}

func userCreateCommand(c *cli.Context) *cobra.Command {
	var n identity.NewUser
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a user",
		Long: "Create a user in the tenant. The one-time password is printed only once and must be changed at the first sign-in.\n" +
			"Robot accounts have no password: create a token for them with `muster token create LABEL --user NAME`.",
		Example: "  muster user create ada --role approver --full-name \"Ada Lovelace\" --group data",
		Args:    cli.Exactly("NAME"),
	}
	flags := cmd.Flags()
	flags.StringVar((*string)(&n.Role), "role", string(app.RoleUser), "`role`: "+rolesText())
	flags.StringVar(&n.FullName, "full-name", "", "full `name`")
	flags.StringVar(&n.Email, "email", "", "email `address`")
	flags.StringSliceVar(&n.Groups, "group", nil, "`group` to add the user to; may be repeated")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		n.Name = args[0]
		m, err := cl.Users.Create(ctx, n)
		if err != nil {
			return err
		}
		if m.Password == "" {
			return c.Say(m, "Created robot account %s. Create a token for it: muster token create LABEL --user %s", n.Name, n.Name)
		}
		return c.Say(m, "Created user %s with role %s.\nPassword  %s   (must be changed at the first sign-in; shown only once)", n.Name, n.Role, m.Password)
	})
}

func userChangeCommand(c *cli.Context) *cobra.Command {
	var fullName, email, role string
	var groups []string
	var disable, enable bool
	cmd := &cobra.Command{
		Use:   "change NAME",
		Short: "Update or disable a user",
		Long:  "Update a user's role, groups or name, or disable the user. Changes apply immediately: sessions and tokens of a disabled user stop working at the next request.",
		Args:  cli.Exactly("NAME"),
	}
	flags := cmd.Flags()
	flags.StringVar(&role, "role", "", "`role`: "+rolesText())
	flags.StringVar(&fullName, "full-name", "", "full `name`")
	flags.StringVar(&email, "email", "", "email `address`")
	flags.StringSliceVar(&groups, "groups", nil, "comma-separated list of all `groups` assigned in Muster; \"\" for none")
	flags.BoolVar(&disable, "disable", false, "disable the user, with all sessions and tokens")
	flags.BoolVar(&enable, "enable", false, "enable the user again")
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
			return cli.Usagef("--disable and --enable can't be combined")
		}
		if disable || enable {
			change.Disabled = &disable
		}
		if change == (identity.UserChange{}) {
			return cli.Usagef("no changes given").Hint("See `muster user change --help`.")
		}
		v, err := cl.Users.Change(ctx, args[0], change)
		if err != nil {
			return err
		}
		return printUser(c, v)
	})
}

func userResetCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "reset-password NAME", Short: "Reset a user's password, and end their sessions and API tokens", Args: cli.Exactly("NAME")}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		password, err := cl.Users.ResetPassword(ctx, args[0])
		if err != nil {
			return err
		}
		return c.Say(map[string]string{"user": args[0], "password": password}, "Password  %s   (must be changed at the next sign-in; shown only once)\nAll sessions and API tokens of %s are revoked.", password, args[0])
	})
}

func userResetFactorCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "reset-second-factor NAME", Short: "Remove a user's second factors, and end their sessions",
		Long: "Remove all second factors and recovery codes of a user who lost them, and end their sessions. The password stays the same.\n" +
			"On the server's own host this also works for the last superadmin.",
		Args: cli.Exactly("NAME")}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if err := cl.Users.ResetSecondFactor(ctx, args[0]); err != nil {
			return err
		}
		return c.Say(map[string]string{"user": args[0]}, "Removed the second factors of %s. All sessions of %s are revoked.", args[0], args[0])
	})
}

func userRequireFactorCommand(c *cli.Context) *cobra.Command {
	var off bool
	cmd := &cobra.Command{Use: "require-second-factor", Short: "Require a second factor for password sign-ins",
		Long: "Require a second factor from everyone in the tenant who signs in with a password. People without one must add it before they can do anything else.", Args: cli.AtMost(0)}
	cmd.Flags().BoolVar(&off, "off", false, "make it optional again")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		if err := cl.Users.RequireSecondFactor(ctx, !off); err != nil {
			return err
		}
		if off {
			return c.Say(map[string]bool{"required": false}, "A second factor is now optional.")
		}
		return c.Say(map[string]bool{"required": true}, "A second factor is now required.")
	})
}

func userDeleteCommand(c *cli.Context) *cobra.Command {
	var yes bool
	var to string
	cmd := &cobra.Command{
		Use:     "delete NAME",
		Aliases: []string{"rm"},
		Short:   "Delete a user and their tokens",
		Long:    "Delete a user and their tokens. If the user still owns clusters, --transfer-to is required.",
		Args:    cli.Exactly("NAME"),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	cmd.Flags().StringVar(&to, "transfer-to", "", "`user` to transfer clusters to")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if err := c.Sure(yes, fmt.Sprintf("Delete user %s and their tokens", args[0])); err != nil {
			return err
		}
		if err := cl.Users.Delete(ctx, args[0], to); err != nil {
			return err
		}
		return c.Say(map[string]string{"deleted": args[0]}, "User %s is deleted.", args[0])
	})
}
