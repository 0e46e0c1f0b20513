package cluster

import (
	"context"
	"strings"
	"time"

	"muster/app"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
	"muster/app/sharing"
	"muster/app/template"
)

func clusterShareCommand(c *cli.Context) *cobra.Command {
	var with []string
	var access, length, until string
	cmd := &cobra.Command{
		Use:   "share ID|NAME [WHO...]",
		Short: "Share a cluster with people and groups, or show who has access",
		Long: "Share a cluster with people and groups (group:NAME), for good or until a time. Without WHO and --with, show who has access. Within the\n" +
			"limits of their roles, a reader sees state, events and logs; a user can also sign in to the machines, see the configuration, and\n" +
			"start, stop and restart services; a co-owner has the owner's permissions. To change access or its end, share the cluster again.",
		Example: "  muster cluster share shop\n  muster cluster share shop bob --access user --for 8h\n" +
			"  muster cluster share shop group:ops --until 2026-12-01T18:00\n  muster cluster share shop --with ana:user --with group:ops:reader",
		Args: cobra.MinimumNArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&access, "access", "reader", "access of each WHO: reader, user or co-owner")
	flags.StringVar(&length, "for", "", "`duration` after which access ends, such as 8h, 1d or 2w")
	flags.StringVar(&until, "until", "", "`time` at which access ends, in this computer's time zone: 2026-12-01T18:00, or with another one")
	flags.StringArrayVar(&with, "with", nil, "share as `who:access`: who is a user or group:NAME, access is reader, user or co-owner; may be repeated")
	cmd.MarkFlagsMutuallyExclusive("for", "until")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		for _, who := range args[1:] {
			with = append(with, who+":"+access)
		}
		change := sharing.SharingChange{}
		for _, text := range with {
			one, err := readShare(text, length, until)
			if err != nil {
				return err
			}
			change.Add = append(change.Add, one)
		}
		if len(change.Add) > 0 {
			return share(ctx, c, cl, args[0], change)
		}
		if length != "" || until != "" || cmd.Flags().Changed("access") {
			return cli.Usagef("who to share the cluster with is missing").Hint("For example: muster cluster share %s bob --access user --for 8h", args[0])
		}
		v, err := find(ctx, cl, args[0], false)
		if err != nil {
			return err
		}
		s, err := cl.Sharing.Get(ctx, v.ID)
		if err != nil {
			return err
		}
		return printSharing(c, s)
	})
}

// readShare reads who:access.
func readShare(text, length, until string) (sharing.Share, error) {
	i := strings.LastIndex(text, ":")
	if i < 0 {
		return sharing.Share{}, cli.Usagef("--with %s has no access level", text).Hint("For example: %s:user.", text)
	}
	one := sharing.With(text[:i])
	one.For = length
	err := one.Access.UnmarshalText([]byte(text[i+1:]))
	if err == nil && until != "" {
		one.Until, err = template.ParseMomentIn(until, time.Local)
	}
	if err != nil {
		return one, cli.Usagef("%s: %s", text, app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
	}
	return one, nil
}

func clusterUnshareCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "unshare ID|NAME WHO...",
		Short:   "Stop sharing a cluster with people and groups",
		Long:    "Stop sharing a cluster with people and groups. If they've copied the cluster's SSH key, it still works.",
		Example: "  muster cluster unshare shop ana group:ops",
		Args:    cobra.MinimumNArgs(2),
	}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		var change sharing.SharingChange
		for _, who := range args[1:] {
			change.Remove = append(change.Remove, sharing.With(who))
		}
		return share(ctx, c, cl, args[0], change)
	})
}

func clusterVisibilityCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "visibility ID|NAME private|tenant",
		Short:   "Make a cluster private, or visible to everyone in the tenant",
		Example: "  muster cluster visibility shop private",
		Args:    cli.Exactly("ID|NAME", "private|tenant"),
	}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		return share(ctx, c, cl, args[0], sharing.SharingChange{Visibility: app.Visibility(args[1])})
	})
}

func TenantVisibilityCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "visibility [private|tenant]",
		Short: "Show or set who can see the tenant's new clusters",
		Long:  "Show, or as an admin set, whether the tenant's new clusters are private or visible to everyone in the tenant. Existing clusters don't change.",
		Args:  cli.AtMost(1),
	}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if len(args) == 1 {
			if err := cl.Sharing.SetDefaultVisibility(ctx, app.Visibility(args[0])); err != nil {
				return err
			}
		}
		v, err := cl.Sharing.DefaultVisibility(ctx)
		if err != nil {
			return err
		}
		return c.Say(map[string]app.Visibility{"visibility": v}, "%s", v)
	})
}

func share(ctx context.Context, c *cli.Context, cl *cli.Client, word string, change sharing.SharingChange) error {
	v, err := find(ctx, cl, word, false)
	if err != nil {
		return err
	}
	s, err := cl.Sharing.Change(ctx, v.ID, change)
	if err != nil {
		return err
	}
	return printSharing(c, s)
}

func printSharing(c *cli.Context, s sharing.ClusterSharing) error {
	if c.JSON() {
		return c.PrintJSON(s)
	}
	t := cli.NewTable("USER OR GROUP", "ACCESS", "ENDS")
	t.Add(s.Owner, app.AccessOwner.String(), "")
	if s.OwnerGroup != "" {
		t.Add(sharing.Share{Group: s.OwnerGroup}.Name(), app.AccessOwner.String(), "")
	}
	for _, one := range s.Shares {
		t.Add(one.Name(), one.Access.String(), untilText(one))
	}
	if s.Visibility == app.VisibleTenant {
		t.Add("everyone in the tenant", app.AccessReader.String(), "")
	}
	return t.Show(c)
}

func untilText(s sharing.Share) string {
	if s.Until.IsZero() {
		return ""
	}
	return "until " + cli.Time(s.Until)
}
