package notification

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/humanize"
	"muster/app/notification"
	"muster/cmd/muster/cli"
	"muster/portal/wire"
)

// Command lists notifications, marks them as read, and shows and changes preferences.
func Command(c *cli.Context) *cobra.Command {
	var limit int
	var before int64
	var unread bool
	cmd := &cobra.Command{Use: "notifications", Short: "List your notifications, newest first (admins: the tenant's)",
		Long: "List your notifications, newest first: expiring leases, waiting and decided requests, clusters that are ready, failed or lost machines,\n" +
			"budgets and alarms. Admins see those of the whole tenant. With --unread, only unread notifications to you and your groups are listed.\n" +
			"To send notifications elsewhere, use webhooks (`muster webhook`).",
		Example: "  muster notifications\n  muster notifications --unread\n  muster notifications --limit 100 --before 4711", Args: cli.AtMost(0)}
	cmd.Flags().IntVar(&limit, "limit", 20, "maximum `number` of notifications, up to 200")
	cmd.Flags().Int64Var(&before, "before", 0, "only notifications before this `number`")
	cmd.Flags().BoolVar(&unread, "unread", false, "only notifications that you haven't read")
	cmd.AddCommand(readCommand(c), preferencesCommand(c))
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		if unread {
			list, err := cl.Inbox.List(ctx, true, before, limit)
			if err != nil {
				return err
			}
			return showUnread(c, list)
		}
		list, next, err := cl.Notices.List(ctx, before, limit)
		if err != nil {
			return err
		}
		return show(c, list, next)
	})
}

func show(c *cli.Context, list []wire.Notice, next int64) error {
	if c.JSON() {
		return c.PrintJSON(struct {
			Notices []wire.Notice `json:"notifications"`
			Next    int64         `json:"next,omitempty"`
		}{list, next})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "No notifications.")
		return err
	}
	t := cli.NewTable("AGE>", "KIND", "NOTIFICATION")
	for _, n := range list {
		t.Add(humanize.Duration(time.Since(n.At)), string(n.Kind), text(n))
	}
	if err := t.Show(c); err != nil || next == 0 {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "Older notifications: muster notifications --before %d\n", next)
	return err
}

func text(n wire.Notice) string {
	if n.Text != "" {
		return cli.OneLine(n.Title + " " + n.Text)
	}
	return cli.OneLine(n.Title)
}

func showUnread(c *cli.Context, list wire.Inbox) error {
	if c.JSON() {
		return c.PrintJSON(list)
	}
	if len(list.Notifications) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "No unread notifications.")
		return err
	}
	t := cli.NewTable("NUMBER>", "AGE>", "KIND", "NOTIFICATION")
	for _, n := range list.Notifications {
		t.Add(strconv.FormatInt(n.ID, 10), humanize.Duration(time.Since(n.At)), string(n.Kind), text(n.Notice))
	}
	if err := t.Show(c); err != nil {
		return err
	}
	if list.Next != 0 {
		if _, err := fmt.Fprintf(c.Stdout, "Older notifications: muster notifications --unread --before %d\n", list.Next); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(c.Stdout, "Mark all as read: muster notifications read --all")
	return err
}

func readCommand(c *cli.Context) *cobra.Command {
	var all bool
	cmd := &cobra.Command{Use: "read [NUMBER]...", Short: "Mark notifications as read",
		Example: "  muster notifications read 4711\n  muster notifications read --all", Args: cli.AtMost(notification.MostListed)}
	cmd.Flags().BoolVar(&all, "all", false, "mark all notifications")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		if all == (len(args) > 0) {
			return cli.Usagef("name notifications by number, or use --all").Hint("To list them: muster notifications --unread")
		}
		var m notification.Mark
		for _, a := range args {
			id, err := strconv.ParseInt(a, 10, 64)
			if err != nil || id <= 0 {
				return cli.Usagef("%q isn't the number of a notification", a).Hint("To list them: muster notifications --unread")
			}
			m.IDs = append(m.IDs, id)
		}
		n, err := cl.Inbox.Read(ctx, m)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string]int{"read": n})
		}
		_, err = fmt.Fprintf(c.Stdout, "Marked %s as read.\n", humanize.Count(n, "notification"))
		return err
	})
}

func preferencesCommand(c *cli.Context) *cobra.Command {
	var portal, slack, email string
	cmd := &cobra.Command{Use: "preferences [KIND]", Short: "Show or change how you're notified of what",
		Long: "Show by which channels you're notified of each kind of notification. With a kind and channels, change them.",
		Example: "  muster notifications preferences\n  muster notifications preferences ready --email off\n" +
			"  muster notifications preferences health --email on --slack off", Args: cli.AtMost(1)}
	cmd.Flags().StringVar(&portal, "portal", "", "show this kind in the portal: `on` or off")
	cmd.Flags().StringVar(&slack, "slack", "", "send this kind to your Slack account: `on` or off")
	cmd.Flags().StringVar(&email, "email", "", "email this kind: `on` or off")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		var change notification.Change
		for _, f := range []struct {
			name, value string
			to          **bool
		}{{"portal", portal, &change.Portal}, {"slack", slack, &change.Slack}, {"email", email, &change.Email}} {
			on := f.value == "on"
			switch {
			case f.value == "":
			case !on && f.value != "off":
				return cli.Usagef("--%s must be on or off", f.name)
			default:
				*f.to = &on
			}
		}
		changes := change != notification.Change{}
		if changes != (len(args) == 1) {
			return cli.Usagef("name a kind and a channel to change").Hint("For example: muster notifications preferences ready --email off")
		}
		var p notification.Preferences
		var err error
		if changes {
			change.Kind = app.NoticeKind(args[0])
			p, err = cl.Inbox.SavePreferences(ctx, []notification.Change{change})
		} else {
			p, err = cl.Inbox.Preferences(ctx)
		}
		if err != nil {
			return err
		}
		return showPreferences(c, p)
	})
}

func showPreferences(c *cli.Context, p notification.Preferences) error {
	if c.JSON() {
		return c.PrintJSON(p)
	}
	word := func(k app.NoticeKind, channel app.NoticeChannel, on bool) string {
		switch {
		case !notification.Offers(k, channel):
			return "-"
		case on:
			return "on"
		}
		return "off"
	}
	t := cli.NewTable("KIND", "PORTAL", "SLACK", "EMAIL", "ABOUT")
	for _, x := range p.Kinds {
		about := ""
		for _, k := range notification.Kinds {
			if k.Kind == x.Kind {
				about = k.About
			}
		}
		t.Add(string(x.Kind), word(x.Kind, app.ChannelPortal, x.Portal), word(x.Kind, app.ChannelSlack, x.Slack), word(x.Kind, app.ChannelEmail, x.Email), about)
	}
	if err := t.Show(c); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.Stdout, p.SlackState()+"\n"+p.EmailState())
	return err
}
