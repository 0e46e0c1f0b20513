package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
)

// askEvery is how often to poll a request while waiting for its decision.
const askEvery = 2 * time.Second

// decided returns the requested cluster. If approval is required, it waits for that with --wait, and otherwise says so and returns
// nil.
func decided(ctx context.Context, c *cli.Context, cl *cli.Client, answer cluster.Answer, w waitFlags) (*cluster.View, error) {
	r := answer.Request
	switch {
	case answer.Cluster != nil:
		if !c.JSON() {
			for _, ch := range answer.Cluster.Changes {
				fmt.Fprintln(c.Stdout, ch.Sentence())
			}
		}
		return answer.Cluster, nil
	case w.wait:
		return awaitDecision(ctx, c, cl, r, w.timeout)
	case c.JSON():
		return nil, c.PrintJSON(r)
	}
	if r.Status == cluster.RequestScheduled {
		fmt.Fprintf(c.Stdout, "Request %d waits for the maintenance window: %s.\n", r.ID, r.Window.Text())
		fmt.Fprintf(c.Stdout, "Nothing changes until then. Withdraw it:  muster request withdraw %d\n", r.ID)
		return nil, nil
	}
	fmt.Fprintf(c.Stdout, "Request %d is waiting for %s.\n", r.ID, cli.RequestNeeds(r))
	for _, ch := range r.Decision.Changes {
		fmt.Fprintln(c.Stdout, ch.Sentence())
	}
	fmt.Fprintf(c.Stdout, "Nothing changes until it's approved. Check its status:  muster request show %d\n", r.ID)
	return nil, nil
}

// asking returns a function that polls a server and survives its restarts. Outages are reported on stderr.
func asking(c *cli.Context, cl *cli.Client, every time.Duration) (*cli.Retrier, time.Duration) {
	if c.NoPause {
		every = time.Millisecond
	}
	return &cli.Retrier{Client: cl, Limit: c.RetryTime, Note: func(text string) { fmt.Fprintln(c.Stderr, text) }}, every
}

// awaitDecision waits until a request is decided, and returns its cluster if there is one.
func awaitDecision(ctx context.Context, c *cli.Context, cl *cli.Client, r cluster.Request, timeout time.Duration) (*cluster.View, error) {
	whole := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	p, pause := asking(c, cl, askEvery)
	said := ""
	for {
		now := fmt.Sprintf("request %d is waiting for %s", r.ID, cli.RequestNeeds(r))
		if r.Status == cluster.RequestScheduled {
			now = fmt.Sprintf("request %d waits for the maintenance window: %s", r.ID, r.Window.Text())
		}
		if r.Status == cluster.RequestOffered {
			now = fmt.Sprintf("request %d: %s offers %s, lease %s instead; accept with `muster request confirm %d`", r.ID, r.Offer.By,
				humanize.Count(r.Offer.Layout.Size(), "node"), LeaseText(r.Offer.Lease), r.ID)
		}
		if r.Status.Open() && now != said {
			said = now
			p.Note(now)
		}
		switch {
		case r.Status == cluster.RequestAccepted:
			p.Note(fmt.Sprintf("request %d is accepted", r.ID))
			v, err := cl.Clusters.Get(whole, r.Cluster)
			return &v, err
		case !r.Status.Open():
			return nil, &app.Error{Code: app.EForbidden, Reason: "request_" + string(r.Status), Message: fmt.Sprintf("request %d is %s: %s", r.ID, r.Status, r.Message)}
		}
		err := ctx.Err()
		if err == nil {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(pause):
				err = p.Try(ctx, func(ctx context.Context) error {
					now, err := cl.Requests.Get(ctx, r.ID)
					if err == nil { // a failed response has no number
						r = now
					}
					return err
				})
			}
		}
		hint := fmt.Sprintf("Check its status: muster request show %d", r.ID)
		switch {
		case err == nil:
		case errors.Is(err, context.DeadlineExceeded):
			return nil, &app.Error{Code: app.ETimeout, Message: fmt.Sprintf("request %d is still undecided after %s; it stays waiting", r.ID, humanize.Exact(timeout)), Hint: hint}
		case errors.Is(err, context.Canceled):
			return nil, &app.Error{Code: app.ECancelled, Message: fmt.Sprintf("stopped watching; request %d stays waiting", r.ID), Hint: hint}
		default:
			return nil, err
		}
	}
}

func LeaseText(d time.Duration) string {
	if d == 0 {
		return "no expiry"
	}
	return humanize.Duration(d)
}
