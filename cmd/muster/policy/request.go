package policy

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/operation"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

func RequestCommand(c *cli.Context) *cobra.Command {
	return cli.Family("request", "List, review, confirm and withdraw requests", requestListCommand(c), requestShowCommand(c),
		requestReviewCommand(c, "approve", "Approve a request", appcluster.VerdictApprove),
		requestReviewCommand(c, "deny", "Deny a request", appcluster.VerdictDeny),
		requestReviewCommand(c, "offer", "Approve a request with fewer nodes or a shorter lease, for the requester to confirm", appcluster.VerdictConditions),
		requestConfirmCommand(c), requestWithdrawCommand(c), requestRunNowCommand(c), requestBreakCommand(c))
}

// requestNumber parses a request's number.
func requestNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, cli.Usagef("%q isn't a request number", text).Hint("List requests: muster request list")
	}
	return id, nil
}

func requestListCommand(c *cli.Context) *cobra.Command {
	var mine, inbox bool
	var f appcluster.RequestFilter
	var status string
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List requests, newest first", Args: cli.AtMost(0)}
	flags := cmd.Flags()
	flags.BoolVar(&mine, "mine", false, "only your own requests")
	flags.BoolVar(&inbox, "inbox", false, "only requests waiting for you")
	flags.StringVar(&status, "status", "", "filter by `status`: waiting, offered, scheduled, accepted, refused, denied, expired or withdrawn")
	flags.IntVar(&f.Limit, "limit", 0, "maximum `number` of requests (default 100)")
	flags.Int64Var(&f.Before, "before", 0, "only requests before this `number`")
	cmd.MarkFlagsMutuallyExclusive("mine", "inbox")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		f.Status = appcluster.RequestStatus(status)
		switch {
		case mine:
			f.View = appcluster.RequestsMine
		case inbox:
			f.View = appcluster.RequestsInbox
		}
		list, err := cl.Requests.List(ctx, f)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string][]appcluster.Request{"requests": list})
		}
		t := cli.NewTable("NUMBER>", "NAME", "TEMPLATE", "NODES>", "COST/H>", "BY", "REQUESTED", "STATUS")
		for _, r := range list {
			t.Add(strconv.FormatInt(r.ID, 10), cmp.Or(r.Spec.Name, "-"), r.Spec.Template, strconv.Itoa(r.Terms.Layout.Size()), humanize.Price(r.Terms.Layout.CostPerHour, r.Terms.Layout.Currency),
				r.Requester, humanize.Ago(time.Now(), r.RequestedAt), requestState(r))
		}
		return t.Show(c)
	})
}

// requestState describes a request's status.
func requestState(r appcluster.Request) string {
	switch {
	case r.Status == appcluster.RequestWaiting:
		return "waiting for " + cli.RequestNeeds(r)
	case r.Status == appcluster.RequestScheduled:
		return "scheduled for " + r.Window.Text()
	case r.Status == appcluster.RequestAccepted && r.Override:
		return "accepted by emergency override"
	}
	return string(r.Status)
}

func requestShowCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "show NUMBER", Short: "Show a request: its plan, policy decisions and approvals", Args: cli.Exactly("NUMBER")}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		r, err := cl.Requests.Get(ctx, id)
		if err != nil {
			return err
		}
		return printRequest(c, r)
	})
}

func printRequest(c *cli.Context, r appcluster.Request) error {
	if c.JSON() {
		return c.PrintJSON(r)
	}
	line := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(c.Stdout, "%-12s%s\n", name, text)
		}
	}
	line("Request", "%d, %s", r.ID, requestState(r))
	line("Requested", "by %s, %s: %s", r.Requester, humanize.Ago(time.Now(), r.RequestedAt), r.Title())
	line("Cluster", "%s", r.Cluster)
	printTerms(line, r.Terms)
	for _, s := range r.Decision.Said {
		line("Policy", "%s (%s) %s", s.Policy, s.Effect, s.Text)
	}
	for _, ch := range r.Decision.Changes {
		line("Changed", "%s", ch.Sentence())
	}
	for _, n := range r.Approvals {
		line("Approvals", "%s; so far: %s", n.Text(), cmp.Or(strings.Join(n.Approved, ", "), "none"))
	}
	for _, v := range r.Reviews {
		line("Review", "%s: %s %s", v.Reviewer, v.Decision, v.Reason)
	}
	if o := r.Offer; o != nil {
		line("Offer", "by %s: %s", o.By, o.Reason)
		printTerms(line, o.Terms)
		fmt.Fprintf(c.Stdout, "\nAccept the offer:  muster request confirm %d\n", r.ID)
	}
	line("Message", "%s", r.Message)
	if r.Status.Open() && !r.ExpiresAt.IsZero() {
		line("Expires", "in %s", humanize.Duration(time.Until(r.ExpiresAt)))
	}
	return nil
}

func printTerms(line func(name, format string, args ...any), t appcluster.Terms) {
	line("  result", "%s, lease %s, %s per hour, plan %.10s", humanize.Count(t.Layout.Size(), "node"), cluster.LeaseText(t.Lease), t.Layout.Price(), t.PlanHash)
	for _, g := range t.Layout.Groups {
		line("", "%d x %s with %s: %s", g.Count, g.Hardware, g.Image, strings.Join(g.Services, ", "))
	}
	if a := t.Updated; a != nil {
		line("  before", "%s, %s per hour", humanize.Count(a.Before.Nodes, "node"), humanize.Price(a.Before.CostPerHour, a.Before.Currency))
		for _, effect := range a.Effects {
			line("", "%s", effect)
		}
		for _, v := range a.Changes {
			line("  value", "%s: %s -> %s", v.Path, cmp.Or(v.Before, "(unset)"), cmp.Or(v.After, "(unset)"))
		}
		for _, note := range a.Notes {
			line("  note", "%s", note)
		}
	}
}

func requestReviewCommand(c *cli.Context, name, short string, verdict appcluster.ReviewDecision) *cobra.Command {
	var reason, lease, hash string
	var conditions operation.Conditions
	cmd := &cobra.Command{Use: name + " NUMBER", Short: short, Args: cli.Exactly("NUMBER")}
	cmd.Flags().StringVarP(&reason, "reason", "r", "", "`reason`, shown to the requester")
	cmd.Flags().StringVar(&hash, "plan", "", "`hash` of the plan you reviewed (default: the one shown now)")
	if verdict == appcluster.VerdictConditions {
		cmd.Flags().IntVarP(&conditions.Size, "size", "n", 0, "`number` of nodes, fewer than requested")
		cmd.Flags().StringVar(&lease, "lease", "", "lease `duration`, shorter than requested, such as 8h or 7d")
	}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		if d, err := cluster.ParseLease(lease); err != nil {
			return err
		} else if d != nil {
			conditions.Lease = *d
		}
		if hash, err = planShown(ctx, c, cl, id, hash, false); err != nil {
			return err
		}
		r, err := cl.Requests.Review(ctx, id, operation.ReviewRequest{Verdict: verdict, Reason: reason, PlanHash: hash, Conditions: conditions})
		if err != nil {
			return err
		}
		return c.Say(r, "Request %d: %s%s", r.ID, requestState(r), toCluster(r))
	})
}

// planShown shows a request on stderr and returns its plan's hash, so that a review applies to exactly the plan shown.
func planShown(ctx context.Context, c *cli.Context, cl *cli.Client, id int64, hash string, offer bool) (string, error) {
	if hash != "" {
		return hash, nil
	}
	r, err := cl.Requests.Get(ctx, id)
	if err != nil {
		return "", err
	}
	t := r.Terms
	if offer && r.Offer != nil {
		t = r.Offer.Terms
	}
	fmt.Fprintf(c.Stderr, "%s, by %s: %s, lease %s, %s per hour, plan %.10s\n", r.Title(), r.Requester, humanize.Count(t.Layout.Size(), "node"), cluster.LeaseText(t.Lease),
		t.Layout.Price(), t.PlanHash)
	return t.PlanHash, nil
}

func toCluster(r appcluster.Request) string {
	if r.Cluster == "" {
		return ""
	}
	return "\nFollow the logs:  muster cluster logs " + r.Cluster + " -f"
}

func requestConfirmCommand(c *cli.Context) *cobra.Command {
	var hash string
	cmd := &cobra.Command{Use: "confirm NUMBER", Short: "Accept an offer for your request", Args: cli.Exactly("NUMBER")}
	cmd.Flags().StringVar(&hash, "plan", "", "`hash` of the plan you reviewed (default: the one offered now)")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		if hash, err = planShown(ctx, c, cl, id, hash, true); err != nil {
			return err
		}
		r, err := cl.Requests.Act(ctx, id, "confirm", map[string]string{"plan_hash": hash})
		if err != nil {
			return err
		}
		return c.Say(r, "Request %d: %s%s", r.ID, requestState(r), toCluster(r))
	})
}

func requestWithdrawCommand(c *cli.Context) *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: "withdraw NUMBER", Short: "Withdraw a request or decline an offer", Args: cli.Exactly("NUMBER")}
	cmd.Flags().StringVarP(&reason, "reason", "r", "", "`reason`, recorded with the request")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		r, err := cl.Requests.Act(ctx, id, "withdraw", map[string]string{"reason": reason})
		if err != nil {
			return err
		}
		return c.Say(r, "Request %d: %s", r.ID, requestState(r))
	})
}

func requestRunNowCommand(c *cli.Context) *cobra.Command {
	var reason, hash string
	cmd := &cobra.Command{Use: "run-now NUMBER --reason TEXT", Short: "Start a change before its maintenance window",
		Long: "Start a change that waits for its maintenance window. Approvers and admins can do this; where a cluster has its own windows, also people\n" +
			"who can change them. The requester sees your name and reason.", Args: cli.Exactly("NUMBER")}
	cmd.Flags().StringVarP(&reason, "reason", "r", "", "`reason` why it can't wait")
	cmd.Flags().StringVar(&hash, "plan", "", "`hash` of the plan you reviewed (default: the one shown now)")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		if hash, err = planShown(ctx, c, cl, id, hash, false); err != nil {
			return err
		}
		r, err := cl.Requests.Act(ctx, id, "run-now", map[string]string{"plan_hash": hash, "reason": reason})
		if err != nil {
			return err
		}
		return c.Say(r, "Request %d: %s%s", r.ID, requestState(r), toCluster(r))
	})
}

func requestBreakCommand(c *cli.Context) *cobra.Command {
	var reason, hash string
	cmd := &cobra.Command{Use: "break-glass NUMBER --reason TEXT", Short: "Accept a request without approvals in an emergency; this raises an alarm",
		Long: "Use the emergency override: accept a request right away, without approvals. Everyone involved is notified of your name and reason.\n" +
			"You must re-authenticate, which isn't possible with a token: use the portal.", Args: cli.Exactly("NUMBER")}
	cmd.Flags().StringVarP(&reason, "reason", "r", "", "`reason` for the emergency override; at least 10 characters")
	cmd.Flags().StringVar(&hash, "plan", "", "`hash` of the plan you reviewed (default: the one shown now)")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		if hash, err = planShown(ctx, c, cl, id, hash, false); err != nil {
			return err
		}
		r, err := cl.Requests.Act(ctx, id, "break-glass", map[string]string{"plan_hash": hash, "reason": reason})
		if err != nil {
			return err
		}
		return c.Say(r, "Request %d: %s%s", r.ID, requestState(r), toCluster(r))
	})
}
