package identity

import (
	"cmp"
	"context"
	"strings"

	"muster/app/identity"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func GroupCommand(c *cli.Context) *cobra.Command {
	return cli.Family("group", "Manage groups (admins)", groupListCommand(c), groupSaveCommand(c), groupDeleteCommand(c))
}

func groupListCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List groups", Args: cli.AtMost(0)}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		all, err := cl.Groups.List(ctx)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]identity.Group{"groups": all})
		}
		t := cli.NewTable("NAME", "MEMBERS", "DESCRIPTION")
		for _, g := range all {
			t.Add(g.Name, cmp.Or(membersText(g), "-"), cmp.Or(g.About, "-"))
		}
		return t.Show(c)
	})
}

// membersText names the members, with the source of those managed elsewhere.
func membersText(g identity.Group) string {
	var names []string
	for _, m := range g.Members {
		name := m.User
		if !m.Here {
			name += " (" + strings.Join(m.Sources, ", ") + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func groupSaveCommand(c *cli.Context) *cobra.Command {
	change := identity.GroupChange{}
	var about string
	var members []string
	cmd := &cobra.Command{
		Use:     "save NAME",
		Short:   "Create or update a group",
		Example: "  muster group save data --about \"The data team\" --add ada --add bob",
		Args:    cli.Exactly("NAME"),
	}
	flags := cmd.Flags()
	flags.StringVar(&about, "about", "", "one-line `description`")
	flags.StringSliceVar(&members, "members", nil, "comma-separated list of all `users` assigned in Muster; \"\" for none")
	flags.StringSliceVar(&change.Add, "add", nil, "`user` to add; may be repeated")
	flags.StringSliceVar(&change.Remove, "remove", nil, "`user` to remove; may be repeated")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		change.Name = args[0]
		if flags.Changed("about") {
			change.About = &about
		}
		if flags.Changed("members") {
			change.Members = &members
		}
		g, err := cl.Groups.Save(ctx, change)
		if err != nil {
			return err
		}
		return c.Say(g, "Group %s: %s", g.Name, cmp.Or(membersText(g), "no members"))
	})
}

func groupDeleteCommand(c *cli.Context) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete NAME", Aliases: []string{"rm"}, Short: "Delete a group; its members keep their accounts", Args: cli.Exactly("NAME")}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if err := c.Sure(yes, "Delete group "+args[0]); err != nil {
			return err
		}
		if err := cl.Groups.Delete(ctx, args[0]); err != nil {
			return err
		}
		return c.Say(map[string]string{"deleted": args[0]}, "Group %s is deleted.", args[0])
	})
}
