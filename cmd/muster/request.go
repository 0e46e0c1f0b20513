package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
)

func requestCommand(c *cli) *cobra.Command {
	return family("request", "List what was asked for; approve, deny, confirm or withdraw it", requestListCommand(c), requestShowCommand(c),
		requestReviewCommand(c, "approve", "Approve a request", app.VerdictApprove),
		requestReviewCommand(c, "deny", "Deny a request; one no is enough", app.VerdictDeny),
		requestReviewCommand(c, "offer", "Approve a request with fewer nodes or a shorter lease; who asked has to confirm", app.VerdictConditions),
		requestConfirmCommand(c), requestWithdrawCommand(c), requestBreakCommand(c))
}

// requestNumber reads the argument of a command about one request.
func requestNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, usagef("%q is not the number of a request", text).hint("See: muster request list")
	}
	return id, nil
}

func requestListCommand(c *cli) *cobra.Command {
	var mine, inbox bool
	var f app.RequestFilter
	var status string
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List requests, newest first", Args: atMost(0)}
	flags := cmd.Flags()
	flags.BoolVar(&mine, "mine", false, "only those that you asked for")
	flags.BoolVar(&inbox, "inbox", false, "only those that wait for you")
	flags.StringVar(&status, "status", "", "only those in this `state`: waiting, offered, accepted, refused, denied, expired, withdrawn")
	flags.IntVar(&f.Limit, "limit", 0, "at most so `many` (default 100)")
	flags.Int64Var(&f.Before, "before", 0, "only those with a smaller `number`")
	cmd.MarkFlagsMutuallyExclusive("mine", "inbox")
	return c.asks(cmd, func(ctx context.Context, cl *client, _ []string) error {
		f.Status = app.RequestStatus(status)
		switch {
		case mine:
			f.View = app.RequestsMine
		case inbox:
			f.View = app.RequestsInbox
		}
		list, err := cl.Requests(ctx, f)
		if err != nil {
			return err
		}
		if c.json() {
			return c.printJSON(map[string][]app.Request{"requests": list})
		}
		t := newTable("NUMBER>", "NAME", "TEMPLATE", "NODES>", "COST/H>", "BY", "ASKED", "STATUS")
		for _, r := range list {
			t.add(strconv.FormatInt(r.ID, 10), firstOf(r.Asked.Name, "-"), r.Asked.Template, strconv.Itoa(r.Terms.Layout.Size()), money(r.Terms.Layout.CostPerHour),
				r.Requester, span(time.Since(r.AskedAt))+" ago", requestState(r))
		}
		return t.show(c)
	})
}

// requestState says how a request stands.
func requestState(r app.Request) string {
	switch {
	case r.Status == app.RequestWaiting:
		return "waits for " + requestNeeds(r)
	case r.Status == app.RequestAccepted && r.Broken:
		return "accepted, glass broken"
	}
	return string(r.Status)
}

func requestShowCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "show NUMBER", Short: "Show a request: what it comes to, what policies said, who approved", Args: exactly("NUMBER")}
	return c.asks(cmd, func(ctx context.Context, cl *client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		r, err := cl.Request(ctx, id)
		if err != nil {
			return err
		}
		return printRequest(c, r)
	})
}

func printRequest(c *cli, r app.Request) error {
	if c.json() {
		return c.printJSON(r)
	}
	line := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(c.stdout, "%-12s%s\n", name, text)
		}
	}
	line("Request", "%d, %s", r.ID, requestState(r))
	line("Asked", "by %s, %s ago: %s", r.Requester, span(time.Since(r.AskedAt)), r.Title())
	line("Cluster", "%s", r.Cluster)
	printTerms(c, line, r.Terms)
	for _, s := range r.Decision.Said {
		line("Policy", "%s (%s) %s", s.Policy, s.Effect, s.Text)
	}
	for _, ch := range r.Decision.Changes {
		line("Changed", "the lease, from %s to %s: %s", leaseText(ch.From), leaseText(ch.To), firstOf(ch.Reason, ch.Policy))
	}
	for _, n := range r.Needs {
		line("Approvals", "%d of %s; so far: %s", len(n.Approved), n.Words(), firstOf(strings.Join(n.Approved, ", "), "nobody"))
	}
	for _, v := range r.Reviews {
		line("Review", "%s: %s %s", v.Who, v.Verdict, v.Reason)
	}
	if o := r.Offer; o != nil {
		line("Offer", "by %s: %s", o.By, o.Reason)
		printTerms(c, line, o.Terms)
		fmt.Fprintf(c.stdout, "\nTake it:  muster request confirm %d\n", r.ID)
	}
	line("Message", "%s", r.Message)
	if r.Status.Open() {
		line("Expires", "in %s", span(time.Until(r.ExpiresAt)))
	}
	return nil
}

func printTerms(c *cli, line func(name, format string, args ...any), t app.Terms) {
	line("  comes to", "%s, lease %s, %s an hour, plan %.10s", plural(t.Layout.Size(), "node"), leaseText(t.Lease), priceOf(t.Layout), t.PlanHash)
	for _, g := range t.Layout.Groups {
		line("", "%d x %s with %s: %s", g.Count, g.Hardware, g.Image, strings.Join(g.Services, ", "))
	}
	if a := t.Amended; a != nil {
		line("  before", "%s, %s an hour", plural(a.Before.Nodes, "node"), money(a.Before.CostPerHour))
		for _, effect := range a.Effects {
			line("", "%s", effect)
		}
		for _, v := range a.Changes {
			line("  value", "%s: %s -> %s", v.Path, firstOf(v.Before, "(nothing)"), firstOf(v.After, "(nothing)"))
		}
		for _, note := range a.Notes {
			line("  note", "%s", note)
		}
	}
}

func requestReviewCommand(c *cli, name, short string, verdict app.Verdict) *cobra.Command {
	var reason, lease, hash string
	var conditions app.Conditions
	cmd := &cobra.Command{Use: name + " NUMBER", Short: short, Args: exactly("NUMBER")}
	cmd.Flags().StringVarP(&reason, "reason", "r", "", "`why`; told to who asked")
	cmd.Flags().StringVar(&hash, "plan", "", "`hash` of the plan that you have seen (default: the one that is shown now)")
	if verdict == app.VerdictConditions {
		cmd.Flags().IntVarP(&conditions.Size, "size", "n", 0, "`number` of nodes, fewer than asked for")
		cmd.Flags().StringVar(&lease, "lease", "", "shorter `time` than asked for, such as 8h or 7d")
	}
	return c.asks(cmd, func(ctx context.Context, cl *client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		if d, err := parseLease(lease); err != nil {
			return err
		} else if d != nil {
			conditions.Lease = *d
		}
		if hash, err = planShown(ctx, c, cl, id, hash, false); err != nil {
			return err
		}
		r, err := cl.Review(ctx, id, app.ReviewRequest{Verdict: verdict, Reason: reason, PlanHash: hash, Conditions: conditions})
		if err != nil {
			return err
		}
		return c.say(r, "Request %d: %s%s", r.ID, requestState(r), toCluster(r))
	})
}

// planShown shows a request on stderr, and gives the hash of the plan that it is about: what is said is about what was shown.
func planShown(ctx context.Context, c *cli, cl *client, id int64, hash string, offer bool) (string, error) {
	if hash != "" {
		return hash, nil
	}
	r, err := cl.Request(ctx, id)
	if err != nil {
		return "", err
	}
	t := r.Terms
	if offer && r.Offer != nil {
		t = r.Offer.Terms
	}
	fmt.Fprintf(c.stderr, "%s, by %s: %s, lease %s, %s an hour, plan %.10s\n", r.Title(), r.Requester, plural(t.Layout.Size(), "node"), leaseText(t.Lease),
		priceOf(t.Layout), t.PlanHash)
	return t.PlanHash, nil
}

func toCluster(r app.Request) string {
	if r.Cluster == "" {
		return ""
	}
	return "\nFollow it:  muster cluster logs " + r.Cluster + " -f"
}

func requestConfirmCommand(c *cli) *cobra.Command {
	var hash string
	cmd := &cobra.Command{Use: "confirm NUMBER", Short: "Take what was offered to you", Args: exactly("NUMBER")}
	cmd.Flags().StringVar(&hash, "plan", "", "`hash` of the plan that you have seen (default: the one that is offered now)")
	return c.asks(cmd, func(ctx context.Context, cl *client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		if hash, err = planShown(ctx, c, cl, id, hash, true); err != nil {
			return err
		}
		r, err := cl.RequestAct(ctx, id, "confirm", map[string]string{"plan_hash": hash})
		if err != nil {
			return err
		}
		return c.say(r, "Request %d: %s%s", r.ID, requestState(r), toCluster(r))
	})
}

func requestWithdrawCommand(c *cli) *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: "withdraw NUMBER", Short: "Withdraw a request, or turn an offer down", Args: exactly("NUMBER")}
	cmd.Flags().StringVarP(&reason, "reason", "r", "", "`why`")
	return c.asks(cmd, func(ctx context.Context, cl *client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		r, err := cl.RequestAct(ctx, id, "withdraw", map[string]string{"reason": reason})
		if err != nil {
			return err
		}
		return c.say(r, "Request %d: %s", r.ID, requestState(r))
	})
}

func requestBreakCommand(c *cli) *cobra.Command {
	var reason, hash string
	cmd := &cobra.Command{Use: "break-glass NUMBER --reason TEXT", Short: "Let a request run at once, without approvals; this raises an alarm",
		Long: "Let a request run at once, without approvals. Everybody concerned is told your name and reason.\n" +
			"It takes a fresh proof that it is you, which tokens cannot give: do it in the portal.", Args: exactly("NUMBER")}
	cmd.Flags().StringVarP(&reason, "reason", "r", "", "what the `emergency` is; at least 10 letters")
	cmd.Flags().StringVar(&hash, "plan", "", "`hash` of the plan that you have seen (default: the one that is shown now)")
	return c.asks(cmd, func(ctx context.Context, cl *client, args []string) error {
		id, err := requestNumber(args[0])
		if err != nil {
			return err
		}
		if hash, err = planShown(ctx, c, cl, id, hash, false); err != nil {
			return err
		}
		r, err := cl.RequestAct(ctx, id, "break-glass", map[string]string{"plan_hash": hash, "reason": reason})
		if err != nil {
			return err
		}
		return c.say(r, "Request %d: %s%s", r.ID, requestState(r), toCluster(r))
	})
}
