package chat

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"muster/app/chat"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"

	"github.com/spf13/cobra"
)

// Command looks after Muster in Slack.
func Command(c *cli.Context) *cobra.Command {
	cmd := cli.Family("slack", "Look after Muster in Slack: workspaces, channels, where requests are approved",
		slackShowCommand(c), slackEmailCommand(c), slackRemoveCommand(c), slackChannelCommand(c), slackApprovalsCommand(c))
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

func slackShowCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "show", Aliases: []string{"list", "ls"}, Short: "Show workspaces, channels and connections", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			h, err := cl.Slack.Get(cmd.Context())
			if err != nil {
				return err
			}
			return printSlack(c, h)
		}}
}

func printSlack(c *cli.Context, h chat.ChatHouse) error {
	if c.JSON() {
		return c.PrintJSON(h)
	}
	now := time.Now()
	ago := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return humanize.Duration(now.Sub(t)) + " ago"
	}
	if len(h.Workspaces) == 0 {
		fmt.Fprintln(c.Stdout, "No workspaces. Install Muster into one on the portal's page “Slack”; see docs/slack.md.")
		return nil
	}
	t := cli.NewTable("TEAM", "NAME", "TENANT", "STATE", "HEARD>", "CALLS>", "ERROR")
	for _, w := range h.Workspaces {
		t.Add(w.Team, w.Name, w.Tenant, string(w.State), ago(w.EventAt), strconv.Itoa(w.Calls), cmp.Or(w.Why, w.Error))
	}
	if err := t.Show(c); err != nil {
		return err
	}
	for _, w := range h.Workspaces {
		for _, ch := range w.Channels {
			word := "agreed"
			if !ch.Agreed() {
				word = "one side has agreed"
			}
			fmt.Fprintf(c.Stdout, "Channel %s of %s for %s: %s\n", ch.Channel, w.Team, ch.Tenant, word)
		}
	}
	if a := h.Approvals; a != nil {
		fmt.Fprintf(c.Stdout, "Requests are approved in %s of %s\n", a.Channel, a.Team)
	}
	for _, l := range h.Links {
		fmt.Fprintf(c.Stdout, "Server %s: %s since %s %s\n", l.Server, l.State, humanize.Duration(now.Sub(l.Since)), l.Error)
	}
	return nil
}

// said runs one call and tells what it did.
func said(c *cli.Context, cmd *cobra.Command, method, path string, in any, what string) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	if err := cl.Call(cmd.Context(), method, path, nil, in, nil); err != nil {
		return err
	}
	if c.JSON() {
		return c.PrintJSON(map[string]string{"done": what})
	}
	_, err = fmt.Fprintln(c.Stdout, what)
	return err
}

func slackEmailCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "email TEAM on|off", Short: "Link full members of a workspace to accounts with the same verified address", Args: cli.Exactly("TEAM", "on|off"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] != "on" && args[1] != "off" {
				return cli.Usagef("say on or off, not %q", args[1])
			}
			return said(c, cmd, http.MethodPut, rest.SlackPath(args[0]), map[string]bool{"email_links": args[1] == "on"}, "Linking by address is "+args[1]+" in "+args[0]+".")
		}}
}

func slackRemoveCommand(c *cli.Context) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "remove TEAM", Short: "Forget a workspace's tokens, and stop its cards", Args: cli.Exactly("TEAM"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("removing needs --yes where there is no terminal to confirm on")
			}
			if !yes {
				if err := c.Confirm(cmd.Context(), "Remove the workspace "+args[0]+"?", "the workspace was not removed"); err != nil {
					return err
				}
			}
			return said(c, cmd, http.MethodDelete, rest.SlackPath(args[0]), nil, "The tokens of "+args[0]+" are forgotten. Remove the app in Slack, too.")
		}}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func slackChannelCommand(c *cli.Context) *cobra.Command {
	var name string
	use := &cobra.Command{Use: "use TEAM CHANNEL TENANT", Short: "Agree that a channel speaks for a tenant; it does once admins of both sides have",
		Example: "  muster slack channel use T024BE7LD C024BE91L research", Args: cli.Exactly("TEAM", "CHANNEL", "TENANT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var got chat.ChatChannel
			if err := cl.Call(cmd.Context(), http.MethodPut, rest.SlackPath(args[0], "channels", args[1]), nil, map[string]string{"tenant": args[2], "name": name}, &got); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(got)
			}
			what := fmt.Sprintf("%s speaks for %s now.", got.Channel, got.Tenant)
			if !got.Agreed() {
				what = "Your side has agreed. An admin of the other side has to say the same."
			}
			_, err = fmt.Fprintln(c.Stdout, what)
			return err
		}}
	use.Flags().StringVar(&name, "name", "", "the channel's `name`, for people")
	reset := &cobra.Command{Use: "reset TEAM CHANNEL", Short: "Give a channel back to the tenant of its workspace", Args: cli.Exactly("TEAM", "CHANNEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return said(c, cmd, http.MethodDelete, rest.SlackPath(args[0], "channels", args[1]), nil, args[1]+" speaks for its workspace's tenant again.")
		}}
	return cli.Family("channel", "Say in whose name channels speak", use, reset)
}

func slackApprovalsCommand(c *cli.Context) *cobra.Command {
	set := &cobra.Command{Use: "set TEAM CHANNEL", Short: "Show requests to their approvers in a channel", Args: cli.Exactly("TEAM", "CHANNEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return said(c, cmd, http.MethodPut, "/slack/approvals", map[string]string{"team": args[0], "channel": args[1]}, "Requests are shown in "+args[1]+".")
		}}
	end := &cobra.Command{Use: "end", Short: "Show requests in no channel any more", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return said(c, cmd, http.MethodDelete, "/slack/approvals", nil, "Requests are shown in no channel any more.")
		}}
	return cli.Family("approvals", "Say where requests are shown to those who approve them", set, end)
}
