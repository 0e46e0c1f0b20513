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

// Command manages Muster in Slack.
func Command(c *cli.Context) *cobra.Command {
	cmd := cli.Family("slack", "Manage Slack workspaces, channels and approvals",
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

func printSlack(c *cli.Context, h chat.Settings) error {
	if c.JSON() {
		return c.PrintJSON(h)
	}
	now := time.Now()
	ago := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return humanize.Ago(now, t)
	}
	if len(h.Workspaces) == 0 {
		fmt.Fprintln(c.Stdout, "No workspaces. Install Muster in one on the portal's Slack page; see docs/slack.md.")
		return nil
	}
	t := cli.NewTable("TEAM", "NAME", "TENANT", "STATE", "LAST EVENT>", "CALLS>", "ERROR")
	for _, w := range h.Workspaces {
		t.Add(w.Team, w.Name, w.Tenant, string(w.State), ago(w.EventAt), strconv.Itoa(w.Calls), cmp.Or(w.Problem, w.Error))
	}
	if err := t.Show(c); err != nil {
		return err
	}
	for _, w := range h.Workspaces {
		for _, ch := range w.Channels {
			word := "agreed"
			if !ch.Agreed() {
				word = "waiting for the other side's approval"
			}
			fmt.Fprintf(c.Stdout, "Channel %s of %s for tenant %s: %s\n", ch.Channel, w.Team, ch.Tenant, word)
		}
	}
	if a := h.Approvals; a != nil {
		fmt.Fprintf(c.Stdout, "Approval channel: %s of %s\n", a.Channel, a.Team)
	}
	for _, l := range h.Links {
		fmt.Fprintf(c.Stdout, "Server %s: %s for %s %s\n", l.Server, l.State, humanize.Duration(now.Sub(l.Since)), l.Error)
	}
	return nil
}

// said runs one call and prints its result.
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
	return &cobra.Command{Use: "email TEAM on|off", Short: "Link members of a workspace to accounts by verified email address", Args: cli.Exactly("TEAM", "on|off"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] != "on" && args[1] != "off" {
				return cli.Usagef("choose on or off, not %q", args[1])
			}
			return said(c, cmd, http.MethodPut, rest.SlackPath(args[0]), map[string]bool{"email_links": args[1] == "on"}, "Linking by email address is "+args[1]+" in "+args[0]+".")
		}}
}

func slackRemoveCommand(c *cli.Context) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "remove TEAM", Short: "Remove a workspace and its tokens from Muster", Args: cli.Exactly("TEAM"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !cli.IsTerminal(c.Stdin) {
				return cli.Usagef("--yes is required without a terminal to confirm on")
			}
			if !yes {
				if err := c.Confirm(cmd.Context(), "Remove workspace "+args[0]+"?", "workspace "+args[0]+" was not removed"); err != nil {
					return err
				}
			}
			return said(c, cmd, http.MethodDelete, rest.SlackPath(args[0]), nil, "Removed workspace "+args[0]+" and its tokens. Remove the app in Slack too.")
		}}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

func slackChannelCommand(c *cli.Context) *cobra.Command {
	var name string
	use := &cobra.Command{Use: "use TEAM CHANNEL TENANT", Short: "Assign a channel to a tenant (admins of both tenants must do this)",
		Example: "  muster slack channel use T024BE7LD C024BE91L research", Args: cli.Exactly("TEAM", "CHANNEL", "TENANT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var got chat.Channel
			if err := cl.Call(cmd.Context(), http.MethodPut, rest.SlackPath(args[0], "channels", args[1]), nil, map[string]string{"tenant": args[2], "name": name}, &got); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(got)
			}
			what := fmt.Sprintf("Channel %s now belongs to tenant %s.", got.Channel, got.Tenant)
			if !got.Agreed() {
				what = "Your approval is recorded. An admin of the other tenant must run the same command."
			}
			_, err = fmt.Fprintln(c.Stdout, what)
			return err
		}}
	use.Flags().StringVar(&name, "name", "", "display `name` of the channel")
	reset := &cobra.Command{Use: "reset TEAM CHANNEL", Short: "Reset a channel to the tenant of its workspace", Args: cli.Exactly("TEAM", "CHANNEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return said(c, cmd, http.MethodDelete, rest.SlackPath(args[0], "channels", args[1]), nil, "Channel "+args[1]+" belongs to its workspace's tenant again.")
		}}
	return cli.Family("channel", "Assign channels to tenants", use, reset)
}

func slackApprovalsCommand(c *cli.Context) *cobra.Command {
	set := &cobra.Command{Use: "set TEAM CHANNEL", Short: "Set the channel for approval requests", Args: cli.Exactly("TEAM", "CHANNEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return said(c, cmd, http.MethodPut, "/slack/approvals", map[string]string{"team": args[0], "channel": args[1]}, "Approval requests are posted in "+args[1]+".")
		}}
	end := &cobra.Command{Use: "end", Short: "Stop posting approval requests in a channel", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return said(c, cmd, http.MethodDelete, "/slack/approvals", nil, "Approval requests are no longer posted in a channel.")
		}}
	return cli.Family("approvals", "Set where approval requests are posted", set, end)
}
