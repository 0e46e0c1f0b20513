package cluster

import (
	"context"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func clusterShareCommand(c *cli.Context) *cobra.Command {
	var with []string
	cmd := &cobra.Command{
		Use:   "share ID|NAME",
		Short: "Share a cluster with people and groups, or show who has access",
		Long: "Share a cluster with people and groups. Without --with, show who has access. Within the limits of their roles, a reader sees\n" +
			"state, events and logs; a user can also sign in to the machines, see the configuration, and start, stop and restart\n" +
			"services; a co-owner has the owner's permissions.",
		Example: "  muster cluster share shop\n  muster cluster share shop --with ana:user --with group:ops:reader",
		Args:    cli.Exactly("ID|NAME"),
	}
	cmd.Flags().StringArrayVar(&with, "with", nil, "share as `who:access`: who is a user or group:NAME, access is reader, user or co-owner; may be repeated")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		var change cluster.SharingChange
		for _, text := range with {
			i := strings.LastIndex(text, ":")
			if i < 0 {
				return cli.Usagef("--with %s has no access level", text).Hint("For example: %s:user.", text)
			}
			share := cluster.ShareWith(text[:i])
			if err := share.Access.UnmarshalText([]byte(text[i+1:])); err != nil {
				return cli.Usagef("--with %s: %s", text, app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
			}
			change.Add = append(change.Add, share)
		}
		if len(change.Add) > 0 {
			return share(ctx, c, cl, args[0], change)
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

func clusterUnshareCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "unshare ID|NAME WHO...",
		Short:   "Stop sharing a cluster with people and groups",
		Long:    "Stop sharing a cluster with people and groups. If they've copied the cluster's SSH key, it still works.",
		Example: "  muster cluster unshare shop ana group:ops",
		Args:    cobra.MinimumNArgs(2),
	}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		var change cluster.SharingChange
		for _, who := range args[1:] {
			change.Remove = append(change.Remove, cluster.ShareWith(who))
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
		return share(ctx, c, cl, args[0], cluster.SharingChange{Visibility: app.Visibility(args[1])})
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

func share(ctx context.Context, c *cli.Context, cl *cli.Client, word string, change cluster.SharingChange) error {
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

func printSharing(c *cli.Context, s cluster.ClusterSharing) error {
	if c.JSON() {
		return c.PrintJSON(s)
	}
	t := cli.NewTable("USER OR GROUP", "ACCESS")
	t.Add(s.Owner, app.AccessOwner.String())
	if s.OwnerGroup != "" {
		t.Add(cluster.Share{Group: s.OwnerGroup}.Name(), app.AccessOwner.String())
	}
	for _, one := range s.Shares {
		t.Add(one.Name(), one.Access.String())
	}
	if s.Visibility == app.VisibleTenant {
		t.Add("everyone in the tenant", app.AccessReader.String())
	}
	return t.Show(c)
}
