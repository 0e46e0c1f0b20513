package client

import (
	"context"
	"net/url"
	"strconv"

	"muster/app/node"
)

// Nodes are the nodes of all clusters.
type Nodes part

// List lists nodes, in several calls if needed; f.Limit 0 is the server's page size.
func (c *Nodes) List(ctx context.Context, f node.Filter) (all []node.Listed, err error) {
	q := url.Values{}
	for name, value := range map[string]string{"q": f.Text, "state": f.State, "cluster": f.Cluster, "owner": f.Owner, "template": f.Template,
		"provider": f.Provider, "hardware": f.Hardware, "image": f.Image, "zone": f.Zone, "service": f.Service, "after": f.After} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for {
		if f.Limit > 0 {
			q.Set("limit", strconv.Itoa(min(f.Limit-len(all), node.MaxLimit)))
		}
		var out node.Page
		if err := c.client.CallInto(ctx, "/nodes", q, &out); err != nil {
			return nil, err
		}
		if all = append(all, out.Nodes...); out.Next == "" || len(all) >= f.Limit {
			return all, nil
		}
		q.Set("after", out.Next)
	}
}
