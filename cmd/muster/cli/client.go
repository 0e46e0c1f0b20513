package cli

import (
	"context"
	"fmt"
	"runtime"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	rest "muster/portal/client"
)

// Client is a REST API client for one user of this host.
type Client struct {
	*rest.Client
	Home string // the client's own directory; "": the user's
}

// Connect returns a client for the server that flags, environment or data directory name. It doesn't connect yet.
func (c *Context) Connect() (*Client, error) {
	s, err := c.settings()
	if err != nil {
		return nil, err
	}
	cl, err := NewClient(s)
	if err != nil {
		return nil, err
	}
	cl.Reload, cl.ActIn = c.settings, c.tenant
	return &Client{Client: cl}, nil
}

// NewClient returns a client with a user agent.
func NewClient(s rest.Settings) (*rest.Client, error) {
	cl, err := rest.New(s)
	if err == nil {
		cl.Agent = fmt.Sprintf("muster %s on %s", Version, runtime.GOOS)
	}
	return cl, err
}

// Create requests a cluster. If approval is required, it returns EConflict and the request stays waiting.
func (c *Client) Create(ctx context.Context, r cluster.CreateRequest) (cluster.View, error) {
	answer, err := c.Clusters.Create(ctx, r)
	switch {
	case err != nil:
		return cluster.View{}, err
	case answer.Cluster == nil:
		return cluster.View{}, waitsError(answer.Request)
	}
	return *answer.Cluster, nil
}

func waitsError(r cluster.Request) error {
	return &app.Error{Code: app.EConflict, Reason: "waiting", Message: fmt.Sprintf("request %d is waiting for %s", r.ID, RequestNeeds(r)),
		Hint: fmt.Sprintf("The cluster is created once the request is approved. Check its status: muster request show %d", r.ID)}
}

func RequestNeeds(r cluster.Request) string {
	var all []string
	for _, n := range r.Approvals {
		if !n.Met() {
			words := n.Text()
			if len(n.Approved) > 0 {
				words += fmt.Sprintf(" (%d so far)", len(n.Approved))
			}
			all = append(all, words)
		}
	}
	return humanize.And(all)
}
